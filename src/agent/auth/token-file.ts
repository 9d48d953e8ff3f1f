import { createHash, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { type Logger, OptionError } from '../../runtime/index.ts';

export interface TokenFile {
  /** The name of the token's line; undefined when it is in none. */
  nameOf(token: string): string | undefined;
}

interface Entry {
  name: string;
  digest: Buffer;
}

const FLAG = '--token-file';
const SHORTEST = 16;
const LONGEST_BYTES = 1024 * 1024;
/** Not even group members may write; others may not even read. */
const TOO_OPEN = 0o027;

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

const isName = (text: string): boolean => /^[A-Za-z0-9][-._A-Za-z0-9]{0,62}$/.test(text);

const readEntries = (text: string): Entry[] => {
  const entries: Entry[] = [];
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const colon = line.indexOf(':');
    const name = colon < 0 ? `line-${at + 1}` : line.slice(0, colon);
    const token = line.slice(colon + 1);
    // The text of the line is a secret, also when it is a bad one.
    if (!isName(name))
      throw new OptionError(FLAG, `line ${at + 1} has a bad name: give NAME:TOKEN with letters, digits and dashes`);
    if (!/^[\x21-\x7e]+$/.test(token) || token.length < SHORTEST)
      throw new OptionError(FLAG, `line ${at + 1} is no token: give at least ${SHORTEST} characters without spaces`);
    entries.push({ name, digest: digestOf(token) });
  }
  if (entries.length === 0) throw new OptionError(FLAG, 'the file holds no token: give one a line, NAME:TOKEN');
  return entries;
};

/**
 * Tokens of a file, one a line, `NAME:TOKEN` or the token alone. Read again when the file has changed: a token that was
 * taken out is refused from the next request on. A file that has become unreadable, too open or wrong refuses everybody
 * until it is well again.
 */
export const openTokenFile = (path: string, log: Logger): TokenFile => {
  let version = '';
  let entries: Entry[] = [];

  const loadFrom = (fd: number): void => {
    const stats = fstatSync(fd);
    const { mode, mtimeMs, ctimeMs, size, ino, uid } = stats;
    const found = `${mode} ${mtimeMs} ${ctimeMs} ${size} ${ino}`;
    if (found === version) return;
    entries = [];
    if ((mode & TOO_OPEN) !== 0)
      throw new OptionError(FLAG, `${path} is open to others (mode ${(mode & 0o777).toString(8)}): chmod 600 ${path}`);
    // Whoever owns it can write what it lets in.
    if (uid !== 0 && uid !== process.geteuid?.())
      throw new OptionError(FLAG, `${path} belongs to user ${uid}: chown it to root or to the agent's user`);
    if (!stats.isFile() || size > LONGEST_BYTES)
      throw new OptionError(FLAG, `${path} is not a file of at most 1 MiB: name the file of tokens itself`);
    entries = readEntries(readFileSync(fd, 'utf8'));
    version = found;
  };

  const load = (): void => {
    // What was looked at is what is read; a pipe is not waited for.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      loadFrom(fd);
    } finally {
      closeSync(fd);
    }
  };

  const loadOrSay = (): void => {
    try {
      load();
    } catch (error) {
      if (version !== 'bad') log.error('no token is accepted: the token file cannot be used', { file: path, error });
      version = 'bad';
      entries = [];
    }
  };

  try {
    load();
  } catch (error) {
    if (error instanceof OptionError) throw error;
    throw new OptionError(FLAG, `${path} cannot be read: correct its path or its permissions`);
  }
  return {
    nameOf(token) {
      loadOrSay();
      const digest = digestOf(token);
      let name: string | undefined;
      // All are compared, so that the time taken does not tell which one was nearly right.
      for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) name = entry.name;
      return name;
    },
  };
};
