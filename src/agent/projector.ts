import { type BackoffOptions, backoffMs, type Env, type Timer } from '../runtime/index.ts';

/** What is kept of an object. It is replaced when a later try succeeds. */
export interface Kept<P> {
  value: P;
}

export interface ProjectorOptions<T, P> {
  env: Env;
  project: (object: T) => P;
  /** What to keep instead when `project` throws. `known`: what was kept before. */
  onFailure: (key: string, object: T, error: unknown, known: P | undefined) => P;
  /** `project` no longer fails for the object, or the object is gone. `healed`: a value was replaced. */
  onSuccess: (key: string, healed: boolean) => void;
}

/** Projects objects for a cache, and tries again where that failed: the object may stay as it is for months. */
export interface Projector<T, P> {
  /** Never throws. `known`: what the cache has of an earlier version. */
  project(key: string, object: T, known: Kept<P> | undefined): Kept<P>;
  /** The object is gone. */
  forget(key: string): void;
  stop(): void;
}

const BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };

export const createProjector = <T, P>(options: ProjectorOptions<T, P>): Projector<T, P> => {
  const { env, project, onFailure, onSuccess } = options;
  /** The objects whose projection failed. */
  const failed = new Map<string, { object: T; kept: Kept<P> }>();
  let tries = 0;
  let timer: Timer | undefined;
  let stopped = false;

  const forget = (key: string): void => {
    if (failed.delete(key)) onSuccess(key, false);
  };
  const retryLater = (): void => {
    if (timer || stopped || failed.size === 0) return;
    tries += 1;
    timer = env.clock.timer(backoffMs(tries, BACKOFF, env.random), () => {
      timer = undefined;
      for (const [key, { object, kept }] of failed) {
        try {
          kept.value = project(object);
        } catch (error) {
          kept.value = onFailure(key, object, error, kept.value);
          continue;
        }
        failed.delete(key);
        onSuccess(key, true);
      }
      retryLater();
    });
  };

  return {
    project(key, object, known) {
      try {
        const kept = { value: project(object) };
        forget(key);
        return kept;
      } catch (error) {
        const kept = { value: onFailure(key, object, error, known?.value) };
        if (failed.size === 0) tries = 0;
        failed.set(key, { object, kept });
        retryLater();
        return kept;
      }
    },
    forget,
    stop() {
      stopped = true;
      timer?.cancel();
      for (const key of failed.keys()) forget(key);
    },
  };
};
