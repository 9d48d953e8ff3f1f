import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

/** A pod of the DaemonSet, as a check sees it. */
export interface PodFacts {
  uid: string;
  name: string;
  node: string;
  /** `controller-revision-hash` */
  hash: string;
  terminating: boolean;
  /** Failed or Succeeded. */
  ended: boolean;
  /** The preDelete hook of the pod has its turn. */
  preparing: boolean;
  /** Since when the pod is Ready, epoch ms; undefined while it is not. */
  readySince: number | undefined;
}

export const IN_PLACE_GATE = 'InPlaceUpdateReady';
export const LIFECYCLE_GATE = 'KruisePodReady';
export const HASH_LABEL = 'controller-revision-hash';
const LIFECYCLE_STATE = 'lifecycle.apps.kruise.io/state';

export const hashIn = (object: { metadata?: ObjectMeta } | undefined): string | undefined =>
  object?.metadata?.labels?.[HASH_LABEL];

export const isPreparingDelete = (object: { metadata?: ObjectMeta } | undefined): boolean =>
  object?.metadata?.labels?.[LIFECYCLE_STATE] === 'PreparingDelete';

/** The pod has this condition with this status, or a patch sets it. */
export const hasCondition = (object: Node | Pod | undefined, type: string, status = 'True'): boolean =>
  (object?.status?.conditions as readonly { type: string; status: string }[] | undefined)?.some(
    (condition) => condition.type === type && condition.status === status,
  ) ?? false;

/** The node that the pod runs on, or is to run on. */
export const nodeOf = (pod: Pod): string => {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const field = terms?.flatMap((term) => term.matchFields ?? []).find(({ key }) => key === 'metadata.name');
  return pod.spec?.nodeName ?? field?.values?.[0] ?? '';
};

export const isControlledBy = (object: { metadata?: ObjectMeta }, uid: string | undefined): boolean =>
  uid !== undefined &&
  (object.metadata?.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) ?? false);

export const podFactsOf = (pod: Pod): Omit<PodFacts, 'readySince'> => ({
  uid: pod.metadata?.uid ?? '',
  name: pod.metadata?.name ?? '',
  node: nodeOf(pod),
  hash: hashIn(pod) ?? '',
  terminating: pod.metadata?.deletionTimestamp != null,
  preparing: isPreparingDelete(pod),
  ended: pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded',
});

/** The pod counts as available: it has been Ready for `minReadyMs`, and is not terminating. */
export const isAvailable = (
  { terminating, readySince }: Pick<PodFacts, 'terminating' | 'readySince'>,
  minReadyMs: number,
  now: number,
): boolean => !terminating && readySince !== undefined && (minReadyMs <= 0 || now - readySince >= minReadyMs);

/** The DaemonSet controller leaves such a pod out: it has ended and is being deleted, and only a finalizer may still hold it. */
export const isDeletedTerminal = ({ terminating, ended }: Pick<PodFacts, 'terminating' | 'ended'>): boolean =>
  terminating && ended;

export const isLive = ({ terminating, ended }: Pick<PodFacts, 'terminating' | 'ended'>): boolean =>
  !terminating && !ended;
