import { isBeingDeleted, isCurrent, maySurge, podAvailableAt } from './pods.ts';
import type { Context, NodeRecord, ObservedPod } from './record.ts';

/** The live pods of a node that runs an old and a new one at once, or several old ones after the target has changed. */
export const surgingPods = (record: NodeRecord, context: Context): readonly ObservedPod[] => {
  if (record.pods.length < 2 || !maySurge(record, context)) return [];
  const live = record.pods.filter((pod) => !isBeingDeleted(record, pod));
  // Several pods of the target are no surge: the controller of the pods deletes duplicates.
  return live.length < 2 || live.every((pod) => isCurrent(pod, context)) ? [] : live;
};

const byAge = (a: ObservedPod, b: ObservedPod): number =>
  a.facts.createdAt - b.facts.createdAt || (a.facts.uid < b.facts.uid ? -1 : 1);

/** Of several live pods the new one: the oldest of the target. */
export const newPodOf = (pods: readonly ObservedPod[], context: Context): ObservedPod | undefined =>
  pods.filter((pod) => isCurrent(pod, context)).toSorted(byAge)[0];

/**
 * Which of several live pods to delete now: an old one that is not ready, or any old one once the new one is available.
 * Without a new pod, the last one left is one that works, if any does.
 */
export const findSurgedOutPod = (
  record: NodeRecord,
  pods: readonly ObservedPod[],
  context: Context,
  now: number,
): ObservedPod | undefined => {
  const isAvailable = (pod: ObservedPod): boolean => now >= podAvailableAt(record, pod, context);
  const newPod = newPodOf(pods, context);
  const old = pods.filter((pod) => !isCurrent(pod, context)).toSorted(byAge);
  if (newPod) return isAvailable(newPod) ? old[0] : old.find(({ facts }) => !facts.ready);
  if (old.length < 2) return undefined;
  // If none works, keep the youngest.
  if (old.every(({ facts }) => !facts.ready)) return old[0];
  const kept = old.findLast(isAvailable);
  return old.find(({ facts }) => !facts.ready) ?? (kept && old.find((pod) => pod !== kept));
};
