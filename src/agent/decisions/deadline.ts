import { createHash } from 'node:crypto';
import type { Deadline } from './types.ts';

/** When this device acts on a deadline: at its own place within the spread. */
export const actsAt = ({ at, spreadMs, share }: Deadline): number => at + Math.floor(share * spreadMs);

/**
 * A place in [0, 1) that is the same each time for the same device, DaemonSet and revision, also after a restart and
 * before the deadline, and even over a fleet.
 */
export const deadlineShare = (of: { node: string; namespace: string; daemonSet: string; revision: string }): number => {
  const digest = createHash('sha256')
    .update(JSON.stringify([of.node, of.namespace, of.daemonSet, of.revision]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
};
