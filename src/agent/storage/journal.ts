import path from 'node:path';
import type { Env } from '../../runtime/index.ts';
import { asJournalError, JournalError } from './errors.ts';
import { type JournalFiles, systemFiles } from './files.ts';
import { encodeFrame } from './frames.ts';
import { createDurableFile, type DurableFile } from './journal-file.ts';
import { type Loaded, loadJournal } from './load.ts';
import { type DirectoryLock, takeLock } from './lock.ts';

/** The state that the records add up to. Only the journal calls it, in the order of the file. */
export interface JournalState {
  /** Applies one durable record. Returns false for a record that it does not recognize. Must not throw. */
  apply(record: unknown): boolean;
  /** Records that rebuild this state from an empty one, for compaction. */
  snapshot(): readonly unknown[];
}

export interface Journal {
  /** Resolves once the record (any JSON value) is on disk and applied; rejects with a `JournalError` otherwise. */
  append(record: unknown): Promise<void>;
  /** What was unreadable when the journal was opened, and where the copy is; human-readable. */
  readonly damage: string | undefined;
  /** Why the last write failed; undefined when it succeeded. */
  readonly trouble: string | undefined;
  /** Waits for pending appends, then releases the directory. */
  close(): Promise<void>;
}

export interface JournalOptions {
  /** For this journal only; created if missing. */
  dir: string;
  /** Name of the file in `dir`. */
  name: string;
  env: Env;
  state: JournalState;
  /** From this size on, the file is compacted each time it has doubled. Default 512 KiB. */
  compactAtBytes?: number;
  /** Default: the machine's file system. */
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
const MAX_RECORD_BYTES = 64 * 1024;
const MAX_BATCH_BYTES = 256 * 1024;

/** Takes as many records from the head of the queue as fit into one write. */
const takeBatch = (queue: Pending[]): Pending[] => {
  let size = 0;
  const over = queue.findIndex(({ text }) => (size += text.length) > MAX_BATCH_BYTES);
  return queue.splice(0, over < 0 ? queue.length : Math.max(1, over));
};

/** The disk may become writable later; until then, the journal can still be read. */
const isTemporary = (error: unknown): boolean =>
  error instanceof JournalError && (error.code === 'ReadOnly' || error.code === 'NoSpace');

/**
 * Opens the journal and applies its records. A power cut at any byte loses no record whose `append` resolved. On a full or
 * read-only disk it opens, too: each `append` tries to write and rejects with the reason. Throws a `JournalError` when the
 * directory can't be used or the file can't be read.
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
    const failure = asJournalError(error, `cannot save to ${file}`);
    if (trouble !== failure.message) log.error('failed to write the journal', { error: failure });
    trouble = failure.message;
    return failure;
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
    // Lock before reading: another process may still be writing.
    lock = await acquire();
  } catch (error) {
    if (!isTemporary(error)) throw error;
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
    const failure = failed(error);
    if (failure.code === 'Locked' || failure.code === 'Denied') {
      await durable.close();
      throw failure;
    }
  }
  if (loaded.damage) log.error('the journal is damaged', { damage: loaded.damage, copy: durable.damagedCopy });

  const compact = async (): Promise<void> => {
    if (durable.length < compactAt) return;
    try {
      await durable.rewrite();
      compactAt = Math.max(compactAtBytes, 2 * durable.rewrittenLength);
    } catch (error) {
      // The file keeps growing. Try again when it has grown by half, not with every record.
      compactAt = durable.length * 1.5;
      log.warn('failed to compact the journal', { error });
    }
  };

  const commit = async (batch: Pending[]): Promise<void> => {
    try {
      await durable.append(encodeFrame(batch.map(({ text }) => text)));
    } catch (error) {
      const failure = failed(error);
      for (const { reject } of batch) reject(failure);
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
    // Records of the same event loop turn share one fsync.
    await Promise.resolve();
    while (queue.length > 0) await commit(takeBatch(queue));
    running = undefined;
  };

  return {
    append(record) {
      const text = JSON.stringify(record);
      if (closed)
        return Promise.reject(
          new JournalError('Closed', `${file} is closed: the agent is stopping; try again once it runs`),
        );
      if (text.length > MAX_RECORD_BYTES)
        return Promise.reject(
          new JournalError('TooLarge', `a record of ${text.length} bytes exceeds ${MAX_RECORD_BYTES}`),
        );
      const done = new Promise<void>((resolve, reject) => queue.push({ record, text, resolve, reject }));
      running ??= drain();
      return done;
    },
    get damage() {
      if (!loaded.damage) return undefined;
      return durable.damagedCopy
        ? `${loaded.damage}; the damaged file was copied to ${durable.damagedCopy}`
        : loaded.damage;
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
