import type { PodFacts } from '../facts/types.ts';
import type { Spec } from './model-cluster.ts';
import type { Driver, RawView } from './model-driver.ts';

/** What a process could know, from what its watches had delivered to it, by rules of the checker's own. */
export const seenPods = (view: RawView, name: string): { facts: PodFacts; readySince: number }[] =>
  [...view.pods.values()].filter(({ facts }) => facts.node === name);
export const seenSpec = ({ spec }: RawView): Spec => {
  if (!spec) throw new Error('S8 broken: an act before the DaemonSet was seen');
  return spec;
};

export const seenAvailable = (view: RawView, name: string, now: number): boolean => {
  const { policy } = seenSpec(view);
  const isUp = ({ facts, readySince }: { facts: PodFacts; readySince: number }): boolean =>
    !facts.terminating && facts.ready && now - readySince >= policy.minReadyMs;
  if (policy.maxSurge.value > 0) return seenPods(view, name).some(isUp);
  const [pod, ...others] = seenPods(view, name);
  if (!pod || others.length > 0 || pod.facts.terminating || !pod.facts.ready) return false;
  return now - pod.readySince >= seenSpec(view).policy.minReadyMs;
};

export const seenSettled = (view: RawView, name: string, now: number): boolean => {
  const node = view.nodes.get(name);
  return node !== undefined && node.facts.ready && now - node.since >= seenSpec(view).policy.settleMs;
};

/** Does a process keep a slot for the node? Not where another pod serves than the one that it deleted, of whatever revision. */
export const holdsSlot = ({ ledger, view, now }: Driver, name: string): boolean => {
  const act = ledger.get(name)?.act;
  if (!act) return false;
  const [pod] = seenPods(view, name);
  const replaced = act.stage === 'done' && act.kind === undefined && pod?.facts.uid !== act.podUid;
  return !(replaced && seenAvailable(view, name, now()));
};
