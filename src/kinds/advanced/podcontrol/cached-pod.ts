import type { Container, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { PodProjection } from '../../../controller/index.ts';
import { controllerOf, type PodFacts, toPodFacts } from '../../../rollout/index.ts';
import { gate, ownKey } from '../../../words/index.ts';
import { otherDaemonSetOf } from '../other-owner.ts';
import { FINISHED_PODS_ANNOTATION } from '../placement/failed-pod-backoff.ts';

/** The owner of a pod that the selector matches: this DaemonSet, nobody, or another DaemonSet of either kind. */
export type Ownership = 'ours' | 'orphan' | 'other';

/** What is cached of a pod: the facts for the rollout, and what in-place updates and hooks read. */
export interface CachedPod {
  ownership: Ownership;
  facts: PodFacts;
  /** Trimmed to the fields that are read. */
  pod: Pod;
  /** Where the gate of updates in place is in the list of conditions; -1: it has no condition. */
  gateAt: number;
}

const KEPT_CONDITIONS: ReadonlySet<string> = new Set([
  ...Object.values(gate),
  'Ready',
  'ContainersReady',
  'PodResizePending',
  'PodResizeInProgress',
]);
const PRIORITY = 'KRUISE_CONTAINER_PRIORITY';

const KEPT_ANNOTATIONS: ReadonlySet<string> = new Set([FINISHED_PODS_ANNOTATION, ownKey.fence]);

const keptAnnotations = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(annotations).filter(
      ([key]) => KEPT_ANNOTATIONS.has(key) || key.split('/')[0]?.endsWith('apps.kruise.io'),
    ),
  );

const keptContainer = ({ name, image, resources, restartPolicy, env }: Container): Container => {
  const priority = env?.filter((entry) => entry.name === PRIORITY) ?? [];
  return {
    name,
    ...(image !== undefined && { image }),
    ...(resources && { resources }),
    ...(restartPolicy !== undefined && { restartPolicy }),
    ...(priority.length > 0 && { env: priority }),
  };
};

const trimmed = ({ metadata = {}, spec, status = {} }: Pod): Pod => {
  const { annotations, managedFields: _, ...rest } = metadata;
  const { conditions, containerStatuses, initContainerStatuses, phase } = status;
  const { observedGeneration } = status as { observedGeneration?: number };
  return {
    metadata: { ...rest, ...(annotations && { annotations: keptAnnotations(annotations) }) },
    spec: {
      containers: (spec?.containers ?? []).map(keptContainer),
      ...(spec?.initContainers && { initContainers: spec.initContainers.map(keptContainer) }),
      ...(spec?.readinessGates && { readinessGates: spec.readinessGates }),
    },
    status: {
      conditions: (conditions ?? []).filter(({ type }) => KEPT_CONDITIONS.has(type)),
      ...(phase !== undefined && { phase }),
      ...(containerStatuses && { containerStatuses }),
      ...(initContainerStatuses && { initContainerStatuses }),
      ...(observedGeneration !== undefined && { observedGeneration }),
    },
  };
};

const ownershipOf = (pod: Pod, uid: string): Ownership | undefined => {
  const owner = controllerOf(pod);
  if (owner === undefined) return 'orphan';
  if (owner.uid === uid) return 'ours';
  return otherDaemonSetOf(pod, uid) ? 'other' : undefined;
};

/** Caches the DaemonSet's own pods, orphans that it may adopt, and pods of other DaemonSets, which may be handing them over. */
export const cachedPods: PodProjection<CachedPod> = {
  project(pod, uid) {
    const ownership = ownershipOf(pod, uid);
    const facts = ownership && toPodFacts(pod);
    const gateAt = pod.status?.conditions?.findIndex(({ type }) => type === gate.inPlace) ?? -1;
    return facts && { ownership, facts, pod: trimmed(pod), gateAt };
  },
  facts: ({ ownership, facts }) => (ownership === 'ours' ? facts : undefined),
};
