import type { KeptPod } from '../../resources.ts';
import { limitsOf } from './limits.ts';
import { isAvailable, isTerminating } from './pod-state.ts';
import { isUpdated, type Plan, type Scene, templateGeneration } from './review.ts';

interface Pair {
  newPod: KeptPod | undefined;
  oldPod: KeptPod | undefined;
}

/** The node's live pods; undefined when there are several of a kind, which the review sorts out first. */
const pairOn = (present: readonly KeptPod[], hash: string, generation: string | undefined): Pair | undefined => {
  let newPod: KeptPod | undefined;
  let oldPod: KeptPod | undefined;
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

/** Every node that has pods, and every one that should have. */
const nodesInQuestion = ({ nodes, podsByNode, profile }: Scene): { names: Set<string>; desired: number } => {
  const names = new Set(podsByNode.keys());
  let desired = 0;
  for (const node of nodes.values()) {
    if (!profile.placementOn(node).shouldRun) continue;
    desired += 1;
    names.add(node.name);
  }
  return { names, desired };
};

/** Deletes old pods within maxUnavailable; those that do not serve anyway go first and all at once. */
const replace = (scene: Scene, names: Set<string>, maxUnavailable: number): Plan => {
  const { daemonSet, podsByNode, hash, now } = scene;
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

/** Creates new pods beside old ones within maxSurge; an old one goes when its successor serves. */
const surge = (scene: Scene, names: Set<string>, maxSurge: number, desired: number): Plan => {
  const { daemonSet, podsByNode, nodes, profile, hash, now } = scene;
  const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0;
  const generation = templateGeneration(daemonSet);
  const serves = (pod: KeptPod): boolean => isAvailable(pod, minReadySeconds, now);
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
    const belongs = profile.placementOn(node).shouldRun;
    if (!serves(oldPod)) {
      if (belongs) urgent.push(name);
      else remove.push(oldPod.metadata.name);
    } else if (belongs) candidates.push(name);
    else displaced.push(oldPod.metadata.name);
  }
  remove.push(...displaced.slice(0, Math.max(0, available - desired)));
  return { remove, createOn: [...urgent, ...candidates.slice(0, Math.max(0, maxSurge - surging))] };
};

/** What the strategy RollingUpdate does next. */
export const rollingUpdate = (scene: Scene): Plan => {
  const { names, desired } = nodesInQuestion(scene);
  const { maxSurge, maxUnavailable } = limitsOf(scene.daemonSet, desired);
  return maxSurge === 0 ? replace(scene, names, maxUnavailable) : surge(scene, names, maxSurge, desired);
};
