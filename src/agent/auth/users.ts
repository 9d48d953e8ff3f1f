import { readFileSync } from 'node:fs';
import { OptionError } from '../../runtime/index.ts';

/** The kernel shows this uid for every user that it can't map into this namespace. */
const OVERFLOW_UID = 65_534;
const LARGEST_UID = 0xff_ff_ff_fe;

const lookUp = (name: string, passwd: string): number | undefined => {
  for (const line of passwd.split('\n')) {
    const [user, , uid = ''] = line.split(':');
    if (user === name && /^\d+$/.test(uid)) return Number(uid);
  }
  return undefined;
};

const readPasswd = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Resolves user names and uids. Throws an `OptionError` for an unknown user, or one that can't be told apart from others. */
export const resolveUsers = (
  flag: string,
  users: readonly string[],
  passwdFile = '/etc/passwd',
): ReadonlySet<number> => {
  const uids = users.map((user) => {
    // root is 0 even in images without /etc/passwd.
    const known = user === 'root' ? 0 : undefined;
    const uid = /^\d+$/.test(user) ? Number(user) : (known ?? lookUp(user, readPasswd(passwdFile)));
    if (uid === undefined)
      throw new OptionError(flag, `there is no user "${user}" in ${passwdFile}: correct the name, or give a uid`);
    if (uid > LARGEST_UID) throw new OptionError(flag, `"${user}" is not a uid`);
    if (uid === OVERFLOW_UID)
      throw new OptionError(
        flag,
        `"${user}" is the uid that the kernel shows for every unmapped user: give the caller its own uid`,
      );
    return uid;
  });
  return new Set(uids);
};
