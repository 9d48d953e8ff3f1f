import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { NAME_FIELD } from '../selectors/affinity.ts';
import { imageFactsOf } from './image-ready.ts';
import { toEpochMs } from './metadata.ts';
import { approvedRevision, needUpgradeOf } from './need-upgrade.ts';
import { gate, gateCondition, gatesOf, gatesOpen, hasGate, isPreparing, withoutStaleStatuses } from './openkruise.ts';
import { notPlaced, troubleOf } from './pod-trouble.ts';
import type { PodFacts } from './types.ts';

const REVISION_LABEL = 'controller-revision-hash';

/** The node that a DaemonSet pod is for: where it is bound, else the one that its required affinity pins it to. */
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

const changeInPlace = (
  pod: Pod,
): Pick<PodFacts, 'hasInPlaceGate' | 'updatingInPlace' | 'gateChangedAt'> | undefined => {
  if (!hasGate(pod.spec, gate.inPlace)) return undefined;
  const { status, lastTransitionTime } = gateCondition(pod, gate.inPlace) ?? {};
  const gateChangedAt = toEpochMs(lastTransitionTime);
  return {
    hasInPlaceGate: true,
    ...(status === 'False' && { updatingInPlace: true }),
    ...(gateChangedAt > 0 && { gateChangedAt }),
  };
};

/** What rollouts need of a pod; undefined when nothing says which node it is for. */
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
  const change = changeInPlace(pod);
  const images = imageFactsOf(pod);
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
    ...change,
    ...(isPreparing(pod) && { preparingDelete: true }),
    ...(finished && { finished }),
    ...(!pod.spec?.nodeName && { unbound: true }),
  };
};
