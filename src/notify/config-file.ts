import { type Env, sleep } from '../runtime/index.ts';
import { type NotificationsConfig, NotificationsConfigError, parseConfig } from './config.ts';

/** A mounted Secret is read again as often as a mounted token. */
const REREAD_MS = 10_000;

export interface ConfigFile {
  current(): NotificationsConfig;
  /** Reads the file again when it changes, until the signal aborts. What can't be used is logged, and changes nothing. */
  follow(signal: AbortSignal, onChange: () => void): Promise<void>;
}

export interface ConfigFileOptions {
  path: string;
  env: Env;
  readFile: (path: string) => Promise<string>;
}

/** Rejects with a `NotificationsConfigError` that names the file, if it can't be read or used. */
export const openConfigFile = async ({ path, env, readFile }: ConfigFileOptions): Promise<ConfigFile> => {
  const read = async (): Promise<string> => {
    try {
      return await readFile(path);
    } catch (cause) {
      throw new NotificationsConfigError(`${path}: cannot be read; correct its path or permissions`, cause);
    }
  };
  const parsed = (text: string): NotificationsConfig => {
    try {
      return parseConfig(text);
    } catch (error) {
      if (!(error instanceof NotificationsConfigError)) throw error;
      throw new NotificationsConfigError(`${path}: ${error.message}`, error.cause);
    }
  };
  let text = await read();
  let config = parsed(text);
  /** The last problem that was logged: once is enough. */
  let reported = '';

  const reread = async (): Promise<boolean> => {
    try {
      const next = await read();
      if (next === text) return false;
      const usable = parsed(next);
      text = next;
      config = usable;
      reported = '';
      env.log.info('the configuration of notifications has changed', { targets: [...config.targets.keys()] });
      return true;
    } catch (error) {
      const problem = error instanceof Error ? error.message : '';
      if (problem !== reported)
        env.log.error('kept the last good configuration of notifications: the new one cannot be used', { error });
      reported = problem;
      return false;
    }
  };

  return {
    current: () => config,
    async follow(signal, onChange) {
      while (!signal.aborted) {
        await sleep(env.clock, REREAD_MS, signal).catch(() => undefined);
        if (!signal.aborted && (await reread())) onChange();
      }
    },
  };
};
