import {
  type Context,
  isBeingDeleted,
  isCurrent,
  maySurge,
  type NodeRecord,
  type ObservedPod,
  podAvailableAt,
} from './record.ts';

/** The live pods of a node that has an old and a new one at once, or several old ones after a change of the target. */
export const surgingPods = (record: NodeRecord, context: Context): readonly ObservedPod[] => {
  if (record.pods.length < 2 || !maySurge(record, context)) return [];
  const live = record.pods.filter((pod) => !isBeingDeleted(record, pod));
  // Several of the target are no surge: of duplicates the controller of the pods removes what is too much.
  return live.length < 2 || live.every((pod) => isCurrent(pod, context)) ? [] : live;
};

const byAge = (a: ObservedPod, b: ObservedPod): number =>
  a.facts.createdAt - b.facts.createdAt || (a.facts.uid < b.facts.uid ? -1 : 1);

/** Of several live pods the new one: the first that is of the target. */
export const newPodOf = (pods: readonly ObservedPod[], context: Context): ObservedPod | undefined =>
  pods.filter((pod) => isCurrent(pod, context)).toSorted(byAge)[0];

/**
 * Which of several live pods may go now: an old one once the new one is available, or when it is not ready itself. Without
 * a new one the last that is left is one that works, if any does.
 */
export const findSurgedOutPod = (
  record: NodeRecord,
  pods: readonly ObservedPod[],
  context: Context,
  now: number,
): ObservedPod | undefined => {
  const isAvailable = (pod: ObservedPod): boolean => now >= podAvailableAt(record, pod, context);
  const fresh = newPodOf(pods, context);
  const old = pods.filter((pod) => !isCurrent(pod, context)).toSorted(byAge);
  if (fresh) return isAvailable(fresh) ? old[0] : old.find(({ facts }) => !facts.ready);
  if (old.length < 2) return undefined;
  const ready = old.filter(({ facts }) => facts.ready);
  // None works: the one that was made last stays.
  if (ready.length === 0) return old[0];
  const stays = old.findLast(isAvailable);
  return old.find(({ facts }) => !facts.ready) ?? (stays && old.find((pod) => pod !== stays));
};
