import type { RequestReport } from '../kube/index.ts';
import type { Clock } from '../runtime/index.ts';

/** How far this device's clock is ahead of the API server's, as far as answers have told. */
export interface ClockSkew {
  observe(report: Pick<RequestReport, 'serverTime'>): void;
  /** Milliseconds, negative when it is behind; 0 while nothing tells, or for less than clocks usually differ. */
  aheadMs(): number;
}

/** Answers name whole seconds, and take some on slow links. */
const USUAL_MS = 60_000;

export const createClockSkew = (clock: Pick<Clock, 'now'>): ClockSkew => {
  let ahead = 0;
  return {
    observe({ serverTime }) {
      if (serverTime !== undefined) ahead = clock.now() - serverTime;
    },
    aheadMs: () => (Math.abs(ahead) < USUAL_MS ? 0 : ahead),
  };
};
