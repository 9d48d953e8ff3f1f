import { createHash } from 'node:crypto';
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
