/** The clocks of two machines are seldom further apart, ms. */
export const MAX_CLOCK_SKEW_MS = 600_000;

/**
 * From when on a time is counted at whose end something is given up: a pod that does not come up, an image that is preferred.
 * What began before this process met the thing is told by the clocks of others, which may be behind its own: then there is
 * more time rather than less.
 */
export const skewTolerantStart = (begunAt: number, metAt: number): number =>
  Math.max(begunAt, Math.min(metAt, begunAt + MAX_CLOCK_SKEW_MS));
