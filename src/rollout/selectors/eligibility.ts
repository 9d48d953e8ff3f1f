/**
 * On which nodes the native DaemonSet controller runs a pod: the rules of its `NodeShouldRunDaemonPod`
 * (Kubernetes 1.34), which every DaemonSet user knows. Readiness and cordon do not enter.
 */
import type { PodSpec, Toleration } from 'kubernetes-types/core/v1.d.ts';
import type { NodeInfo, Taint } from '../facts/types.ts';
import { type AffinityTerm, matchesTerm, readAffinity } from './affinity.ts';

/** What a pod template asks of a node: read once per generation of its DaemonSet. */
export interface SchedulingConstraints {
  /** `spec.nodeName`; empty for any node. */
  readonly nodeName: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Undefined: any node will do. Empty: none does. */
  readonly affinity: readonly AffinityTerm[] | undefined;
  /** The template's own and those that every DaemonSet pod gets. */
  readonly tolerations: readonly Toleration[];
}

export interface Placement {
  /** A pod is created here when there is none. */
  shouldRun: boolean;
  /** A pod that is here stays. Holds without `shouldRun` where only a NoSchedule taint is not tolerated. */
  shouldContinueRunning: boolean;
}

const exists = (key: string, effect: string): Toleration => ({ key, operator: 'Exists', effect });

const alwaysTolerated: readonly Toleration[] = [
  exists('node.kubernetes.io/not-ready', 'NoExecute'),
  exists('node.kubernetes.io/unreachable', 'NoExecute'),
  exists('node.kubernetes.io/disk-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/memory-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/pid-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/unschedulable', 'NoSchedule'),
];
const toleratedOnHostNetwork = exists('node.kubernetes.io/network-unavailable', 'NoSchedule');

/** The tolerations that the native controller adds to every DaemonSet pod with this spec. */
export const daemonTolerations = (spec: PodSpec): readonly Toleration[] =>
  spec.hostNetwork === true ? [...alwaysTolerated, toleratedOnHostNetwork] : alwaysTolerated;

export const schedulingConstraints = (spec: PodSpec): SchedulingConstraints => ({
  nodeName: spec.nodeName ?? '',
  nodeSelector: spec.nodeSelector ?? {},
  affinity: readAffinity(spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
  tolerations: [...(spec.tolerations ?? []), ...daemonTolerations(spec)],
});

// tolerationSeconds does not matter here: it says how long an eviction waits, not whether the pod belongs on the node.
const tolerates = ({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean => {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || ((operator === 'Equal' || operator === '') && value === taint.value);
};

const untolerated = (needs: SchedulingConstraints, node: NodeInfo, effects: readonly string[]): Taint | undefined =>
  node.taints.find(
    (taint) => effects.includes(taint.effect) && !needs.tolerations.some((toleration) => tolerates(toleration, taint)),
  );

const EVICTING = ['NoExecute'];
const REPELLING = ['NoExecute', 'NoSchedule'];

const missingLabel = (needs: SchedulingConstraints, node: NodeInfo): [key: string, value: string] | undefined =>
  Object.entries(needs.nodeSelector).find(([key, value]) => node.labels[key] !== value);

const fulfilsAffinity = (needs: SchedulingConstraints, node: NodeInfo): boolean =>
  needs.affinity === undefined || needs.affinity.some((term) => matchesTerm(node, term));

const belongs = (needs: SchedulingConstraints, node: NodeInfo): boolean =>
  (needs.nodeName === '' || needs.nodeName === node.name) &&
  missingLabel(needs, node) === undefined &&
  fulfilsAffinity(needs, node);

export const nodeShouldRunDaemonPod = (needs: SchedulingConstraints, node: NodeInfo): Placement => {
  if (!belongs(needs, node)) return { shouldRun: false, shouldContinueRunning: false };
  return {
    shouldRun: untolerated(needs, node, REPELLING) === undefined,
    shouldContinueRunning: untolerated(needs, node, EVICTING) === undefined,
  };
};

/** Whether a node without a pod gets one. */
// The node lifecycle controller puts these on every node that is not Ready, with NoSchedule too.
const OFFLINE_TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** The node as it would be online: its loss is told by readiness, and does not end its belonging to a DaemonSet. */
const asOnline = (node: NodeInfo): NodeInfo =>
  node.taints.some(({ key }) => OFFLINE_TAINTS.includes(key))
    ? { ...node, taints: node.taints.filter(({ key }) => !OFFLINE_TAINTS.includes(key)) }
    : node;

/**
 * Does the node belong to the DaemonSet's rollout? Where the native controller runs the pod whenever the node is online:
 * it creates none on an unreachable node (`placement`), but an offline node is skipped by a rollout, not left out of it.
 */
export const isEligible = (needs: SchedulingConstraints, node: NodeInfo): boolean =>
  nodeShouldRunDaemonPod(needs, asOnline(node)).shouldRun;

const describeTaint = ({ key, value, effect }: Taint): string => `${key}${value === '' ? '' : `=${value}`}:${effect}`;

/** A sentence that says why a node without a pod gets none; undefined where it gets one. */
export const whyNotEligible = (needs: SchedulingConstraints, seen: NodeInfo): string | undefined => {
  const node = asOnline(seen);
  if (needs.nodeName !== '' && needs.nodeName !== node.name)
    return `The pod template names node ${needs.nodeName} in spec.nodeName.`;
  const missing = missingLabel(needs, node);
  if (missing) return `The node lacks the label ${missing.join('=')} that the pod template's nodeSelector asks for.`;
  if (!fulfilsAffinity(needs, node)) return "The node fulfils no term of the pod template's required node affinity.";
  const taint = untolerated(needs, node, EVICTING) ?? untolerated(needs, node, REPELLING);
  if (!taint) return undefined;
  const consequence = taint.effect === 'NoExecute' ? 'a pod that runs here is removed' : 'a pod that runs here stays';
  return `The pod template does not tolerate the node's taint ${describeTaint(taint)}; ${consequence}.`;
};
