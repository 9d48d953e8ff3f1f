import type { NodeSelectorTerm, PodSpec, Taint } from 'kubernetes-types/core/v1.d.ts';

export interface NodeFacts {
  name: string;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
}

/** Every pod of a DaemonSet tolerates these, whatever its template says. */
const ALWAYS_TOLERATED: ReadonlySet<string> = new Set(
  ['not-ready', 'unreachable', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map(
    (name) => `node.kubernetes.io/${name}`,
  ),
);

const isTolerated = ({ key, value = '', effect }: Taint, { tolerations = [] }: PodSpec): boolean =>
  ALWAYS_TOLERATED.has(key) ||
  tolerations.some(
    (one) =>
      (one.effect === undefined || one.effect === effect) &&
      (one.key === undefined || one.key === key) &&
      (one.operator === 'Exists' || (one.value ?? '') === value),
  );

const matches = ({ name, labels }: NodeFacts, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  [
    ...matchExpressions.map((one) => ({ ...one, found: labels[one.key] })),
    ...matchFields.map((one) => ({ ...one, found: name as string | undefined })),
  ].every(({ operator, values = [], found }) => {
    if (operator === 'Exists') return found !== undefined;
    if (operator === 'DoesNotExist') return found === undefined;
    const listed = found !== undefined && values.includes(found);
    return operator === 'NotIn' ? !listed : listed;
  });

/** Whether a pod with this spec may be scheduled to the node (`to begin`), or may keep running there (`to stay`). */
export const mayRunOn = (node: NodeFacts, spec: PodSpec | undefined, how: 'to stay' | 'to begin'): boolean => {
  if (!spec) return false;
  const effects = how === 'to stay' ? ['NoExecute'] : ['NoExecute', 'NoSchedule'];
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return (
    Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => node.labels[key] === value) &&
    (terms?.some((term) => matches(node, term)) ?? true) &&
    node.taints.every((taint) => !effects.includes(taint.effect) || isTolerated(taint, spec))
  );
};
