import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { AdvancedDaemonSetSpec } from '../../../src/kinds/advanced/index.ts';

export const strategyKey = 'apps.openyurt.io/update-strategy';
export const budgetKey = 'apps.openyurt.io/max-unavailable';

export type Annotations = Record<string, string | null>;

/** How the DaemonSet of a case differs from the default one. */
export interface Shape {
  /** Default `app`. */
  name?: string;
  /** Default `app:v1`; the text after `--` in the tag says how its pods behave. */
  image?: string;
  /** In addition to a settle time of one second and, for native ones, `update-strategy: auto`; null removes one. */
  annotations?: Annotations;
  /** Default OnDelete for native ones; left out of Advanced ones. */
  updateStrategy?: 'OnDelete' | 'RollingUpdate';
  minReadySeconds?: number;
  /** Of the pods: `sim.edgeset.io/start-ms` and its like. */
  podAnnotations?: Record<string, string>;
  /** Of the pods, besides `app`, which the selector asks for. */
  podLabels?: Record<string, string>;
  /** Merged into the template's spec. */
  podSpec?: Partial<NonNullable<Pod['spec']>>;
  /** Of Advanced DaemonSets. */
  rollingUpdate?: NonNullable<AdvancedDaemonSetSpec['updateStrategy']>['rollingUpdate'];
  /** Merged into the spec of Advanced DaemonSets: burstReplicas, lifecycle, scaleStrategy, ... */
  spec?: Partial<AdvancedDaemonSetSpec>;
  /** In which an Advanced DaemonSet is written. Default v1beta1. */
  version?: 'v1alpha1' | 'v1beta1';
}

/** Without removed ones. */
export const kept = (annotations: Annotations): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null));

export const templateOf = (namespace: string, shape: Shape): PodTemplateSpec => {
  const { name = 'app', image = 'app:v1', podLabels, podAnnotations, podSpec } = shape;
  return {
    metadata: { labels: { ...podLabels, app: name }, ...(podAnnotations && { annotations: podAnnotations }) },
    spec: { nodeSelector: { case: namespace }, containers: [{ name: 'app', image }], ...podSpec },
  };
};

/** The default native DaemonSet of a case: opted in, on the case's own nodes. */
export const daemonSetOf = (namespace: string, shape: Shape): DaemonSet => {
  const { name = 'app', annotations, updateStrategy = 'OnDelete', minReadySeconds } = shape;
  const wanted: Annotations = { [strategyKey]: 'auto', 'edgeset.io/settle-seconds': '1', ...annotations };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace, annotations: kept(wanted) },
    spec: {
      selector: { matchLabels: { app: name } },
      updateStrategy: { type: updateStrategy },
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      template: templateOf(namespace, shape),
    },
  };
};

/** What a case looks at in a pod. */
export interface PodView {
  name: string;
  uid: string;
  node: string;
  image: string;
  hash: string;
  ready: boolean;
  terminating: boolean;
  createdAt: number;
  object: Pod;
}

export const toPodView = (pod: Pod): PodView => {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const pinned = terms?.[0]?.matchFields?.[0]?.values?.[0];
  const isTrue = (type: string): boolean =>
    pod.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
  // Ready follows the gates with a delay, in which a pod that is changed in place has its new image already.
  const needed = ['Ready', ...(pod.spec?.readinessGates ?? []).map(({ conditionType }) => conditionType)];
  return {
    name: pod.metadata?.name ?? '',
    uid: pod.metadata?.uid ?? '',
    node: pod.spec?.nodeName ?? pinned ?? '',
    image: pod.spec?.containers[0]?.image ?? '',
    hash: pod.metadata?.labels?.['controller-revision-hash'] ?? '',
    ready: needed.every(isTrue),
    terminating: pod.metadata?.deletionTimestamp !== undefined,
    createdAt: Date.parse(String(pod.metadata?.creationTimestamp ?? 0)),
    object: pod,
  };
};
