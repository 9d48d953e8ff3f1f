import { readFile } from 'node:fs/promises';
import type { Notifier } from '../controller/index.ts';
import { type Env, systemClock } from '../runtime/index.ts';
import { openConfigFile } from './config-file.ts';
import { createNotifier, type NotificationResult } from './notifier.ts';
import { createPost } from './post.ts';

export { NotificationsConfigError } from './config.ts';
export type { NotificationResult } from './notifier.ts';

export interface NotificationsOptions {
  /** Path of the configuration. */
  path: string;
  env: Env;
  environment: Readonly<Record<string, string | undefined>>;
  userAgent: string;
  onResult: (target: string, result: NotificationResult) => void;
}

export interface Notifications {
  notifier: Notifier;
  /** Follows the file until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const TIMEOUT_MS = 10_000;

/** Rejects with a `NotificationsConfigError`, if the configuration can't be used. */
export const openNotifications = async (options: NotificationsOptions): Promise<Notifications> => {
  const { path, environment, userAgent, onResult } = options;
  const env = { ...options.env, log: options.env.log.with({ part: 'notifications' }) };
  const file = await openConfigFile({ path, env, readFile: (from) => readFile(from, 'utf8') });
  env.log.info('notifying', { targets: [...file.current().targets.keys()] });
  const post = createPost({ clock: env.clock, environment, timeoutMs: TIMEOUT_MS });
  const notifier = createNotifier({
    env,
    config: () => file.current(),
    post,
    userAgent,
    wallClock: systemClock,
    onResult,
  });
  return { notifier, run: (signal) => file.follow(signal, () => notifier.configChanged()) };
};
