import { sleep, steadyClock } from '../../src/runtime/index.ts';

export type Truthy<T> = Exclude<T, false | null | undefined | '' | 0>;

/** Thrown by a probe, it ends the wait at once. */
export class HopelessError extends Error {
  override readonly name = 'HopelessError';
  readonly code = 'Hopeless';
}

export interface EventuallyOptions {
  /** Default 60 s: a busy machine may need it, and a shorter one makes no test faster. */
  withinMs?: number;
  /** Time between probes. Default 5 ms. */
  everyMs?: number;
}

/**
 * Polls `probe` until it returns a truthy value, and resolves with that value. A probe that throws counts as not yet.
 * Rejects after `withinMs`, with the last answer or error of the probe as the cause.
 */
export const eventually = async <T>(
  what: string,
  probe: () => Promise<T> | T,
  { withinMs = 60_000, everyMs = 5 }: EventuallyOptions = {},
): Promise<Truthy<T>> => {
  const endsAt = steadyClock.now() + withinMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await probe();
      if (answer) return answer as Truthy<T>;
      last = answer;
    } catch (error) {
      if (error instanceof HopelessError) throw error;
      last = error;
    }
    if (steadyClock.now() > endsAt) throw new Error(`timed out after ${withinMs} ms: ${what}`, { cause: last });
    await sleep(steadyClock, everyMs);
  }
};

/** Rejects when `promise` has not settled within `timeoutMs`. */
export const settledWithin = async <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  const stop = new AbortController();
  const timeout = sleep(steadyClock, timeoutMs, stop.signal).then(() => {
    throw new Error(`not settled within ${timeoutMs} ms`);
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    stop.abort();
  }
};
