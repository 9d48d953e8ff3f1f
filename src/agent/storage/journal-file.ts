import path from 'node:path';
import { keepDamagedCopy } from './damaged-copy.ts';
import { JournalError } from './errors.ts';
import type { JournalFile, JournalFiles } from './files.ts';
import { encodeFrame } from './frames.ts';
import { FORMAT, fingerprintOf, type Loaded } from './load.ts';
import type { DirectoryLock } from './lock.ts';

export interface DurableFileOptions {
  file: string;
  files: JournalFiles;
  /** Held since before the file was read; undefined where nothing could be written then. */
  lock: DirectoryLock | undefined;
  /** For when there is none yet. */
  acquire: () => Promise<DirectoryLock>;
  loaded: Loaded;
  /** Records to start a new file with. */
  snapshot: () => readonly unknown[];
}

/** The file under the journal. One call at a time. */
export interface DurableFile {
  /** Makes what is there writable; also what `append` does first. */
  repair(): Promise<void>;
  /** Resolves once the frame is on the disk. */
  append(frame: Buffer): Promise<void>;
  /** Puts a new file with the snapshot in the place of this one. When it fails, nothing that was durable is lost. */
  rewrite(): Promise<void>;
  readonly length: number;
  /** What the last rewrite left; 0 before the first one. */
  readonly rewrittenLength: number;
  /** Where the damaged file is kept. */
  readonly damagedCopy: string | undefined;
  close(): Promise<void>;
}

const ignoreFailure = (): undefined => undefined;

export const createDurableFile = (options: DurableFileOptions): DurableFile => {
  const { file, files, acquire, loaded, snapshot } = options;
  const dir = path.dirname(file);
  let { lock } = options;
  let current: JournalFile | undefined;
  // Untrusted: what is on the disk is in doubt, as after a failed fsync, when the kernel may take pages for clean that
  // never got there. Only a new file, written from memory, is trusted again.
  let trusted = loaded.exists && loaded.damaged === undefined;
  let length = loaded.length;
  let rewrittenLength = 0;
  let damaged = loaded.damaged;
  let aside: string | undefined;

  const own = async (): Promise<void> => {
    if (!lock) {
      const taken = await acquire();
      if (fingerprintOf(await files.read(file)) !== loaded.fingerprint) {
        await taken.release();
        throw new JournalError(
          'Locked',
          `another agent has written ${file} since this one has read it: restart this one`,
        );
      }
      lock = taken;
    }
    if (!(await lock.held()))
      throw new JournalError('Locked', `another agent has taken ${dir}: stop one of the two, and restart the other`);
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
      // A record in the new file is not durable before the new file's name is.
      await files.syncDirectory(dir);
    } catch (error) {
      await fresh.close().catch(ignoreFailure);
      // On a full disk a half written file would keep the space that the records need.
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
   * What an earlier process left, and even the file's name, may be in the kernel's memory only. It may also have died
   * before it knew that its fsync had failed: the next one would succeed without the last frame, so that is written anew.
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
    await own();
    if (trusted && !current) await adopt();
    if (!trusted && damaged) {
      aside = await keepDamagedCopy(files, file, damaged);
      damaged = undefined;
    }
    if (!trusted) await rewrite();
    if (!current) throw new JournalError('Closed', `${file} is closed: the agent stops; try again once it runs`);
    return current;
  };

  return {
    repair: async () => void (await usable()),
    async append(frame) {
      const target = await usable();
      try {
        await target.write(frame, length);
      } catch (error) {
        // Part of the frame may be there. If it cannot be cut off it must not be built upon.
        await target.truncate(length).catch(() => {
          trusted = false;
        });
        throw error;
      }
      try {
        await target.sync();
      } catch (error) {
        trusted = false;
        // Makes it certain, where the disk still allows it, that a refused record does not appear after a restart.
        await rewrite().catch(ignoreFailure);
        throw error;
      }
      length += frame.length;
    },
    async rewrite() {
      await own();
      await rewrite();
    },
    get length() {
      return length;
    },
    get rewrittenLength() {
      return rewrittenLength;
    },
    get damagedCopy() {
      return aside;
    },
    async close() {
      await current?.close().catch(ignoreFailure);
      current = undefined;
      await lock?.release();
      lock = undefined;
    },
  };
};
