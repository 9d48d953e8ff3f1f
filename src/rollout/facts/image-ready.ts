import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { toTimestamp } from './timestamps.ts';

/**
 * Condition `PodImageReady` of a pod: whether the images of the target revision are on its node. It is written by the
 * agent and by the manager's pull pods, read by everybody who updates a pod, and OpenYurt's by its name and texts: the
 * message begins with the revision that it speaks of.
 */
export const IMAGE_READY = 'PodImageReady';

export type ImageReadyReason = 'PullingImage' | 'PullImageSuccess' | 'PullImageFail';

export interface ImageReady {
  /** `True`, `False`, or what another writer put there. */
  status: string;
  /** Hash label of the revision that it is true for; empty when the message names none. */
  revision: string;
  reason: string;
  /** What follows the revision: the cause of a failure, else empty. */
  message: string;
  /** The node's agent pulls, or has pulled, by itself: nobody else need. Told by the condition's lastProbeTime. */
  byAgent?: true;
}

const MESSAGE = /^controllerrevision: *([^;\s]+) *(?:; *([^]*))?$/;

/** Undefined for a pod whose images nobody asked for ahead of time. */
export const imageReadyOf = (pod: Pod): ImageReady | undefined => {
  const found = pod.status?.conditions?.find(({ type }) => type === IMAGE_READY);
  if (!found) return undefined;
  const [, revision = '', message = ''] = MESSAGE.exec(found.message ?? '') ?? [];
  const byAgent = found.lastProbeTime != null && { byAgent: true as const };
  return { status: found.status, revision, reason: found.reason ?? '', message, ...byAgent };
};

/** A strategic merge patch that takes the condition away from a pod as it was read: had it been answered since, it stays. */
export const imageReadyRemoval = (pod: { uid: string; resourceVersion: string }): object => ({
  metadata: pod,
  status: { conditions: [{ type: IMAGE_READY, $patch: 'delete' }] },
});

/** What the agents' admission policy lets through. */
const LONGEST_MESSAGE = 1024;

/** A strategic merge patch of a pod's status that touches this one condition, and no other pod of the same name. */
export const imageReadyPatch = (
  pod: { uid: string; status: string | undefined },
  report: { reason: ImageReadyReason; revision: string; cause?: string; byAgent?: boolean },
  now: number,
): object => {
  const status = report.reason === 'PullImageSuccess' ? 'True' : 'False';
  const time = toTimestamp(now);
  const cause = report.cause ? `; ${report.cause}` : '';
  return {
    metadata: { uid: pod.uid },
    status: {
      conditions: [
        {
          type: IMAGE_READY,
          status,
          reason: report.reason,
          message: `controllerrevision: ${report.revision}${cause}`.slice(0, LONGEST_MESSAGE).toWellFormed(),
          // Null takes back what an agent has said.
          lastProbeTime: report.byAgent ? time : null,
          ...(status !== pod.status && { lastTransitionTime: time }),
        },
      ],
    },
  };
};
