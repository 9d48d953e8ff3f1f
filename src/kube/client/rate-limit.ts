import type { Clock, Timer } from '../../runtime/index.ts';

export interface RateLimiter {
  /** Resolves when the caller may send, in call order; rejects with the signal's reason when it aborts. */
  take(signal?: AbortSignal): Promise<void>;
}

interface Waiter {
  grant(): void;
}

/**
 * A token bucket with a fair queue: `qps` calls per second on average, up to `burst` at once. A `qps` of 0 or less
 * disables the limit.
 */
export const createRateLimiter = (clock: Clock, qps: number, burst: number): RateLimiter => {
  const waiting: Waiter[] = [];
  let tokens = burst;
  let filledAt = clock.now();
  let timer: Timer | undefined;

  const refill = (): void => {
    const now = clock.now();
    // A clock that was set back must not block callers: measure again from here.
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAt) * qps) / 1000);
    filledAt = now;
  };

  const serve = (): void => {
    refill();
    // The margin absorbs rounding: n * (1000/qps) ms must give n tokens.
    while (waiting.length > 0 && tokens >= 1 - 1e-9) {
      tokens -= 1;
      waiting.shift()?.grant();
    }
    if (waiting.length > 0 && timer === undefined) {
      timer = clock.timer(Math.ceil(((1 - tokens) * 1000) / qps), () => {
        timer = undefined;
        serve();
      });
    }
  };

  return {
    take(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (qps <= 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          const at = waiting.indexOf(waiter);
          if (at >= 0) waiting.splice(at, 1);
          if (waiting.length === 0) {
            timer?.cancel();
            timer = undefined;
          }
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          grant() {
            signal?.removeEventListener('abort', leave);
            resolve();
          },
        };
        signal?.addEventListener('abort', leave, { once: true });
        waiting.push(waiter);
        serve();
      });
    },
  };
};
