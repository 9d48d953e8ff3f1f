import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { NAME_FIELD } from './affinity.ts';
import type { PodFacts } from './facts.ts';
import { askedRevision } from './image-request.ts';
import { needUpgradeOf } from './need-upgrade.ts';
import { troubleOf } from './pod-trouble.ts';
import { toEpochMs } from './timestamps.ts';

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

/** What rollouts need of a pod; undefined when nothing says which node it is for. */
export const toPodFacts = (pod: Pod): PodFacts | undefined => {
  const node = nodeOf(pod);
  if (!node) return undefined;
  const { metadata = {}, status = {} } = pod;
  const terminating = metadata.deletionTimestamp != null;
  // The native controller replaces a pod that has finished, whatever its conditions still say.
  const finished = status.phase === 'Failed' || status.phase === 'Succeeded';
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  const ready = condition?.status === 'True' && !finished;
  const readyChangedAt = toEpochMs(condition?.lastTransitionTime);
  const found =
    ready || finished || terminating ? undefined : troubleOf(pod, condition?.status === 'False' ? readyChangedAt : 0);
  const asks = terminating ? undefined : askedRevision(pod);
  const announced = needUpgradeOf(pod);
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
    detail: found?.detail ?? '',
    ...(announced && { announced }),
    ...(asks && { asks }),
  };
};
