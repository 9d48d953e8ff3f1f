import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { plainText } from '../../text/index.ts';
import { IMAGE_READY, type ImageReadyReason } from '../../words/index.ts';
import { toEpochMs, toTimestamp } from './metadata.ts';

export interface ImageReady {
  /** `True`, `False`, or what another writer put there. */
  status: string;
  /** Hash label of the revision that it is about; empty if the message names none. */
  revision: string;
  reason: string;
  /** What follows the revision: the cause of a failure, otherwise empty. */
  message: string;
  /** How often the kubelet has deleted the images since they were first pulled ahead; absent: never. */
  deletions?: number;
}

const MESSAGE = /^controllerrevision: *([^;\s]+) *(?:; *(?! )([^]*))?$/;

/** What the message says after the revision of images that are pulled again. */
const DELETIONS = /^deleted by the kubelet: (\d{1,4})(?:; |$)/;

const conditionOf = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === IMAGE_READY);

/** Undefined for a pod whose images nobody requested ahead of time. */
export const imageReadyOf = (pod: Pod): ImageReady | undefined => {
  const found = conditionOf(pod);
  if (!found) return undefined;
  const [, revision = '', rest = ''] = MESSAGE.exec(found.message ?? '') ?? [];
  const [prefix = '', count] = DELETIONS.exec(rest) ?? [];
  const message = rest.slice(prefix.length);
  const deletions = Number(count ?? 0);
  return {
    status: found.status,
    revision,
    reason: found.reason ?? '',
    message,
    ...(deletions > 0 && { deletions }),
  };
};

/** What the condition says about the images of one revision. */
export interface ImageFacts {
  /** Hash label. */
  revision: string;
  state: 'requested' | 'present' | 'failed';
  /** Of a failure; otherwise empty. */
  cause: string;
  /** When the images were requested; epoch ms, 0 when unknown. */
  at: number;
  /** How often the kubelet has deleted them since they were first pulled ahead; absent: never. */
  deletions?: number;
}

/** The revision becomes part of a label selector, and anyone who may write the condition may have written it. */
const HASH = /^[a-z0-9]{1,63}$/;

const stateOf = ({ status, reason }: ImageReady): ImageFacts['state'] | undefined => {
  if (status === 'True') return 'present';
  if (status !== 'False') return undefined;
  if (reason === 'PullImageFail') return 'failed';
  return reason === 'PullingImage' ? 'requested' : undefined;
};

/** Undefined if nothing is requested, or the condition makes no sense. */
export const imageFactsOf = (pod: Pod): ImageFacts | undefined => {
  const ready = imageReadyOf(pod);
  if (!ready || !HASH.test(ready.revision)) return undefined;
  const { revision, message, deletions } = ready;
  const state = stateOf(ready);
  if (!state) return undefined;
  const at = toEpochMs(conditionOf(pod)?.lastTransitionTime);
  return { revision, state, cause: state === 'failed' ? message : '', at, ...(deletions && { deletions }) };
};

/** A strategic merge patch that removes the condition from a pod as it was read: it fails if the pod has changed since. */
export const imageReadyRemoval = (pod: { uid: string; resourceVersion: string }): object => ({
  metadata: pod,
  status: { conditions: [{ type: IMAGE_READY, $patch: 'delete' }] },
});

/** The limit of the agents' admission policy. */
const LONGEST_MESSAGE = 1024;

/** A strategic merge patch of a pod's status that changes this one condition, and no other pod of the same name. */
export const imageReadyPatch = (
  pod: { uid: string; status: string | undefined },
  report: { reason: ImageReadyReason; revision: string; cause?: string; deletions?: number },
  now: number,
): object => {
  const status = report.reason === 'PullImageSuccess' ? 'True' : 'False';
  const time = toTimestamp(now);
  const deletions = report.deletions ? `; deleted by the kubelet: ${report.deletions}` : '';
  const cause = report.cause ? `; ${report.cause}` : '';
  return {
    metadata: { uid: pod.uid },
    status: {
      conditions: [
        {
          type: IMAGE_READY,
          status,
          reason: report.reason,
          message: plainText(`controllerrevision: ${report.revision}${deletions}${cause}`)
            .slice(0, LONGEST_MESSAGE)
            .toWellFormed(),
          ...(status !== pod.status && { lastTransitionTime: time }),
        },
      ],
    },
  };
};
