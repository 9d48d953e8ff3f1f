import { lstatSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Env, Timer } from '../../runtime/index.ts';
import { errnoOf } from '../errno.ts';
import { seal, systemFiles, unseal, writeNew } from './files.ts';

/** One value in one file, replaced atomically: after a power cut, it holds the value of some `save`. */
export interface StateFile<T> {
  /** The value at start; undefined if there was none, or none that can be trusted. */
  readonly initial: T | undefined;
  /** Writes `value()` soon. Several calls result in one write; `value` is called when the write is due. */
  save(value: () => T): void;
  /** Writes a pending value; rejects when that fails. */
  flush(): Promise<void>;
}

/** The file system calls of a state file. */
export interface StateFiles {
  /** The text of a trusted file; undefined if there is none. Throws if it can't be read. */
  read(file: string): string | undefined;
  /** Replaces the file atomically. The new text is durable once this resolves. */
  replace(file: string, text: string): Promise<void>;
}

export interface StateFileOptions<T> {
  dir: string;
  name: string;
  env: Env;
  /** Parses the stored value; throws or returns undefined if it is invalid. */
  parse: (value: unknown) => T | undefined;
  /** Default: the machine's file system. */
  files?: StateFiles;
}

/** Longest delay between a change and its write. */
const DELAY_MS = 1_500;
const RETRY_MS = 30_000;

const systemStateFiles: StateFiles = {
  read(file) {
    try {
      const found = lstatSync(file);
      if (!found.isFile() || found.uid !== process.geteuid?.())
        throw new Error('it is not a file owned by the user of this process');
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  },
  async replace(file, text) {
    const dir = path.dirname(file);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeNew(systemFiles, `${file}.new`, text);
    await systemFiles.rename(`${file}.new`, file);
    await systemFiles.syncDirectory(dir);
  },
};

/** Reads the file synchronously: an agent that starts offline answers from it. */
export const createStateFile = <T>({
  dir,
  name,
  env,
  parse,
  files = systemStateFiles,
}: StateFileOptions<T>): StateFile<T> => {
  const file = path.join(dir, name);

  const read = (): T | undefined => {
    let text: string | undefined;
    try {
      text = files.read(file);
    } catch (error) {
      env.log.warn('ignoring an unreadable state file', { file, error });
    }
    if (text === undefined) return undefined;
    try {
      const value = parse(unseal(text));
      if (value === undefined) env.log.warn('ignoring a damaged state file', { file });
      return value;
    } catch (error) {
      env.log.warn('ignoring a damaged state file', { file, error });
      return undefined;
    }
  };

  let written: string | undefined;
  let waiting: (() => T) | undefined;
  let timer: Timer | undefined;
  let writing: Promise<void> | undefined;

  const write = async (value: () => T): Promise<void> => {
    const text = seal(JSON.stringify(value()));
    const digest = text.slice(0, text.indexOf('\n'));
    if (digest === written) return;
    await files.replace(file, text);
    written = digest;
  };

  const flush = async (): Promise<void> => {
    // Another flush may have started the next write meanwhile.
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
        env.log.error('failed to write a state file: retrying', { file, error });
        later(RETRY_MS);
      });
    });
  };

  return {
    initial: read(),
    save(value) {
      waiting = value;
      later(DELAY_MS);
    },
    flush,
  };
};
