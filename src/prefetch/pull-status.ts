import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf, imagePullReasons, shorten } from '../rollout/index.ts';
import { PULL_LABEL, pullPodName, REVISION_ANNOTATION } from './pull-pod.ts';

/** The progress of a pull pod. */
export type Progress =
  /** All images are on the node. */
  | { kind: 'present' }
  | { kind: 'failed'; cause: string }
  /** `blocker`: what it waits for, if anything is reported; else empty. */
  | { kind: 'pulling'; blocker: string };

/** What the cache keeps of a pull pod. */
export interface PullView {
  namespace: string;
  name: string;
  uid: string;
  daemonSetUid: string;
  /** The requesting pod. */
  podUid: string;
  revision: string;
  terminating: boolean;
  progress: Progress;
}

/** The kubelet reports these only once the image is present. */
const AFTER_PULL: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PreStartHookError',
  'CrashLoopBackOff',
]);

const MAX_CAUSE_LENGTH = 300;

/** Fits into a condition's message. */
export const toCause = (text: string): string => shorten(text, MAX_CAUSE_LENGTH);

const isPresent = ({ imageID, state }: ContainerStatus): boolean =>
  imageID !== '' ||
  state?.running !== undefined ||
  state?.terminated?.reason === 'StartError' ||
  AFTER_PULL.has(state?.waiting?.reason ?? '');

const isRefused = ({ state }: ContainerStatus): boolean => imagePullReasons.has(state?.waiting?.reason ?? '');

const causeOf = ({ image, state }: ContainerStatus): string => {
  const { reason = '', message = '' } = state?.waiting ?? {};
  return toCause(`${image}: ${message === '' ? reason : message}`);
};

const blockerOf = ({ status }: Pod): string => {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False')
    return toCause(`${scheduled.reason ?? 'not scheduled'}: ${scheduled.message ?? ''}`);
  const waiting = status?.containerStatuses?.filter((each) => !isPresent(each)) ?? [];
  return waiting.length > 0 ? toCause(`waits for ${waiting.map(({ image }) => image).join(', ')}`) : '';
};

export const progressOf = (pod: Pod): Progress => {
  const wanted = pod.spec?.containers.length ?? 0;
  const statuses = pod.status?.containerStatuses ?? [];
  if (wanted > 0 && statuses.length === wanted && statuses.every(isPresent)) return { kind: 'present' };
  const { phase, reason, message } = pod.status ?? {};
  // Evicted under disk pressure, rejected by the kubelet, past its deadline: the pod says which.
  if (phase === 'Failed' || phase === 'Succeeded')
    return { kind: 'failed', cause: toCause(`the pull pod ended: ${reason ?? phase}: ${message ?? ''}`) };
  const refused = statuses.find(isRefused);
  // The kubelet goes through all containers of a pod: the images that it has not tried yet may still be pulled.
  const undecided = statuses.some((each) => !isPresent(each) && !isRefused(each));
  if (refused && !undecided) return { kind: 'failed', cause: causeOf(refused) };
  return { kind: 'pulling', blocker: refused ? causeOf(refused) : blockerOf(pod) };
};

/** Undefined for a pod that only has the label: we remove nothing that we did not create. */
export const toPullView = (pod: Pod): PullView | undefined => {
  const { metadata = {} } = pod;
  const owner = controllerOf(pod);
  const revision = metadata.annotations?.[REVISION_ANNOTATION] ?? '';
  const daemonSetUid = metadata.labels?.[PULL_LABEL] ?? '';
  if (owner?.kind !== 'Pod' || daemonSetUid === '' || !metadata.name?.startsWith(pullPodName(owner.uid, revision)))
    return undefined;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    daemonSetUid,
    podUid: owner.uid,
    revision,
    terminating: metadata.deletionTimestamp != null,
    progress: progressOf(pod),
  };
};
