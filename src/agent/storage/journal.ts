import path from 'node:path';
import type { Env } from '../../runtime/index.ts';
import { asJournalError, JournalError } from './errors.ts';
import { type JournalFiles, systemFiles } from './files.ts';
import { encodeFrame } from './frames.ts';
import { createDurableFile, type DurableFile } from './journal-file.ts';
import { type Loaded, loadJournal } from './load.ts';
import { type DirectoryLock, takeLock } from './lock.ts';
import type { Journal, JournalState } from './types.ts';

export interface JournalOptions {
  /** Used by this journal alone; made when it is missing. */
  dir: string;
  /** Name of the file in it. */
  name: string;
  env: Env;
  state: JournalState;
  /** From this size on the file is compacted whenever it has doubled. Default 512 KiB. */
  compactAtBytes?: number;
  /** Default: the machine's own. */
  files?: JournalFiles;
  lock?: (dir: string) => Promise<DirectoryLock>;
}

interface Pending {
  record: unknown;
  text: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const DEFAULT_COMPACT_AT = 512 * 1024;
const LARGEST_RECORD = 64 * 1024;
const LARGEST_BATCH = 256 * 1024;

/** As many of the first records as one write should carry. */
const takeBatch = (queue: Pending[]): Pending[] => {
  let size = 0;
  const over = queue.findIndex(({ text }) => (size += text.length) > LARGEST_BATCH);
  return queue.splice(0, over < 0 ? queue.length : Math.max(1, over));
};

/** What is there can be read meanwhile. */
const mayPass = (error: unknown): boolean =>
  error instanceof JournalError && (error.code === 'ReadOnly' || error.code === 'NoSpace');

/**
 * Opens the journal and applies what it holds. A power cut at any byte loses no record whose `append` resolved. Where
 * nothing can be written now (disk full, file system read-only) it opens all the same: `append` says why, and tries
 * anew each time. Throws a `JournalError` when the directory cannot be had or the file not be read.
 */
export const openJournal = async (options: JournalOptions): Promise<Journal> => {
  const { dir, name, env, state, files = systemFiles, compactAtBytes = DEFAULT_COMPACT_AT } = options;
  const file = path.join(dir, name);
  const log = env.log.with({ file });
  const queue: Pending[] = [];
  let trouble: string | undefined;
  let closed = false;
  let running: Promise<void> | undefined;
  let compactAt = compactAtBytes;

  const failed = (error: unknown): JournalError => {
    const told = asJournalError(error, `cannot save to ${file}`);
    if (trouble !== told.message) log.error('the journal cannot be written', { error: told });
    trouble = told.message;
    return told;
  };

  const acquire = async (): Promise<DirectoryLock> => {
    try {
      await files.prepare(dir);
      return await (options.lock ?? takeLock)(dir);
    } catch (error) {
      throw asJournalError(error, `cannot use ${dir}`);
    }
  };
  let lock: DirectoryLock | undefined;
  try {
    // Before the file is read: whoever has it may still be writing.
    lock = await acquire();
  } catch (error) {
    if (!mayPass(error)) throw error;
  }

  let loaded: Loaded;
  let durable: DurableFile;
  try {
    loaded = await loadJournal(file, files, state);
    durable = createDurableFile({ file, files, loaded, lock, acquire, snapshot: () => state.snapshot() });
  } catch (error) {
    await lock?.release();
    throw error;
  }
  try {
    await durable.repair();
  } catch (error) {
    const told = failed(error);
    if (told.code === 'Locked' || told.code === 'Denied') {
      await durable.close();
      throw told;
    }
  }
  if (loaded.damage) log.error('the journal is damaged', { damage: loaded.damage, aside: durable.damagedCopy });

  const compact = async (): Promise<void> => {
    if (durable.length < compactAt) return;
    try {
      await durable.rewrite();
      compactAt = Math.max(compactAtBytes, 2 * durable.rewrittenLength);
    } catch (error) {
      // The file goes on growing. Try again when it has grown by half, not with every record.
      compactAt = durable.length * 1.5;
      log.warn('the journal cannot be compacted', { error });
    }
  };

  const commit = async (batch: Pending[]): Promise<void> => {
    try {
      await durable.append(encodeFrame(batch.map(({ text }) => text)));
    } catch (error) {
      const told = failed(error);
      for (const { reject } of batch) reject(told);
      return;
    }
    trouble = undefined;
    for (const { record, resolve } of batch) {
      state.apply(record);
      resolve();
    }
    await compact();
  };

  const drain = async (): Promise<void> => {
    // Records of the same turn share one fsync.
    await Promise.resolve();
    while (queue.length > 0) await commit(takeBatch(queue));
    running = undefined;
  };

  return {
    append(record) {
      const text = JSON.stringify(record);
      if (closed)
        return Promise.reject(new JournalError('Closed', `${file} is closed: the agent stops; try again once it runs`));
      if (text.length > LARGEST_RECORD)
        return Promise.reject(
          new JournalError('TooLarge', `a record of ${text.length} bytes is above ${LARGEST_RECORD}`),
        );
      const done = new Promise<void>((resolve, reject) => queue.push({ record, text, resolve, reject }));
      running ??= drain();
      return done;
    },
    get damage() {
      if (!loaded.damage) return undefined;
      return durable.damagedCopy ? `${loaded.damage}; as it was it is kept as ${durable.damagedCopy}` : loaded.damage;
    },
    get trouble() {
      return trouble;
    },
    async close() {
      closed = true;
      await running;
      await durable.close();
    },
  };
};
