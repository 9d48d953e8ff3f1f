import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { approvedRevision, toTimestamp, UPGRADE_APPROVED } from '../../rollout/index.ts';

/** A strategic merge patch of a pod's status that touches this one condition, of this pod and no other of its name. */
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

/** Bound to the version of the pod that was looked at, like a delete. */
export const approvalPatch = ({ metadata }: Pod, revision: string, now: number): object => {
  const { uid = '', resourceVersion = '' } = metadata ?? {};
  return patch({ uid, resourceVersion }, revision, now, {});
};

/**
 * Changes the version of the pod, so that an act that is still under way with the one before cannot be carried out. Of
 * what an agent may write it is the one thing that is true: the owner did approve. Nobody acts on it for a native
 * DaemonSet, and for an Advanced one it is the act itself.
 */
export const fencePatch = (uid: string, revision: string, now: number): object =>
  patch({ uid }, revision, now, { lastProbeTime: toTimestamp(now) });

export const isApproved = (pod: Pod, revision: string): boolean => approvedRevision(pod) === revision;
