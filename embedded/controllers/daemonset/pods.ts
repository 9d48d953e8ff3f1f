import type { StoredPod } from '../../resources.ts';
import { fromTime } from '../../resources.ts';

const readyCondition = (pod: StoredPod) => pod.status?.conditions?.find(({ type }) => type === 'Ready');

export const isReady = (pod: StoredPod): boolean => readyCondition(pod)?.status === 'True';

export const isAvailable = (pod: StoredPod, minReadySeconds: number, now: number): boolean => {
  if (!isReady(pod)) return false;
  return minReadySeconds === 0 || fromTime(readyCondition(pod)?.lastTransitionTime) + minReadySeconds * 1000 <= now;
};

export const isTerminal = ({ status }: StoredPod): boolean =>
  status?.phase === 'Failed' || status?.phase === 'Succeeded';

export const isTerminating = ({ metadata }: StoredPod): boolean => metadata.deletionTimestamp != null;

/** The node that the pod is bound to, or else the one that its node affinity names. */
export const nodeOf = ({ spec }: StoredPod): string => {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const { matchFields = [] } of terms)
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In') return values.length === 1 ? (values[0] ?? '') : '';
  return '';
};

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Orders a node's pods; the first one counts: bound before unbound, then oldest first. */
export const byAge = (a: StoredPod, b: StoredPod): number =>
  compare(a.spec?.nodeName ? 0 : 1, b.spec?.nodeName ? 0 : 1) ||
  compare(String(a.metadata.creationTimestamp), String(b.metadata.creationTimestamp)) ||
  compare(a.metadata.name, b.metadata.name);
