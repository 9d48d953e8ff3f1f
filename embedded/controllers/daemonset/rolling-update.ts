import type { StoredPod } from '../../resources.ts';
import { isUpdated, type Observed, type PodChanges, templateGeneration } from './manage.ts';
import { isAvailable, isTerminating } from './pods.ts';
import { rollingUpdateLimits } from './spec.ts';

interface Pair {
  newPod: StoredPod | undefined;
  oldPod: StoredPod | undefined;
}

/** The node's live old and new pod; undefined when it has several of either, which `manage` cleans up first. */
const pairOn = (present: readonly StoredPod[], hash: string, generation: string | undefined): Pair | undefined => {
  let newPod: StoredPod | undefined;
  let oldPod: StoredPod | undefined;
  for (const pod of present) {
    if (isTerminating(pod)) continue;
    if (isUpdated(pod, hash, generation)) {
      if (newPod) return undefined;
      newPod = pod;
    } else {
      if (oldPod) return undefined;
      oldPod = pod;
    }
  }
  return { newPod, oldPod };
};

/** All nodes that have pods or should have one. */
const nodesInQuestion = ({ nodes, podsByNode, spec }: Observed): { names: Set<string>; desired: number } => {
  const names = new Set(podsByNode.keys());
  let desired = 0;
  for (const node of nodes.values()) {
    if (!spec.placementOn(node).shouldRun) continue;
    desired += 1;
    names.add(node.name);
  }
  return { names, desired };
};

/** Deletes old pods within maxUnavailable. Unavailable old pods go first and don't count against the limit. */
const replace = (observed: Observed, names: Set<string>, maxUnavailable: number): PodChanges => {
  const { daemonSet, podsByNode, hash, now } = observed;
  const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0;
  const generation = templateGeneration(daemonSet);
  const down: string[] = [];
  const candidates: string[] = [];
  let unavailable = 0;
  for (const name of names) {
    const pair = pairOn(podsByNode.get(name) ?? [], hash, generation);
    if (pair?.oldPod && !pair.newPod) {
      if (isAvailable(pair.oldPod, minReadySeconds, now)) candidates.push(pair.oldPod.metadata.name);
      else {
        down.push(pair.oldPod.metadata.name);
        unavailable += 1;
      }
    } else if (!pair?.newPod || pair.oldPod || !isAvailable(pair.newPod, minReadySeconds, now)) unavailable += 1;
  }
  return { remove: [...down, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))], createOn: [] };
};

/** Creates new pods next to old ones within maxSurge. An old pod is deleted once its replacement is available. */
const surge = (observed: Observed, names: Set<string>, maxSurge: number, desired: number): PodChanges => {
  const { daemonSet, podsByNode, nodes, spec, hash, now } = observed;
  const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0;
  const generation = templateGeneration(daemonSet);
  const serves = (pod: StoredPod): boolean => isAvailable(pod, minReadySeconds, now);
  const remove: string[] = [];
  const displaced: string[] = [];
  const urgent: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let available = 0;
  for (const name of names) {
    const pair = pairOn(podsByNode.get(name) ?? [], hash, generation);
    if (!pair) {
      surging += 1;
      continue;
    }
    const { oldPod, newPod } = pair;
    const counted = oldPod ?? newPod;
    if (counted && serves(counted)) available += 1;
    if (!oldPod) continue;
    if (newPod) {
      if (serves(newPod)) remove.push(oldPod.metadata.name);
      else surging += 1;
      continue;
    }
    const node = nodes.get(name);
    if (!node) continue;
    const belongs = spec.placementOn(node).shouldRun;
    if (!serves(oldPod)) {
      if (belongs) urgent.push(name);
      else remove.push(oldPod.metadata.name);
    } else if (belongs) candidates.push(name);
    else displaced.push(oldPod.metadata.name);
  }
  remove.push(...displaced.slice(0, Math.max(0, available - desired)));
  return { remove, createOn: [...urgent, ...candidates.slice(0, Math.max(0, maxSurge - surging))] };
};

/** The next pod changes of the RollingUpdate strategy. */
export const rollingUpdate = (observed: Observed): PodChanges => {
  const { names, desired } = nodesInQuestion(observed);
  const { maxSurge, maxUnavailable } = rollingUpdateLimits(observed.daemonSet, desired);
  return maxSurge === 0 ? replace(observed, names, maxUnavailable) : surge(observed, names, maxSurge, desired);
};
