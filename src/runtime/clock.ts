/** A pending timer. Cancelling one that has fired or was cancelled does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * The source of time. Everything that waits or takes timestamps uses a clock, so that the simulation can run the same
 * code on virtual time. Nothing else reads `Date` or calls `setTimeout`.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `fire` once, no earlier than `delayMs` from now; a delay below zero counts as zero. */
  timer(delayMs: number, fire: () => void): Timer;
}

// setTimeout fires at once for delays above 2^31 - 1 ms: split longer ones.
const LONGEST_HOP_MS = 2 ** 31 - 1;

/** The machine's clock. Its timers keep the process alive until they fire or are cancelled. */
export const systemClock: Clock = {
  now: () => Date.now(),
  timer(delayMs, fire) {
    let handle: NodeJS.Timeout;
    // setTimeout drops fractions of a millisecond, of the delay and of the time: it may fire early.
    const dueAt = performance.now() + Math.max(0, Math.ceil(delayMs));
    const hop = (): void => {
      const leftMs = Math.max(0, Math.ceil(dueAt - performance.now()));
      handle = setTimeout(() => (performance.now() < dueAt ? hop() : fire()), Math.min(leftMs, LONGEST_HOP_MS));
    };
    hop();
    return { cancel: () => clearTimeout(handle) };
  },
};

/**
 * Monotonic from the start of the process: unaffected when the machine's clock is set. For durations; code that acts at a
 * time of day needs `systemClock`.
 */
export const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

/** Calls `run` in the next turn of the event loop. */
export const onNextTurn = (run: () => void): void => void setImmediate(run);

/**
 * Resolves after one turn of the event loop, when settled promises and sockets have been handled. On virtual time nothing
 * else needs waiting for.
 */
export const nextTurn = (): Promise<void> => new Promise((resolve) => onNextTurn(resolve));

/**
 * Resolves after `delayMs`; rejects with the signal's reason as soon as `signal` aborts.
 */
export const sleep = (clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.timer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });

/** Local times need Temporal, which Node has since version 26. Called once, by programs that deal with them. */
export const loadTemporal = async (): Promise<void> => {
  if (!('Temporal' in globalThis)) await import('temporal-polyfill/global');
};
