import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf, imagePullReasons } from '../rollout/index.ts';
import { PULL_LABEL, pullPodName, REVISION_ANNOTATION } from './pull-pod.ts';

/** How far a pull pod is. */
export type Progress =
  /** Every image is on the node. */
  | { kind: 'present' }
  | { kind: 'failed'; cause: string }
  /** `obstacle`: what it waits for, as far as anybody says; empty when nobody does. */
  | { kind: 'under-way'; obstacle: string };

/** What is kept of a pull pod. */
export interface PullView {
  namespace: string;
  name: string;
  uid: string;
  daemonSetUid: string;
  /** The pod that asks. */
  podUid: string;
  revision: string;
  terminating: boolean;
  progress: Progress;
}

/** The kubelet says so only once the image is there. */
const AFTER_THE_PULL: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PreStartHookError',
  'CrashLoopBackOff',
]);

const LONGEST_CAUSE = 300;

/** One line that fits a condition's message. */
export const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST_CAUSE ? `${line.slice(0, LONGEST_CAUSE - 1)}…` : line;
};

const isPresent = ({ imageID, state }: ContainerStatus): boolean =>
  imageID !== '' ||
  state?.running !== undefined ||
  state?.terminated?.reason === 'StartError' ||
  AFTER_THE_PULL.has(state?.waiting?.reason ?? '');

const isRefused = ({ state }: ContainerStatus): boolean => imagePullReasons.has(state?.waiting?.reason ?? '');

const causeOf = ({ image, state }: ContainerStatus): string => {
  const { reason = '', message = '' } = state?.waiting ?? {};
  return shorten(`${image}: ${message === '' ? reason : message}`);
};

const obstacleOf = ({ status }: Pod): string => {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False')
    return shorten(`${scheduled.reason ?? 'not scheduled'}: ${scheduled.message ?? ''}`);
  const waiting = status?.containerStatuses?.filter((each) => !isPresent(each)) ?? [];
  return waiting.length > 0 ? shorten(`waits for ${waiting.map(({ image }) => image).join(', ')}`) : '';
};

export const progressOf = (pod: Pod): Progress => {
  const wanted = pod.spec?.containers.length ?? 0;
  const statuses = pod.status?.containerStatuses ?? [];
  if (wanted > 0 && statuses.length === wanted && statuses.every(isPresent)) return { kind: 'present' };
  const { phase, reason, message } = pod.status ?? {};
  // Evicted under disk pressure, refused by the kubelet, past its deadline: the pod says which.
  if (phase === 'Failed' || phase === 'Succeeded')
    return { kind: 'failed', cause: shorten(`the pull pod ended: ${reason ?? phase}: ${message ?? ''}`) };
  const refused = statuses.find(isRefused);
  // The kubelet goes through all containers of a pod: what it has not come to yet may still be pulled.
  const undecided = statuses.some((each) => !isPresent(each) && !isRefused(each));
  if (refused && !undecided) return { kind: 'failed', cause: causeOf(refused) };
  return { kind: 'under-way', obstacle: refused ? causeOf(refused) : obstacleOf(pod) };
};

/** Undefined for a pod that merely carries the label: what we have not made, we do not remove. */
export const toPullView = (pod: Pod): PullView | undefined => {
  const { metadata = {} } = pod;
  const owner = controllerOf(pod);
  const revision = metadata.annotations?.[REVISION_ANNOTATION] ?? '';
  const daemonSetUid = metadata.labels?.[PULL_LABEL] ?? '';
  if (owner?.kind !== 'Pod' || daemonSetUid === '' || metadata.name !== pullPodName(owner.uid, revision))
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
