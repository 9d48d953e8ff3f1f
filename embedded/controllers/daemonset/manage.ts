import type { NodeInfo } from '../../../src/rollout/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { StoredDaemonSet, StoredPod } from '../../resources.ts';
import { HASH_LABEL } from './history.ts';
import { byAge, isAvailable, isReady, isTerminal, isTerminating, nodeOf } from './pods.ts';
import { allowsSurge, type ParsedSpec } from './spec.ts';

const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60_000;

export interface FailedPodBackOff {
  /** Milliseconds until the key's failed pod may be deleted. 0 means now, and counts as a deletion. */
  holdMs(key: string): number;
  forget(prefix: string): void;
}

/** Exponential back-off for deleting failed pods, so that a DaemonSet doesn't fight a node that fails every pod. */
export const createFailedPodBackOff = (clock: Clock): FailedPodBackOff => {
  const known = new Map<string, { delayMs: number; at: number }>();
  return {
    holdMs(key) {
      const now = clock.now();
      const found = known.get(key);
      if (found && now - found.at < found.delayMs) return found.delayMs;
      // After twice the longest delay without a failure, the back-off resets.
      const fresh = !found || now - found.at > 2 * LONGEST_MS;
      known.set(key, { delayMs: fresh ? FIRST_MS : Math.min(LONGEST_MS, found.delayMs * 2), at: now });
      return 0;
    },
    forget(prefix) {
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
    },
  };
};

/** What one sync of a DaemonSet works from. */
export interface Observed {
  daemonSet: StoredDaemonSet;
  spec: ParsedSpec;
  nodes: ReadonlyMap<string, NodeInfo>;
  /** Pods by node, without finished ones that are terminating. */
  podsByNode: ReadonlyMap<string, readonly StoredPod[]>;
  hash: string;
  now: number;
}

/** Names of the pods to delete, and of the nodes that need a pod. */
export interface PodChanges {
  remove: string[];
  createOn: string[];
}

/** Decides whether a failed or succeeded pod is deleted now. */
export type HandleFinishedPod = (pod: StoredPod, node: string) => 'delete' | 'leave';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
export const GENERATION_LABEL = 'pod-template-generation';

/** The template generation, which predates revisions; the API server maintains it. */
export const templateGeneration = ({ metadata }: StoredDaemonSet): string | undefined => {
  const text = metadata.annotations?.[TEMPLATE_GENERATION];
  return text !== undefined && /^-?\d+$/.test(text) ? text : undefined;
};

export const isUpdated = (pod: StoredPod, hash: string, generation: string | undefined): boolean => {
  const labels = pod.metadata.labels ?? {};
  return labels[HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
};

export const groupByNode = (claimed: readonly StoredPod[]): Map<string, StoredPod[]> => {
  const groups = new Map<string, StoredPod[]>();
  for (const pod of claimed) {
    const node = nodeOf(pod);
    if (node === '' || (isTerminal(pod) && isTerminating(pod))) continue;
    const group = groups.get(node);
    if (group) group.push(pod);
    else groups.set(node, [pod]);
  }
  return groups;
};

/** With surge, deletes the old pod once it isn't ready or the new one is available. */
const manageSurge = ({ daemonSet, hash, now }: Observed, running: StoredPod[], changes: PodChanges): void => {
  let newPod: StoredPod | undefined;
  let oldPod: StoredPod | undefined;
  for (const pod of running.toSorted(byAge)) {
    const isNew = pod.metadata.labels?.[HASH_LABEL] === hash;
    if (isNew && !newPod) newPod = pod;
    else if (!isNew && !oldPod) oldPod = pod;
    else changes.remove.push(pod.metadata.name);
  }
  if (!newPod || !oldPod) return;
  if (!isReady(oldPod) || isAvailable(newPod, daemonSet.spec?.minReadySeconds ?? 0, now))
    changes.remove.push(oldPod.metadata.name);
};

const manageNode = (observed: Observed, node: NodeInfo, onFinished: HandleFinishedPod, changes: PodChanges): void => {
  const { shouldRun, shouldContinueRunning } = observed.spec.placementOn(node);
  const present = observed.podsByNode.get(node.name);
  if (!present) {
    if (shouldRun) changes.createOn.push(node.name);
    return;
  }
  if (!shouldContinueRunning) {
    for (const pod of present) if (!isTerminating(pod)) changes.remove.push(pod.metadata.name);
    return;
  }
  const running: StoredPod[] = [];
  for (const pod of present) {
    if (isTerminating(pod)) continue;
    if (!isTerminal(pod)) running.push(pod);
    else if (onFinished(pod, node.name) === 'delete') changes.remove.push(pod.metadata.name);
  }
  if (allowsSurge(observed.daemonSet)) {
    if (running.length === 0 && shouldRun) changes.createOn.push(node.name);
    else if (running.length > 1) manageSurge(observed, running, changes);
    return;
  }
  if (running.length <= 1) return;
  for (const pod of running.toSorted(byAge).slice(1)) changes.remove.push(pod.metadata.name);
};

/** The changes that leave one pod on each eligible node, and none elsewhere. */
export const manage = (observed: Observed, onFinished: HandleFinishedPod): PodChanges => {
  const changes: PodChanges = { remove: [], createOn: [] };
  for (const node of observed.nodes.values()) manageNode(observed, node, onFinished, changes);
  // No other controller deletes pending pods of a node that is gone.
  for (const [node, present] of observed.podsByNode) {
    if (observed.nodes.has(node)) continue;
    for (const pod of present) if (!pod.spec?.nodeName) changes.remove.push(pod.metadata.name);
  }
  return changes;
};
