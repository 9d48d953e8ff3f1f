import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { approvedRevision, toTimestamp, UPGRADE_APPROVED } from '../../rollout/index.ts';

/** A strategic merge patch of a pod's status that sets this condition only. The UID binds it to this pod. */
const patch = (
  metadata: { uid?: string; resourceVersion?: string },
  revision: string,
  now: number,
  probed: object,
) => ({
  metadata,
  status: {
    conditions: [
      {
        type: UPGRADE_APPROVED,
        status: 'True',
        reason: 'OwnerApproved',
        message: `controllerrevision: ${revision}`,
        lastTransitionTime: toTimestamp(now),
        ...probed,
      },
    ],
  },
});

/** Records the approval; like the delete, it is bound to the resourceVersion that was checked. */
export const approvalPatch = ({ metadata }: Pod, revision: string, now: number): object => {
  const { uid = '', resourceVersion = '' } = metadata ?? {};
  return patch({ uid, resourceVersion }, revision, now, {});
};

/**
 * Changes the pod's resourceVersion, so that a pending write with the previous one can no longer succeed. Of all fields that
 * an agent is allowed to write, this one states a fact: the owner did approve. For a native DaemonSet, nothing reacts to
 * it; for an Advanced one, it is the update itself.
 */
export const fencePatch = (uid: string, revision: string, now: number): object =>
  patch({ uid }, revision, now, { lastProbeTime: toTimestamp(now) });

export const isApproved = (pod: Pod, revision: string): boolean => approvedRevision(pod) === revision;
