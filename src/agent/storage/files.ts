import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../errno.ts';
import { StorageError } from './errors.ts';

/** A new file. What is written is durable only once `sync` resolves. */
export interface DurableFile {
  /** Writes all of `text`. May have written a part of it when it rejects. */
  write(text: string): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The file system calls of a durable state. Tests replace them to simulate power cuts. */
export interface DurableFiles {
  /** Creates `dir` durably if needed, and makes it private. */
  prepare(dir: string): Promise<void>;
  read(file: string): Promise<Buffer | undefined>;
  /** Creates an empty file; removes an existing one with that name. */
  create(file: string): Promise<DurableFile>;
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
    throw new StorageError(
      'Unsafe',
      `any user can replace ${dir}: remove write permission for others from its parent directory`,
    );
  const own = await fs.lstat(dir);
  if (!own.isDirectory() || own.uid !== process.geteuid?.())
    throw new StorageError('Unsafe', `${dir} is not a directory owned by the user of this process: remove or chown it`);
  if ((own.mode & 0o077) !== 0) await fs.chmod(dir, PRIVATE_DIRECTORY);
};

/** The machine's file system. */
export const systemFiles: DurableFiles = {
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
  async create(file) {
    // A leftover file may have another mode, and a symlink from another user may point anywhere.
    await fs.rm(file, { force: true });
    const handle = await fs.open(file, 'wx', PRIVATE_FILE);
    return {
      write: (text) => handle.writeFile(text),
      sync: () => handle.sync(),
      close: () => handle.close(),
    };
  },
  rename: (from, to) => fs.rename(from, to),
  remove: (file) => fs.rm(file, { force: true }),
};

/**
 * Writes a new file durably; it has its name for certain only after a sync of the directory. Always a new one: after a failed
 * sync, the kernel may mark pages of a file as clean that were never written.
 */
export const writeNew = async (
  files: Pick<DurableFiles, 'create' | 'remove'>,
  file: string,
  text: string,
): Promise<void> => {
  try {
    const written = await files.create(file);
    try {
      await written.write(text);
      await written.sync();
    } finally {
      await written.close();
    }
  } catch (error) {
    // On a full disk, a partial file would take up the space that the next one needs.
    await files.remove(file).catch(() => undefined);
    throw error;
  }
};

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex');

/** A text of JSON as it is on disk: its digest, a newline, the text, a newline. */
export const seal = (body: string): string => `${digestOf(body)}\n${body}\n`;

/** The value of a sealed text; throws if any byte of it has changed. */
export const unseal = (text: string): unknown => {
  const [digest = '', body = '', ...rest] = text.split('\n');
  if (digest !== digestOf(body) || rest.length !== 1 || rest[0] !== '') throw new Error('its digest is wrong');
  return JSON.parse(body);
};
