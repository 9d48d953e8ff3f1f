export interface BackoffOptions {
  /** Delay after the first failure. */
  baseMs: number;
  /** Longest delay. */
  maxMs: number;
}

/**
 * Delay before the next attempt after `failures` failures: doubles from `baseMs` up to `maxMs`. With `random` (uniform
 * in [0, 1)), jitter takes off up to half of it, so that clients that failed together do not retry together.
 */
export const backoffMs = (failures: number, { baseMs, maxMs }: BackoffOptions, random?: () => number): number => {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return random === undefined ? full : full * (0.5 + random() / 2);
};
