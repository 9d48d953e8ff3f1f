import type { Ledger, PodFacts } from '../rollout/index.ts';

/**
 * Tells the ledger what an answer says of a pod. An answer may come after the watch has told that the pod is gone, which
 * it never tells again: a pod that the ledger does not know stays unknown.
 */
export const updateKnownPod = (ledger: Pick<Ledger, 'get' | 'setPod'>, pod: PodFacts, now: number): void => {
  const known = ledger.get(pod.node)?.pods.some(({ facts }) => facts.uid === pod.uid);
  if (known) ledger.setPod(pod, now);
};
