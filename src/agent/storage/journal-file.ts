import path from 'node:path';
import { JournalError } from './errors.ts';
import type { JournalFile, JournalFiles } from './files.ts';
import { encodeFrame } from './frames.ts';
import { FORMAT, fingerprintOf, type Loaded } from './load.ts';
import type { DirectoryLock } from './lock.ts';

// A disk that fails repeatedly must not fill up with copies.
const MAX_COPIES = 5;

/** Writes `bytes` durably to a file with an unused name, and returns the name. */
const keepDamagedCopy = async (files: JournalFiles, file: string, bytes: Buffer): Promise<string> => {
  const dir = path.dirname(file);
  const prefix = `${path.basename(file)}.damaged-`;
  const numbers = (await files.list(dir))
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => Number(entry.slice(prefix.length)))
    .filter((number) => Number.isSafeInteger(number))
    .toSorted((a, b) => a - b);
  const copyName = `${file}.damaged-${(numbers.at(-1) ?? 0) + 1}`;
  const copy = await files.create(copyName);
  try {
    await copy.write(bytes, 0);
    await copy.sync();
  } finally {
    await copy.close();
  }
  await files.syncDirectory(dir);
  for (const number of numbers.slice(0, Math.max(0, numbers.length + 1 - MAX_COPIES)))
    await files.remove(`${file}.damaged-${number}`);
  return copyName;
};

export interface DurableFileOptions {
  file: string;
  files: JournalFiles;
  /** Held since before the file was read; undefined if the disk was not writable then. */
  lock: DirectoryLock | undefined;
  /** Takes the lock when `lock` is undefined. */
  acquire: () => Promise<DirectoryLock>;
  loaded: Loaded;
  /** The records of a new file. */
  snapshot: () => readonly unknown[];
}

/** The journal's file. Call it from one place at a time. */
export interface DurableFile {
  /** Prepares the existing file for writing. `append` does this first, too. */
  repair(): Promise<void>;
  /** Resolves once the frame is on disk. */
  append(frame: Buffer): Promise<void>;
  /** Replaces the file by a new one with the snapshot. If that fails, everything that was durable still is. */
  rewrite(): Promise<void>;
  readonly length: number;
  /** Length after the last rewrite; 0 before the first one. */
  readonly rewrittenLength: number;
  /** Name of the copy of a damaged file. */
  readonly damagedCopy: string | undefined;
  close(): Promise<void>;
}

const ignoreFailure = (): undefined => undefined;

export const createDurableFile = (options: DurableFileOptions): DurableFile => {
  const { file, files, acquire, loaded, snapshot } = options;
  const dir = path.dirname(file);
  let { lock } = options;
  let current: JournalFile | undefined;
  // Untrusted: the content on disk is in doubt. After a failed fsync, for example, the kernel may mark pages as clean that
  // were never written. Only a new file, written from memory, is trusted again.
  let trusted = loaded.exists && loaded.damaged === undefined;
  let length = loaded.length;
  let rewrittenLength = 0;
  let damaged = loaded.damaged;
  let damagedCopy: string | undefined;

  const ensureLock = async (): Promise<void> => {
    if (!lock) {
      const taken = await acquire();
      if (fingerprintOf(await files.read(file)) !== loaded.fingerprint) {
        await taken.release();
        throw new JournalError(
          'Locked',
          `another agent has written ${file} since this one read it: restart this agent`,
        );
      }
      lock = taken;
    }
    if (!(await lock.held()))
      throw new JournalError(
        'Locked',
        `another agent has taken over ${dir}: stop one of the two, and restart the other`,
      );
  };

  const rewrite = async (): Promise<void> => {
    const records = [FORMAT, ...snapshot()];
    const bytes = Buffer.concat(records.map((record) => encodeFrame([JSON.stringify(record)])));
    const fresh = await files.create(`${file}.new`);
    try {
      await fresh.write(bytes, 0);
      await fresh.sync();
      trusted = false;
      await files.rename(`${file}.new`, file);
      // A record in the new file is durable only once the file's name is.
      await files.syncDirectory(dir);
    } catch (error) {
      await fresh.close().catch(ignoreFailure);
      // On a full disk, a partial file would take up the space that the records need.
      await files.remove(`${file}.new`).catch(ignoreFailure);
      throw error;
    }
    await current?.close().catch(ignoreFailure);
    current = fresh;
    length = bytes.length;
    rewrittenLength = length;
    trusted = true;
  };

  /**
   * What an earlier process wrote, even the file's name, may only be in the page cache. The process may also have died
   * before it noticed that its fsync failed; the next fsync would succeed without the last frame, so that is written again.
   */
  const adopt = async (): Promise<void> => {
    const found = await files.open(file);
    try {
      if (loaded.torn) await found.truncate(length);
      await found.write(loaded.last.bytes, loaded.last.position);
      await found.sync();
      await files.syncDirectory(dir);
    } catch (error) {
      trusted = false;
      await found.close().catch(ignoreFailure);
      throw error;
    }
    current = found;
  };

  const usable = async (): Promise<JournalFile> => {
    await ensureLock();
    if (trusted && !current) await adopt();
    if (!trusted && damaged) {
      damagedCopy = await keepDamagedCopy(files, file, damaged);
      damaged = undefined;
    }
    if (!trusted) await rewrite();
    if (!current) throw new JournalError('Closed', `${file} is closed: the agent is stopping; try again once it runs`);
    return current;
  };

  return {
    repair: async () => void (await usable()),
    async append(frame) {
      const target = await usable();
      try {
        await target.write(frame, length);
      } catch (error) {
        // Part of the frame may be in the file. If it can't be truncated, don't append after it.
        await target.truncate(length).catch(() => {
          trusted = false;
        });
        throw error;
      }
      try {
        await target.sync();
      } catch (error) {
        trusted = false;
        // Ensures, if the disk still allows it, that a rejected record doesn't reappear after a restart.
        await rewrite().catch(ignoreFailure);
        throw error;
      }
      length += frame.length;
    },
    async rewrite() {
      await ensureLock();
      await rewrite();
    },
    get length() {
      return length;
    },
    get rewrittenLength() {
      return rewrittenLength;
    },
    get damagedCopy() {
      return damagedCopy;
    },
    async close() {
      await current?.close().catch(ignoreFailure);
      current = undefined;
      await lock?.release();
      lock = undefined;
    },
  };
};
