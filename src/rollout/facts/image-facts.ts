import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { IMAGE_READY, imageReadyOf } from './image-ready.ts';
import { toEpochMs } from './timestamps.ts';

/** What condition PodImageReady of a pod says of the images of one revision. */
export interface ImageFacts {
  /** Hash label. */
  revision: string;
  /** `asked`: for anybody who can pull; `pulling`: the node's agent does. */
  state: 'asked' | 'pulling' | 'present' | 'failed';
  /** Of a failure; else empty. */
  cause: string;
  /** The node's agent said so. */
  byAgent: boolean;
  /** When it was asked for, or the agent spoke of it last; epoch ms, 0 when unknown. */
  at: number;
}

/** It becomes part of a label selector, and anybody who may write the condition may have written it. */
const HASH = /^[a-z0-9]{1,63}$/;

const stateOf = (status: string, reason: string, byAgent: boolean): ImageFacts['state'] | undefined => {
  if (status === 'True') return 'present';
  if (status !== 'False') return undefined;
  if (reason === 'PullImageFail') return 'failed';
  if (reason !== 'PullingImage') return undefined;
  return byAgent ? 'pulling' : 'asked';
};

/** Undefined where nothing is asked, or what stands there means nothing. */
export const imageFactsOf = (pod: Pod): ImageFacts | undefined => {
  const ready = imageReadyOf(pod);
  if (!ready || !HASH.test(ready.revision)) return undefined;
  const { status, reason, revision, message, byAgent = false } = ready;
  const state = stateOf(status, reason, byAgent);
  if (!state) return undefined;
  const condition = pod.status?.conditions?.find(({ type }) => type === IMAGE_READY);
  const at = toEpochMs(byAgent ? condition?.lastProbeTime : condition?.lastTransitionTime);
  return { revision, state, cause: state === 'failed' ? message : '', byAgent, at };
};
