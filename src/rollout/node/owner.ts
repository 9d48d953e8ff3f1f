import type { NeedUpgradeReason } from '../../words/index.ts';
import { type Announcement, isAnnounced } from '../facts/need-upgrade.ts';
import { isCurrent, livePod } from './pods.ts';
import { type Context, type NodeRecord, type NodeStatus, noOwner, type OwnerStatus } from './record.ts';

/** Why the owner of a node with an outdated pod is offered the target, or is not: the first reason that applies. */
const reasonFor = (
  { node, partitionAllows, stage }: NodeRecord,
  { policy, withheldFromOwners, isStageOpen }: Context,
): NeedUpgradeReason => {
  // Once deleted, the pod would not be recreated.
  if (!node?.eligible) return 'NodeNotEligible';
  if (policy.paused) return 'Paused';
  if (!node.selected) return 'NodeSelector';
  if (!partitionAllows) return 'Partition';
  if (!isStageOpen(stage)) return 'Staged';
  return withheldFromOwners ? 'Halted' : 'NewRevision';
};

/**
 * What condition PodNeedUpgrade of a node's live pod should say; `none` where it should be absent, undefined while the
 * target is unknown.
 */
const announcementFor = (record: NodeRecord, current: boolean, context: Context): Announcement | 'none' | undefined => {
  const { policy, targetHash } = context;
  if (policy.strategy !== 'ota') return 'none';
  if (targetHash === undefined) return undefined;
  return { reason: current ? 'UpToDate' : reasonFor(record, context), revision: targetHash };
};

export const assessOwner = (record: NodeRecord, context: Context): OwnerStatus => {
  const pod = livePod(record);
  const wanted = pod && announcementFor(record, isCurrent(pod, context), context);
  if (!wanted) return noOwner;
  const { announced, approved: approvedRevision } = pod.facts;
  if (wanted === 'none') return announced === undefined ? noOwner : { ...noOwner, announcement: wanted };
  const offered = wanted.reason === 'NewRevision';
  const approved = offered && context.policy.byApproval && approvedRevision === wanted.revision;
  return {
    asked: offered && !approved,
    approved,
    announcement: isAnnounced(announced, wanted) ? undefined : wanted,
  };
};

/** How far an owner's update is, in their order. */
export const ownerSteps = ['asked', 'decided', 'running', 'done', 'failed'] as const;
export type OwnerStep = (typeof ownerSteps)[number];

/**
 * How far the update of a node is whose owner decides; undefined where the target is not offered. That an owner said "tonight", "later"
 * or "not this version" stays on the device until the agent acts: such a node is `asked`.
 */
export const ownerStepOf = ({ phase, cause, failure, owner }: NodeStatus): OwnerStep | undefined => {
  if (failure) return 'failed';
  if (phase === 'updated' || cause === 'offline-current') return 'done';
  // A suspect runs the target, but nobody knows yet whether it works.
  if (phase === 'updating' || cause === 'suspect') return 'running';
  if (owner.approved) return 'decided';
  return owner.asked ? 'asked' : undefined;
};
