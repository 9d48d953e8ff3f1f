import { createHash } from 'node:crypto';
import type { RequestReport } from '../../kube/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { Deadline } from './types.ts';

/** When this device acts on the deadline: at its position within the spread. */
export const actsAt = ({ at, spreadMs, share }: Deadline): number => at + Math.floor(share * spreadMs);

/**
 * The device's position in [0, 1): always the same for a device, DaemonSet and revision, and evenly distributed over a
 * fleet.
 */
export const deadlineShare = (of: { node: string; namespace: string; daemonSet: string; revision: string }): number => {
  const digest = createHash('sha256')
    .update(JSON.stringify([of.node, of.namespace, of.daemonSet, of.revision]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
};

/** How far this device's clock is ahead of the API server's, according to its responses. */
export interface ClockSkew {
  observe(report: Pick<RequestReport, 'serverTime'>): void;
  /** Milliseconds, negative when it is behind; 0 while unknown or within the tolerance. */
  aheadMs(): number;
}

/** Responses have a resolution of one second, and take a while on slow links. */
const TOLERANCE_MS = 60_000;

export const createClockSkew = (clock: Pick<Clock, 'now'>): ClockSkew => {
  let ahead = 0;
  return {
    observe({ serverTime }) {
      if (serverTime !== undefined) ahead = clock.now() - serverTime;
    },
    aheadMs: () => (Math.abs(ahead) < TOLERANCE_MS ? 0 : ahead),
  };
};
