import path from 'node:path';
import type { Env } from '../../runtime/index.ts';
import { asStorageError, StorageError } from './errors.ts';
import { type DurableFiles, seal, systemFiles, unseal, writeNew } from './files.ts';
import { type DirectoryLock, takeLock } from './lock.ts';

/** A value on disk, in two generations: the one that was saved last, and the one before it. */
export interface DurableState<T> {
  /** The value at start; undefined if there was none, or none that can be read. */
  readonly initial: T | undefined;
  /** Resolves once the value is on disk; rejects with a `StorageError` otherwise. Await it before the next call. */
  save(value: T): Promise<void>;
  /** What was unreadable when the state was opened, and where it is now; human-readable. */
  readonly damage: string | undefined;
  /** Why the last write failed; undefined when it succeeded. */
  readonly trouble: string | undefined;
  /** Releases the directory. */
  close(): Promise<void>;
}

export interface DurableStateOptions<T> {
  /** For this state only; created if missing. */
  dir: string;
  /** Name of the file in `dir`. */
  name: string;
  env: Env;
  /** Parses a saved value; throws if it is invalid. */
  parse: (value: unknown) => T;
  /** Default: the machine's file system. */
  files?: DurableFiles;
  lock?: (dir: string) => Promise<DirectoryLock>;
}

const VERSION = 1;

interface Generation<T> {
  bytes: Buffer | undefined;
  value: T | undefined;
}

/** The disk may become writable later; until then, the state can still be read. */
const isTemporary = (error: unknown): boolean =>
  error instanceof StorageError && (error.code === 'ReadOnly' || error.code === 'NoSpace');

/**
 * Opens a state. A power cut at any byte loses no value whose `save` resolved. If the newest generation is damaged, the one
 * before it is used. On a full or read-only disk it opens, too: each `save` tries to write and rejects with the reason. Throws
 * a `StorageError` when the directory can't be used or a file can't be read.
 */
export const openDurableState = async <T>(options: DurableStateOptions<T>): Promise<DurableState<T>> => {
  const { dir, name, env, parse, files = systemFiles } = options;
  const file = path.join(dir, name);
  const [fresh, previous, aside] = [`${file}.new`, `${file}.previous`, `${file}.damaged`];
  const log = env.log.with({ file });
  let trouble: string | undefined;

  const failed = (error: unknown): StorageError => {
    const failure = asStorageError(error, `cannot save to ${file}`);
    if (trouble !== failure.message) log.error('failed to save a state', { error: failure });
    trouble = failure.message;
    return failure;
  };

  const acquire = async (): Promise<DirectoryLock> => {
    try {
      await files.prepare(dir);
      return await (options.lock ?? takeLock)(dir);
    } catch (error) {
      throw asStorageError(error, `cannot use ${dir}`);
    }
  };

  const read = async (from: string): Promise<Generation<T>> => {
    let bytes: Buffer | undefined;
    try {
      bytes = await files.read(from);
    } catch (error) {
      throw asStorageError(error, `cannot read ${from}`);
    }
    if (!bytes) return { bytes, value: undefined };
    let saved: { version?: unknown; value?: unknown };
    try {
      saved = unseal(bytes.toString()) as typeof saved;
    } catch {
      return { bytes, value: undefined };
    }
    if (saved.version !== VERSION)
      throw new StorageError(
        'UnknownFormat',
        `${from} has version ${String(saved.version)}, which this version cannot read: run the version that wrote it, or move the file away and lose its content`,
      );
    try {
      return { bytes, value: parse(saved.value) };
    } catch {
      return { bytes, value: undefined };
    }
  };

  const load = async () => {
    const newest = await read(file);
    if (newest.value !== undefined) return { ...newest, damaged: undefined };
    // A power cut between the two renames of a save leaves the newest generation under this name.
    const older = await read(previous);
    const damaged = newest.bytes ? file : older.bytes && older.value === undefined ? previous : undefined;
    return { bytes: newest.bytes, value: older.value, damaged };
  };

  let lock: DirectoryLock | undefined;
  try {
    // Lock before reading: another process may still be writing.
    lock = await acquire();
  } catch (error) {
    if (!isTemporary(error)) throw error;
  }
  const loaded = await load().catch(async (error: unknown) => {
    await lock?.release();
    throw error;
  });
  const { damaged } = loaded;
  const inUse = loaded.value === undefined ? 'nothing of it is in use' : 'the generation before it is in use';
  let damage = damaged && `${damaged} is damaged; ${inUse}`;
  if (damage !== undefined) log.error('a saved state is damaged', { damage });
  /** What is on disk for certain. */
  let saved = loaded.value;
  /** There is a file under the name, and it is not damaged. */
  let exists = loaded.bytes !== undefined && damaged === undefined;
  /** It has a value that may not be durable. */
  let isUncertain = false;
  let isAside = damaged === undefined;
  let isReady = false;
  let closed = false;

  const ensureLock = async (): Promise<void> => {
    if (!lock) {
      const taken = await acquire();
      const now = await files.read(file);
      if (!(now && loaded.bytes ? now.equals(loaded.bytes) : now === loaded.bytes)) {
        await taken.release();
        throw new StorageError(
          'Locked',
          `another agent has written ${file} since this one read it: restart this agent`,
        );
      }
      lock = taken;
    }
    if (!(await lock.held()))
      throw new StorageError(
        'Locked',
        `another agent has taken over ${dir}: stop one of the two, and restart the other`,
      );
  };

  const put = async (value: T): Promise<void> => {
    await writeNew(files, fresh, seal(JSON.stringify({ version: VERSION, value })));
    if (exists) await files.rename(file, previous);
    exists = false;
    await files.rename(fresh, file);
    exists = true;
    isUncertain = true;
    // The value is durable only once the file's name is.
    await files.syncDirectory(dir);
    isUncertain = false;
    saved = value;
  };

  /** What an earlier process renamed may not be durable yet, although this one already shows it. */
  const ensureReady = async (): Promise<void> => {
    await ensureLock();
    if (isReady) return;
    if (damaged !== undefined && !isAside) {
      await files.rename(damaged, aside);
      isAside = true;
      damage = `${damage}; the damaged file is ${aside} now`;
    }
    if (damaged !== undefined && saved !== undefined) await put(saved);
    else await files.syncDirectory(dir);
    isReady = true;
  };

  try {
    await ensureReady();
  } catch (error) {
    const failure = failed(error);
    if (failure.code === 'Locked' || failure.code === 'Denied') {
      await lock?.release();
      throw failure;
    }
  }

  return {
    initial: loaded.value,
    async save(value) {
      if (closed) throw new StorageError('Closed', `${file} is closed: the agent is stopping; try again once it runs`);
      try {
        await ensureReady();
        await put(value);
        trouble = undefined;
      } catch (error) {
        // Ensures, if the disk still allows it, that a value that was rejected doesn't reappear after a restart.
        if (isUncertain && saved !== undefined) await put(saved).catch(() => undefined);
        throw failed(error);
      }
    },
    get damage() {
      return damage;
    },
    get trouble() {
      return trouble;
    },
    async close() {
      closed = true;
      await lock?.release();
      lock = undefined;
    },
  };
};
