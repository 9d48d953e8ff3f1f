import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { NEED_UPGRADE, type NeedUpgradeReason, UPGRADE_APPROVED } from '../../words/index.ts';
import { toTimestamp } from './metadata.ts';

/** The condition as the pod has it. */
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

const ANNOUNCEMENT = /^controllerrevision: *([^;\s]+)/;

/** Undefined for a pod without the condition. */
export const needUpgradeOf = (pod: Pod): NeedUpgrade | undefined => {
  const found = pod.status?.conditions?.find(({ type }) => type === NEED_UPGRADE);
  return found && { status: found.status, reason: found.reason ?? '', message: found.message ?? '' };
};

/** The revision that the condition's message names; empty if it names none. */
export const announcedRevision = ({ message }: NeedUpgrade): string => ANNOUNCEMENT.exec(message)?.[1] ?? '';

const toCondition = ({ reason, revision }: Announcement): NeedUpgrade => ({
  status: reason === 'NewRevision' || reason === 'Halted' ? 'True' : 'False',
  reason,
  message: `controllerrevision: ${revision}`,
});

/** Does the pod already have exactly this condition? */
export const isAnnounced = (present: NeedUpgrade | undefined, wanted: Announcement): boolean => {
  const { status, reason, message } = toCondition(wanted);
  return present?.status === status && present.reason === reason && present.message === message;
};

/** An approval's message may have details after the revision. */
const APPROVAL = /^controllerrevision: ([^;\s]+)(?:;|$)/;

/** Hash label of the revision that the pod's owner approved; undefined for none. */
export const approvedRevision = (pod: Pod): string | undefined => {
  const found = pod.status?.conditions?.find(({ type }) => type === UPGRADE_APPROVED);
  return found?.status === 'True' ? APPROVAL.exec(found.message ?? '')?.[1] : undefined;
};

/**
 * A strategic merge patch of a pod's status that changes this one condition, and no other pod of the same name. It also
 * removes an approval of another revision: if that revision is announced again, its owner decides again.
 */
export const announcementPatch = (
  pod: { uid: string; announced: NeedUpgrade | undefined; approved?: string | undefined },
  wanted: Announcement | 'none',
  now: number,
): object => {
  const condition = wanted === 'none' ? { $patch: 'delete' } : toCondition(wanted);
  const isApprovalStale = pod.approved !== undefined && (wanted === 'none' || pod.approved !== wanted.revision);
  const statusChanges = 'status' in condition && condition.status !== pod.announced?.status;
  return {
    metadata: { uid: pod.uid },
    status: {
      conditions: [
        {
          type: NEED_UPGRADE,
          ...condition,
          ...(statusChanges && { lastTransitionTime: toTimestamp(now) }),
        },
        ...(isApprovalStale ? [{ type: UPGRADE_APPROVED, $patch: 'delete' }] : []),
      ],
    },
  };
};
