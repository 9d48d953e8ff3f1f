import type { Clock } from '../../runtime/index.ts';
import type { RequestReport } from './options.ts';

/** How far this process's clock is ahead of the API server's, according to its responses. */
export interface ClockSkew {
  observe(report: Pick<RequestReport, 'serverTime' | 'receivedAt' | 'seconds'>): void;
  /** Milliseconds, negative when it is behind; 0 while unknown or within the tolerance. */
  aheadMs(): number;
}

/** Dates have a resolution of one second, and the clocks of machines drift. */
const TOLERANCE_MS = 60_000;

export const createClockSkew = (clock: Pick<Clock, 'now'>): ClockSkew => {
  let ahead = 0;
  return {
    observe({ serverTime, receivedAt = clock.now(), seconds }) {
      if (serverTime === undefined) return;
      const sentAt = receivedAt - seconds * 1000;
      // Written between the two: a response that waited for a slow link or a stopped process is not the clock's fault.
      ahead = serverTime > receivedAt ? receivedAt - serverTime : Math.max(0, sentAt - serverTime);
    },
    aheadMs: () => (Math.abs(ahead) < TOLERANCE_MS ? 0 : ahead),
  };
};
