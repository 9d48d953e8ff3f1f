import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { gate } from '../../words/index.ts';
import { NAME_FIELD } from './affinity.ts';
import { type ImageFacts, imageFactsOf } from './image-ready.ts';
import { type ImageReport, imageReportsOf } from './image-reports.ts';
import { toEpochMs } from './metadata.ts';
import { approvedRevision, type NeedUpgrade, needUpgradeOf } from './need-upgrade.ts';
import { gateCondition, gatesOf, gatesOpen, hasGate, isPreparing, withoutStaleStatuses } from './openkruise.ts';
import { notPlaced, type PodTrouble, troubleOf } from './pod-trouble.ts';

/** What rollouts need from a pod that the DaemonSet owns (controller owner reference by UID). */
export interface PodFacts {
  uid: string;
  name: string;
  resourceVersion: string;
  /** The node that it is bound or pinned to. */
  node: string;
  /** Label `controller-revision-hash`; empty when absent. */
  revision: string;
  /** Epoch ms, by the API server's clock. */
  createdAt: number;
  /** It has a deletionTimestamp. */
  terminating: boolean;
  /** Condition Ready is True, every readiness gate of ours is open, and the pod has not finished. */
  ready: boolean;
  /** When that last changed, by the clock of its writer; epoch ms, 0 when unknown. */
  readyChangedAt: number;
  trouble: PodTrouble | undefined;
  /** A short text from the pod's status, for people: its trouble, or why it is not scheduled; otherwise empty. */
  detail: string;
  /** Condition PodNeedUpgrade of the pod; undefined while nothing is announced. */
  announced?: NeedUpgrade;
  /** Hash of the revision that its owner approved. */
  approved?: string;
  /** Condition PodImageReady of the pod; undefined while no images are requested. */
  images?: ImageFacts;
  /** What its containers run, as far as the kubelet has said it; absent while that is not known. */
  imageReports?: readonly ImageReport[];
  /** It has the readiness gate that in-place updates need. */
  hasInPlaceGate?: true;
  /** That gate is closed: an in-place update is running. */
  updatingInPlace?: boolean;
  /** When that gate was last opened or closed, epoch ms. */
  gateChangedAt?: number;
  /** It waits for its user's controller before it is deleted: it counts as down, although it does not terminate yet. */
  preparingDelete?: boolean;
  /** It has finished by itself. */
  finished?: 'Failed' | 'Succeeded';
  /** It is pinned to its node and not bound to it yet. */
  unbound?: true;
}

const REVISION_LABEL = 'controller-revision-hash';

/** The node of a DaemonSet pod: the one it is bound to, otherwise the one that its required affinity pins it to. */
export const nodeOf = (pod: Pod): string | undefined => {
  if (pod.spec?.nodeName) return pod.spec.nodeName;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const pin = required?.nodeSelectorTerms
    .flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === NAME_FIELD && operator === 'In');
  const [name, ...others] = pin?.values ?? [];
  return others.length === 0 ? name : undefined;
};

const gateTimes = (pod: Pod): number[] =>
  gatesOf(pod).map((name) => toEpochMs(gateCondition(pod, name)?.lastTransitionTime));

const inPlaceFacts = (pod: Pod): Pick<PodFacts, 'hasInPlaceGate' | 'updatingInPlace' | 'gateChangedAt'> | undefined => {
  if (!hasGate(pod.spec, gate.inPlace)) return undefined;
  const { status, lastTransitionTime } = gateCondition(pod, gate.inPlace) ?? {};
  const gateChangedAt = toEpochMs(lastTransitionTime);
  return {
    hasInPlaceGate: true,
    ...(status === 'False' && { updatingInPlace: true }),
    ...(gateChangedAt > 0 && { gateChangedAt }),
  };
};

/**
 * Its containers have ended for good and it is being deleted: only a finalizer or the kubelet's last write keeps the object. Like
 * the DaemonSet controller, which replaces it at once, nothing counts it and nothing waits for it.
 */
export const isDeletedTerminal = ({ terminating, finished }: Pick<PodFacts, 'terminating' | 'finished'>): boolean =>
  terminating && finished !== undefined;

/** Undefined if the pod is neither bound nor pinned to a node. */
export const toPodFacts = (pod: Pod): PodFacts | undefined => {
  const node = nodeOf(pod);
  if (!node) return undefined;
  const { metadata = {}, status = {} } = pod;
  const terminating = metadata.deletionTimestamp != null;
  // A pod that has finished is replaced, whatever its conditions still say.
  const { phase } = status;
  const finished = phase === 'Failed' || phase === 'Succeeded' ? phase : undefined;
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  const isTrue = condition?.status === 'True';
  const ready = isTrue && !finished && gatesOpen(pod);
  const change = inPlaceFacts(pod);
  const images = imageFactsOf(pod);
  const imageReports = terminating || finished || change?.updatingInPlace ? [] : imageReportsOf(pod);
  const conditionChangedAt = toEpochMs(condition?.lastTransitionTime);
  const readyChangedAt = Math.max(conditionChangedAt, ...(isTrue ? gateTimes(pod) : []));
  const found =
    ready || finished || terminating
      ? undefined
      : troubleOf(withoutStaleStatuses(pod), condition?.status === 'False' ? readyChangedAt : 0);
  const announced = needUpgradeOf(pod);
  const approved = approvedRevision(pod);
  return {
    uid: metadata.uid ?? '',
    name: metadata.name ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    node,
    revision: metadata.labels?.[REVISION_LABEL] ?? '',
    createdAt: toEpochMs(metadata.creationTimestamp),
    terminating,
    ready,
    readyChangedAt,
    trouble: found?.trouble,
    detail: found?.detail ?? (terminating ? '' : notPlaced(pod)),
    ...(announced && { announced }),
    ...(approved !== undefined && { approved }),
    ...(images && { images }),
    ...(imageReports.length > 0 && { imageReports }),
    ...change,
    ...(isPreparing(pod) && { preparingDelete: true }),
    ...(finished && { finished }),
    ...(!pod.spec?.nodeName && { unbound: true }),
  };
};
