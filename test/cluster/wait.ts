import { setTimeout as pause } from 'node:timers/promises';

/** Thrown by a probe, it ends the waiting at once. */
export class Hopeless extends Error {
  readonly code = 'Hopeless';
}

/**
 * Polls `probe` until it yields something truthy, and resolves with that. Rejects after `timeoutMs`, with what the last
 * failing probe threw as the cause; a probe that throws counts as not yet.
 */
export const until = async <T>(
  what: string,
  timeoutMs: number,
  everyMs: number,
  probe: () => Promise<T>,
): Promise<Exclude<T, false | null | undefined | '' | 0>> => {
  const end = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value) return value as Exclude<T, false | null | undefined | '' | 0>;
      last = undefined;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      last = error;
    }
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`, { cause: last });
    await pause(everyMs);
  }
};

/** Rejects when `promise` has not settled within `timeoutMs`. */
export const deadline = async <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  const stop = new AbortController();
  try {
    return await Promise.race([
      promise,
      pause(timeoutMs, undefined, { signal: stop.signal }).then(() => {
        throw new Error(`not settled within ${timeoutMs} ms`);
      }),
    ]);
  } finally {
    stop.abort();
  }
};
