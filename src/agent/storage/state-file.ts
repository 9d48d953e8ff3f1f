import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Env, Timer } from '../../runtime/index.ts';

/** One value in one file, whole or not at all: what is read is what some `save` gave, whenever the power failed. */
export interface StateFile<T> {
  /** What was there at the start; undefined when there was nothing, or nothing that can be trusted. */
  readonly initial: T | undefined;
  /** Has `value()` written soon. Calls in between are one write; `value` is asked when it is due. */
  save(value: () => T): void;
  /** Writes what waits; rejects when that fails. */
  flush(): Promise<void>;
}

/** What is asked of a file system. */
export interface StateFiles {
  /** The text of a file that this process may trust; undefined when there is none. Throws when it cannot be had. */
  read(file: string): string | undefined;
  /** The new text takes the place of the old one whole or not at all, and is on the disk once this resolves. */
  replace(file: string, text: string): Promise<void>;
}

export interface StateFileOptions<T> {
  dir: string;
  name: string;
  env: Env;
  /** The value in what was read; throws, or returns undefined, for anything else. */
  parse: (value: unknown) => T | undefined;
  /** From a change to its write, at the most. Default 1,500. */
  delayMs?: number;
  /** Default: the machine's own. */
  files?: StateFiles;
}

const RETRY_MS = 30_000;

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex');

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const syncDirectory = async (dir: string): Promise<void> => {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** New file, flushed, then renamed over the old one, and the rename flushed: there is never half a file under the name. */
const replaceFile = async (file: string, text: string): Promise<void> => {
  const dir = path.dirname(file);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const fresh = `${file}.new`;
  // What an earlier run left behind has a mode of its own; a link that somebody else put there leads elsewhere.
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
  await syncDirectory(dir);
};

const systemFiles: StateFiles = {
  read(file) {
    try {
      const found = lstatSync(file);
      if (!found.isFile() || found.uid !== process.geteuid?.())
        throw new Error('it is not a file of the user that runs this process');
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  replace: replaceFile,
};

/** Reads at once: an agent that starts without a network answers from this. */
export const createStateFile = <T>({
  dir,
  name,
  env,
  parse,
  delayMs = 1_500,
  files = systemFiles,
}: StateFileOptions<T>): StateFile<T> => {
  const file = path.join(dir, name);

  const read = (): T | undefined => {
    let text: string | undefined;
    try {
      text = files.read(file);
    } catch (error) {
      env.log.warn('a state file cannot be read and is left out', { file, error });
    }
    if (text === undefined) return undefined;
    const [digest = '', body = ''] = text.split('\n', 2);
    try {
      const value = digest === digestOf(body) ? parse(JSON.parse(body)) : undefined;
      if (value === undefined) env.log.warn('a state file is damaged and is left out', { file });
      return value;
    } catch (error) {
      env.log.warn('a state file is damaged and is left out', { file, error });
      return undefined;
    }
  };

  let written: string | undefined;
  let waiting: (() => T) | undefined;
  let timer: Timer | undefined;
  let writing: Promise<void> | undefined;

  const write = async (value: () => T): Promise<void> => {
    const body = JSON.stringify(value());
    const digest = digestOf(body);
    if (digest === written) return;
    await files.replace(file, `${digest}\n${body}\n`);
    written = digest;
  };

  const flush = async (): Promise<void> => {
    // Another flush may have begun the next write meanwhile.
    while (writing) await writing.catch(() => undefined);
    timer?.cancel();
    timer = undefined;
    const value = waiting;
    if (!value) return;
    waiting = undefined;
    writing = write(value);
    try {
      await writing;
    } catch (error) {
      waiting ??= value;
      throw error;
    } finally {
      writing = undefined;
    }
  };

  const later = (ms: number): void => {
    timer ??= env.clock.timer(ms, () => {
      timer = undefined;
      flush().catch((error: unknown) => {
        env.log.error('a state file cannot be written; it is tried again', { file, error });
        later(RETRY_MS);
      });
    });
  };

  return {
    initial: read(),
    save(value) {
      waiting = value;
      later(delayMs);
    },
    flush,
  };
};
