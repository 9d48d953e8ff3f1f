import { createHash, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { type Logger, OptionError } from '../../runtime/index.ts';

export interface TokenFile {
  /** The name of the token; undefined if the file doesn't contain it. */
  nameOf(token: string): string | undefined;
}

interface Entry {
  name: string;
  digest: Buffer;
}

const FLAG = '--token-file';
const SHORTEST = 16;
const LONGEST_BYTES = 1024 * 1024;
/** Group members must not have write permission; other users must not have any. */
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
    // Don't include the line in the error: even an invalid one may be a secret.
    if (!isName(name))
      throw new OptionError(
        FLAG,
        `line ${at + 1} has an invalid name: use NAME:TOKEN with letters, digits and dashes in NAME`,
      );
    if (!/^[\x21-\x7e]+$/.test(token) || token.length < SHORTEST)
      throw new OptionError(
        FLAG,
        `line ${at + 1} has an invalid token: use at least ${SHORTEST} characters without spaces`,
      );
    entries.push({ name, digest: digestOf(token) });
  }
  if (entries.length === 0)
    throw new OptionError(FLAG, 'the file contains no tokens: add lines of the form NAME:TOKEN');
  return entries;
};

/**
 * Opens a file with one token per line, `NAME:TOKEN` or the token alone. The file is read again when it changes: a removed
 * token is refused from the next request on. While the file is unreadable, invalid, or its permissions are too open, all
 * tokens are refused.
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
      throw new OptionError(
        FLAG,
        `${path} is accessible to other users (mode ${(mode & 0o777).toString(8)}): run chmod 600 ${path}`,
      );
    // The owner of the file decides which tokens it contains.
    if (uid !== 0 && uid !== process.geteuid?.())
      throw new OptionError(FLAG, `${path} belongs to user ${uid}: chown it to root or to the agent's user`);
    if (!stats.isFile() || size > LONGEST_BYTES)
      throw new OptionError(
        FLAG,
        `${path} is not a regular file of at most 1 MiB: give the path of the token file itself`,
      );
    entries = readEntries(readFileSync(fd, 'utf8'));
    version = found;
  };

  const load = (): void => {
    // The same descriptor is checked and read. O_NONBLOCK: opening a FIFO must not block.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      loadFrom(fd);
    } finally {
      closeSync(fd);
    }
  };

  const reload = (): void => {
    try {
      load();
    } catch (error) {
      if (version !== 'bad') log.error('refusing all tokens: cannot use the token file', { file: path, error });
      version = 'bad';
      entries = [];
    }
  };

  try {
    load();
  } catch (error) {
    if (error instanceof OptionError) throw error;
    throw new OptionError(FLAG, `cannot read ${path}: check its path and permissions`);
  }
  return {
    nameOf(token) {
      reload();
      const digest = digestOf(token);
      let name: string | undefined;
      // Compare all entries, so that the time doesn't reveal which one was close.
      for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) name = entry.name;
      return name;
    },
  };
};
