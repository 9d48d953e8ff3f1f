import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../errno.ts';
import { JournalError } from './errors.ts';

/** An open file. Writes are durable only once `sync` resolves. */
export interface JournalFile {
  /** Writes all of `bytes`. May have written a part of them when it rejects. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Makes data and length durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The file system calls of the journal. Tests replace them to simulate power cuts. */
export interface JournalFiles {
  /** Creates `dir` durably if needed, and makes it private. */
  prepare(dir: string): Promise<void>;
  read(file: string): Promise<Buffer | undefined>;
  list(dir: string): Promise<string[]>;
  /** Creates an empty file; removes an existing one with that name. */
  create(file: string): Promise<JournalFile>;
  open(file: string): Promise<JournalFile>;
  rename(from: string, to: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Makes created, renamed and removed names in `dir` durable. */
  syncDirectory(dir: string): Promise<void>;
}

const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

export const syncDirectory = async (dir: string): Promise<void> => {
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
  const topmost = await fs.mkdir(dir, { recursive: true, mode: PRIVATE_DIRECTORY });
  if (topmost !== undefined) {
    const above = path.dirname(path.resolve(topmost));
    for (let made = path.resolve(dir); made !== above; made = path.dirname(made)) {
      await syncDirectory(path.dirname(made));
    }
  }
  const parent = await fs.stat(path.dirname(path.resolve(dir)));
  const isReplaceable = (parent.mode & constants.S_IWOTH) !== 0 && (parent.mode & 0o1000) === 0;
  if (isReplaceable)
    throw new JournalError(
      'Unsafe',
      `any user can replace ${dir}: remove write permission for others from its parent directory`,
    );
  const own = await fs.lstat(dir);
  if (!own.isDirectory() || own.uid !== process.geteuid?.())
    throw new JournalError('Unsafe', `${dir} is not a directory owned by the user of this process: remove or chown it`);
  if ((own.mode & 0o077) !== 0) await fs.chmod(dir, PRIVATE_DIRECTORY);
};

/** The machine's file system. */
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
    // Don't truncate: after a crash during a rename, both names may refer to the same file.
    await fs.rm(file, { force: true });
    return openFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  },
  open: (file) => openFile(file, constants.O_WRONLY),
  rename: (from, to) => fs.rename(from, to),
  remove: (file) => fs.rm(file, { force: true }),
};
