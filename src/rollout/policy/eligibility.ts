/**
 * On which nodes the native DaemonSet controller runs a pod: the rules of its `NodeShouldRunDaemonPod`
 * (Kubernetes 1.34). They ignore readiness and cordons.
 */
import type { PodSpec, Toleration } from 'kubernetes-types/core/v1.d.ts';
import { type AffinityTerm, matchesTerm, readAffinity } from '../facts/affinity.ts';
import type { NodeInfo, Taint } from '../facts/node.ts';
import type { PolicyError } from './values.ts';

/** Labels, requirements and tolerations of a template: each is compared with every node. */
const MOST = 1000;

/** What a pod template requires of a node; computed once for each generation of its DaemonSet. */
export interface SchedulingConstraints {
  /** `spec.nodeName`; empty for any node. */
  readonly nodeName: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Undefined: any node matches. Empty: none does. */
  readonly affinity: readonly AffinityTerm[] | undefined;
  /** The template's own tolerations, and those that every DaemonSet pod gets. */
  readonly tolerations: readonly Toleration[];
  /** How many of all there are, if they are more than can be compared with every node: it is then unknown which nodes match. */
  readonly tooMany?: number;
}

export interface Placement {
  /** A node without a pod gets one. */
  shouldRun: boolean;
  /** A running pod stays. True without `shouldRun` if only a NoSchedule taint is not tolerated. */
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

export const schedulingConstraints = (spec: PodSpec): SchedulingConstraints => {
  const { nodeName = '', nodeSelector = {}, tolerations = [] } = spec;
  const affinity = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const size = (affinity?.nodeSelectorTerms ?? []).reduce(
    (sum, { matchExpressions = [], matchFields = [] }) => sum + matchExpressions.length + matchFields.length,
    Object.keys(nodeSelector).length + tolerations.length,
  );
  if (size > MOST) return { nodeName, nodeSelector: {}, affinity: [], tolerations: [], tooMany: size };
  return {
    nodeName,
    nodeSelector,
    affinity: readAffinity(affinity),
    tolerations: [...tolerations, ...daemonTolerations(spec)],
  };
};

/** Why the rollout is held; undefined if the template can be compared with every node. */
export const tooManyNeeds = ({ tooMany }: SchedulingConstraints): PolicyError | undefined =>
  tooMany === undefined
    ? undefined
    : {
        field: 'spec.template.spec',
        value: `${tooMany} labels, requirements and tolerations`,
        problem: 'has more than can be compared with every node',
        remedy: `give at most ${MOST} in nodeSelector, the required nodeAffinity and tolerations together`,
      };

// tolerationSeconds does not matter: it delays an eviction, and does not say whether the pod belongs on the node.
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

const matchesAffinity = (needs: SchedulingConstraints, node: NodeInfo): boolean =>
  needs.affinity === undefined || needs.affinity.some((term) => matchesTerm(node, term));

const matchesTemplate = (needs: SchedulingConstraints, node: NodeInfo): boolean =>
  (needs.nodeName === '' || needs.nodeName === node.name) &&
  missingLabel(needs, node) === undefined &&
  matchesAffinity(needs, node);

export const nodeShouldRunDaemonPod = (needs: SchedulingConstraints, node: NodeInfo): Placement => {
  if (needs.tooMany !== undefined) return { shouldRun: false, shouldContinueRunning: true };
  if (!matchesTemplate(needs, node)) return { shouldRun: false, shouldContinueRunning: false };
  return {
    shouldRun: untolerated(needs, node, REPELLING) === undefined,
    shouldContinueRunning: untolerated(needs, node, EVICTING) === undefined,
  };
};

// The node lifecycle controller adds these to every node that is not Ready, with NoSchedule too.
const OFFLINE_TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** The node as if it were online: a lost node shows in its readiness and still matchesTemplate to the DaemonSet. */
const asOnline = (node: NodeInfo): NodeInfo =>
  node.taints.some(({ key }) => OFFLINE_TAINTS.includes(key))
    ? { ...node, taints: node.taints.filter(({ key }) => !OFFLINE_TAINTS.includes(key)) }
    : node;

/**
 * Does the node belong to the DaemonSet's rollout? It does if the native controller runs the pod while the node is online.
 * The controller creates no pod on an unreachable node, but a rollout skips an offline node and does not leave it out.
 */
export const isEligible = (needs: SchedulingConstraints, node: NodeInfo): boolean =>
  nodeShouldRunDaemonPod(needs, asOnline(node)).shouldRun;

const describeTaint = ({ key, value, effect }: Taint): string => `${key}${value === '' ? '' : `=${value}`}:${effect}`;

/** A sentence that says why the node gets no pod; undefined if it gets one. */
export const whyNotEligible = (needs: SchedulingConstraints, seen: NodeInfo): string | undefined => {
  const node = asOnline(seen);
  if (needs.tooMany !== undefined) return 'The pod template asks for more than can be compared with every node.';
  if (needs.nodeName !== '' && needs.nodeName !== node.name)
    return `The pod template names node ${needs.nodeName} in spec.nodeName.`;
  const missing = missingLabel(needs, node);
  if (missing) return `The node lacks the label ${missing.join('=')} that the pod template's nodeSelector requires.`;
  if (!matchesAffinity(needs, node)) return "The node matches no term of the pod template's required node affinity.";
  const taint = untolerated(needs, node, EVICTING) ?? untolerated(needs, node, REPELLING);
  if (!taint) return undefined;
  const consequence = taint.effect === 'NoExecute' ? 'a pod that runs here is removed' : 'a pod that runs here stays';
  return `The pod template does not tolerate the node's taint ${describeTaint(taint)}; ${consequence}.`;
};
