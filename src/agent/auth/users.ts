import { readFileSync } from 'node:fs';
import { OptionError } from '../../runtime/index.ts';

/** What the kernel prints for a user that it has no number for here: anybody may be behind it. */
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

/** The uids of names and numbers. Throws an `OptionError` for a user that is not known, or that cannot be told apart. */
export const resolveUsers = (
  flag: string,
  users: readonly string[],
  passwdFile = '/etc/passwd',
): ReadonlySet<number> => {
  const uids = users.map((user) => {
    // 0 is root on every machine: images without /etc/passwd know it, too.
    const known = user === 'root' ? 0 : undefined;
    const uid = /^\d+$/.test(user) ? Number(user) : (known ?? lookUp(user, readPasswd(passwdFile)));
    if (uid === undefined)
      throw new OptionError(flag, `there is no user "${user}" in ${passwdFile}: correct the name, or give the uid`);
    if (uid > LARGEST_UID) throw new OptionError(flag, `"${user}" is not a uid`);
    if (uid === OVERFLOW_UID)
      throw new OptionError(
        flag,
        `"${user}" is the uid that the kernel shows for every user it cannot name: give the caller a uid of its own`,
      );
    return uid;
  });
  return new Set(uids);
};
