import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { UPGRADE_APPROVED } from './approval.ts';
import { toTimestamp } from './timestamps.ts';

/**
 * Condition `PodNeedUpgrade` of a pod: whether its owner is offered another revision. The manager alone writes it, agents
 * and OpenYurt's tools read it; its message names the target revision.
 */
export const NEED_UPGRADE = 'PodNeedUpgrade';

/**
 * `True`: `NewRevision`, or `Halted` when the fleet's breaker has stopped the revision, and agents refuse it. `False`:
 * the pod runs the target (`UpToDate`), or is left on its revision for a reason of the policy.
 */
export type NeedUpgradeReason =
  | 'NewRevision'
  | 'Halted'
  | 'UpToDate'
  | 'Paused'
  | 'Partition'
  | 'NodeSelector'
  | 'NodeNotEligible';

/** The condition as it stands on a pod. */
export interface NeedUpgrade {
  /** `True`, `False`, or what another writer put there. */
  status: string;
  reason: string;
  message: string;
}

/** The condition as it should be. */
export interface Announcement {
  reason: NeedUpgradeReason;
  /** Hash label of the target revision. */
  revision: string;
}

const MESSAGE = /^controllerrevision: *([^;\s]+)/;

/** Undefined for a pod to which nothing was announced. */
export const needUpgradeOf = (pod: Pod): NeedUpgrade | undefined => {
  const found = pod.status?.conditions?.find(({ type }) => type === NEED_UPGRADE);
  return found && { status: found.status, reason: found.reason ?? '', message: found.message ?? '' };
};

/** The revision that a condition speaks of; empty when its message names none. */
export const announcedRevision = ({ message }: NeedUpgrade): string => MESSAGE.exec(message)?.[1] ?? '';

const toCondition = ({ reason, revision }: Announcement): NeedUpgrade => ({
  status: reason === 'NewRevision' || reason === 'Halted' ? 'True' : 'False',
  reason,
  message: `controllerrevision: ${revision}`,
});

/** Does the pod say just that? */
export const isAnnounced = (present: NeedUpgrade | undefined, wanted: Announcement): boolean => {
  const { status, reason, message } = toCondition(wanted);
  return present?.status === status && present.reason === reason && present.message === message;
};

/**
 * A strategic merge patch of a pod's status that touches this one condition, and no other pod of the same name. What the
 * owner agreed to goes with the announcement that he agreed to: asked for once more, it is his to decide once more.
 */
export const announcementPatch = (
  pod: { uid: string; announced: NeedUpgrade | undefined; approved?: string | undefined },
  wanted: Announcement | 'none',
  now: number,
): object => {
  const condition = wanted === 'none' ? { $patch: 'delete' } : toCondition(wanted);
  const outlived = pod.approved !== undefined && (wanted === 'none' || pod.approved !== wanted.revision);
  const turned = 'status' in condition && condition.status !== pod.announced?.status;
  return {
    metadata: { uid: pod.uid },
    status: {
      conditions: [
        {
          type: NEED_UPGRADE,
          ...condition,
          ...(turned && { lastTransitionTime: toTimestamp(now) }),
        },
        ...(outlived ? [{ type: UPGRADE_APPROVED, $patch: 'delete' }] : []),
      ],
    },
  };
};
