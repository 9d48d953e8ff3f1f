import type { NodeSelectorTerm, PodSpec, Taint } from 'kubernetes-types/core/v1.d.ts';
import type { ClusterState, NodeState } from './cluster-state.ts';

/** What every pod of a DaemonSet tolerates, whatever its template says. */
const always = ['not-ready', 'unreachable', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map(
  (name) => `node.kubernetes.io/${name}`,
);

const isTolerated = ({ key, value = '', effect }: Taint, { tolerations = [] }: PodSpec): boolean =>
  always.includes(key) ||
  tolerations.some(
    (one) =>
      (one.effect === undefined || one.effect === effect) &&
      (one.key === undefined || one.key === key) &&
      (one.operator === 'Exists' || (one.value ?? '') === value),
  );

const matches = ({ name, labels }: NodeState, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  [
    ...matchExpressions.map((one) => ({ ...one, found: labels[one.key] })),
    ...matchFields.map((one) => ({ ...one, found: name as string | undefined })),
  ].every(({ operator, values = [], found }) => {
    if (operator === 'Exists') return found !== undefined;
    if (operator === 'DoesNotExist') return found === undefined;
    const listed = found !== undefined && values.includes(found);
    return operator === 'NotIn' ? !listed : listed;
  });

/** Whether a pod of the DaemonSet may stay on the node; `to begin` asks whether one may come there, too. */
export const belongs = (state: ClusterState, node: NodeState, how: 'to stay' | 'to begin'): boolean => {
  const spec = state.daemonSet?.spec?.template.spec;
  if (!spec) return false;
  const effects = how === 'to stay' ? ['NoExecute'] : ['NoExecute', 'NoSchedule'];
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return (
    Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => node.labels[key] === value) &&
    (terms?.some((term) => matches(node, term)) ?? true) &&
    node.taints.every((taint) => !effects.includes(taint.effect) || isTolerated(taint, spec))
  );
};

/** Nodes that are to have a pod, or that keep the one they have. */
export const eligible = (state: ClusterState): NodeState[] => {
  const occupied = new Set([...state.pods.values()].map(({ node }) => node));
  return [...state.nodes.values()].filter((node) =>
    belongs(state, node, occupied.has(node.name) ? 'to stay' : 'to begin'),
  );
};
