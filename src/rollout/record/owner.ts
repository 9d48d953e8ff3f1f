import type { Announcement, NeedUpgradeReason } from '../facts/need-upgrade.ts';
import type { Context, NodeRecord } from './record.ts';

/** Why the owner of a node with an outdated pod is offered the target or not: the first that holds. */
const reasonFor = (
  { node, partitionAllows }: NodeRecord,
  { policy, withheldFromOwners }: Context,
): NeedUpgradeReason => {
  // Once deleted, the pod would not be made again.
  if (!node?.eligible) return 'NodeNotEligible';
  if (policy.paused) return 'Paused';
  if (!node.selected) return 'NodeSelector';
  if (!partitionAllows) return 'Partition';
  return withheldFromOwners ? 'Halted' : 'NewRevision';
};

/**
 * What condition PodNeedUpgrade of a node's live pod should say; `none` where it should not be there, undefined while the
 * target is not known.
 */
export const announcementFor = (
  record: NodeRecord,
  current: boolean,
  context: Context,
): Announcement | 'none' | undefined => {
  const { policy, targetHash } = context;
  if (policy.strategy !== 'ota') return 'none';
  if (targetHash === undefined) return undefined;
  return { reason: current ? 'UpToDate' : reasonFor(record, context), revision: targetHash };
};
