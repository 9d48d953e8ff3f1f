import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { approvedRevision, toTimestamp } from '../../rollout/index.ts';
import { UPGRADE_APPROVED } from '../../words/index.ts';

interface Written {
  status: 'True' | 'False';
  reason: 'OwnerApproved' | 'Withdrawn';
  lastProbeTime?: string;
}

/** A strategic merge patch of a pod's status that sets this condition only. The UID binds it to this pod. */
const patch = (
  metadata: { uid?: string; resourceVersion?: string },
  revision: string,
  now: number,
  written: Written,
) => ({
  metadata,
  status: {
    conditions: [
      {
        type: UPGRADE_APPROVED,
        message: `controllerrevision: ${revision}`,
        lastTransitionTime: toTimestamp(now),
        ...written,
      },
    ],
  },
});

const versionOf = ({ metadata }: Pod): { uid: string; resourceVersion: string } => {
  const { uid = '', resourceVersion = '' } = metadata ?? {};
  return { uid, resourceVersion };
};

/** Records the approval; like the delete, it is bound to the resourceVersion that was checked. */
export const approvalPatch = (pod: Pod, revision: string, now: number): object =>
  patch(versionOf(pod), revision, now, { status: 'True', reason: 'OwnerApproved' });

/**
 * Changes the pod's resourceVersion, so that a pending delete with the previous one can no longer succeed. Of all fields that
 * an agent is allowed to write, this one states a fact: the owner did approve. For a native DaemonSet, nothing reacts to it.
 */
export const fencePatch = (uid: string, revision: string, now: number): object =>
  patch({ uid }, revision, now, {
    status: 'True',
    reason: 'OwnerApproved',
    lastProbeTime: toTimestamp(now),
  });

/**
 * The same for a pending approval, which for an Advanced DaemonSet is the update itself. By now the deadline may have been
 * moved, the owner's window may be over, or the device may not be safe: so this one approves nothing. It is bound to the
 * resourceVersion, too: an approval that has arrived stays.
 */
export const withdrawalPatch = (pod: Pod, revision: string, now: number): object =>
  patch(versionOf(pod), revision, now, {
    status: 'False',
    reason: 'Withdrawn',
    lastProbeTime: toTimestamp(now),
  });

export const isApproved = (pod: Pod, revision: string): boolean => approvedRevision(pod) === revision;
