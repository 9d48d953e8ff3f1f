import type { NodeInfo } from '../../../rollout/index.ts';
import type { Clock } from '../../../runtime/index.ts';
import type { StoredDaemonSet, StoredPod } from '../../resources.ts';
import { HASH_LABEL } from './history.ts';
import { byAge, isAvailable, isReady, isTerminal, isTerminating, nodeOf } from './pods.ts';
import { allowsSurge, type ParsedSpec } from './spec.ts';

const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60_000;

/** Keeps a DaemonSet from fighting with a node that fails every pod: the time between two deletes of failed ones doubles. */
export const createFailedPodBackOff = (clock: Clock) => {
  const known = new Map<string, { delayMs: number; at: number }>();
  return {
    /** Milliseconds to wait before the next failed pod of this key is deleted; 0 for now, which counts as done. */
    holdMs(key: string): number {
      const now = clock.now();
      const found = known.get(key);
      if (found && now - found.at < found.delayMs) return found.delayMs;
      // As long without a failure again as the back-off can be: it begins anew.
      const fresh = !found || now - found.at > 2 * LONGEST_MS;
      known.set(key, { delayMs: fresh ? FIRST_MS : Math.min(LONGEST_MS, found.delayMs * 2), at: now });
      return 0;
    },
    forget(prefix: string): void {
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
    },
  };
};
export type FailedPodBackOff = ReturnType<typeof createFailedPodBackOff>;

/** One look at a DaemonSet. */
export interface Observed {
  daemonSet: StoredDaemonSet;
  spec: ParsedSpec;
  nodes: ReadonlyMap<string, NodeInfo>;
  /** Pods by node, without those that are over and on their way out. */
  podsByNode: ReadonlyMap<string, readonly StoredPod[]>;
  hash: string;
  now: number;
}

/** Names of pods to delete and of nodes that need one. */
export interface PodChanges {
  remove: string[];
  createOn: string[];
}

/** What a failed or finished pod asks for. */
export type HandleFinishedPod = (pod: StoredPod, node: string) => 'delete' | 'leave';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
export const GENERATION_LABEL = 'pod-template-generation';

/** Counts the changes of the template since before there were revisions; the API server keeps it. */
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

/** Of an old and a new pod on one node, when surging: the old one goes once it does not serve or the new one does. */
const reviewSurge = ({ daemonSet, hash, now }: Observed, running: StoredPod[], plan: PodChanges): void => {
  let newPod: StoredPod | undefined;
  let oldPod: StoredPod | undefined;
  for (const pod of running.toSorted(byAge)) {
    const isNew = pod.metadata.labels?.[HASH_LABEL] === hash;
    if (isNew && !newPod) newPod = pod;
    else if (!isNew && !oldPod) oldPod = pod;
    else plan.remove.push(pod.metadata.name);
  }
  if (!newPod || !oldPod) return;
  if (!isReady(oldPod) || isAvailable(newPod, daemonSet.spec?.minReadySeconds ?? 0, now))
    plan.remove.push(oldPod.metadata.name);
};

const reviewNode = (scene: Observed, node: NodeInfo, onFinished: HandleFinishedPod, plan: PodChanges): void => {
  const { shouldRun, shouldContinueRunning } = scene.spec.placementOn(node);
  const present = scene.podsByNode.get(node.name);
  if (!present) {
    if (shouldRun) plan.createOn.push(node.name);
    return;
  }
  if (!shouldContinueRunning) {
    for (const pod of present) if (!isTerminating(pod)) plan.remove.push(pod.metadata.name);
    return;
  }
  const running: StoredPod[] = [];
  for (const pod of present) {
    if (isTerminating(pod)) continue;
    if (!isTerminal(pod)) running.push(pod);
    else if (onFinished(pod, node.name) === 'delete') plan.remove.push(pod.metadata.name);
  }
  if (allowsSurge(scene.daemonSet)) {
    if (running.length === 0 && shouldRun) plan.createOn.push(node.name);
    else if (running.length > 1) reviewSurge(scene, running, plan);
    return;
  }
  if (running.length <= 1) return;
  for (const pod of running.toSorted(byAge).slice(1)) plan.remove.push(pod.metadata.name);
};

/** One pod on each node that should have one, and none elsewhere. */
export const manage = (scene: Observed, onFinished: HandleFinishedPod): PodChanges => {
  const plan: PodChanges = { remove: [], createOn: [] };
  for (const node of scene.nodes.values()) reviewNode(scene, node, onFinished, plan);
  // Nobody else deletes pods that wait for a node that is gone.
  for (const [node, present] of scene.podsByNode) {
    if (scene.nodes.has(node)) continue;
    for (const pod of present) if (!pod.spec?.nodeName) plan.remove.push(pod.metadata.name);
  }
  return plan;
};
