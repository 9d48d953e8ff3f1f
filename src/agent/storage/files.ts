import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import path from 'node:path';
import { errnoOf, JournalError } from './errors.ts';

/** An open file. Nothing written to it is on the disk before `sync` resolves. */
export interface JournalFile {
  /** Writes all of `bytes`, or rejects after any part of them. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Data and length. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What the journal asks of a file system; the tests cut its power. */
export interface JournalFiles {
  /** Makes `dir` exist, durably, and be ours alone. */
  prepare(dir: string): Promise<void>;
  read(file: string): Promise<Buffer | undefined>;
  list(dir: string): Promise<string[]>;
  /** A new, empty file; the name is taken from the one that had it. */
  create(file: string): Promise<JournalFile>;
  open(file: string): Promise<JournalFile>;
  rename(from: string, to: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Makes names durable: of files created, renamed or removed in `dir`. */
  syncDirectory(dir: string): Promise<void>;
}

const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

const syncDirectory = async (dir: string): Promise<void> => {
  const handle = await fs.open(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const openFile = async (file: string, flags: number): Promise<JournalFile> => {
  const handle = await fs.open(file, flags | constants.O_NOFOLLOW, PRIVATE_FILE);
  return {
    async write(bytes, position) {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
    },
    truncate: (length) => handle.truncate(length),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
};

const prepare = async (dir: string): Promise<void> => {
  const first = await fs.mkdir(dir, { recursive: true, mode: PRIVATE_DIRECTORY });
  if (first !== undefined) {
    const above = path.dirname(path.resolve(first));
    for (let made = path.resolve(dir); made !== above; made = path.dirname(made)) {
      await syncDirectory(path.dirname(made));
    }
  }
  const parent = await fs.stat(path.dirname(path.resolve(dir)));
  const othersMayRename = (parent.mode & constants.S_IWOTH) !== 0 && (parent.mode & 0o1000) === 0;
  if (othersMayRename)
    throw new JournalError(
      'Unsafe',
      `every user may replace ${dir}: take the right to write in its parent from others`,
    );
  const own = await fs.lstat(dir);
  if (!own.isDirectory() || own.uid !== process.geteuid?.())
    throw new JournalError(
      'Unsafe',
      `${dir} is not a directory of the user that runs this process: remove or chown it`,
    );
  if ((own.mode & 0o077) !== 0) await fs.chmod(dir, PRIVATE_DIRECTORY);
};

/** The machine's own file system. */
export const systemFiles: JournalFiles = {
  prepare,
  syncDirectory,
  async read(file) {
    try {
      return await fs.readFile(file);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  },
  list: (dir) => fs.readdir(dir),
  async create(file) {
    // Never truncates: after a crash in a rename, an old file system may have left both names for one file.
    await fs.rm(file, { force: true });
    return openFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  },
  open: (file) => openFile(file, constants.O_WRONLY),
  rename: (from, to) => fs.rename(from, to),
  remove: (file) => fs.rm(file, { force: true }),
};
