/** A time in which a node took a slot of the budget: it had no available pod or, with a surge, an old and a new one. */
export interface Taken {
  node: string;
  /** ms. */
  from: number;
  to: number;
  /** Of it, ms in which the cluster had nothing to do before the product's next write: no part of what a pod takes. */
  lagMs: number;
  /** When it began and ended among all changes of the cluster: times of answers may come in another order. */
  began: number;
  ended: number;
  /** An act of the product began it, and not the cluster. */
  ours: boolean;
}

export interface SlotUse {
  /** Rollout time over the sum of what the nodes' pods took, / k. */
  ratio: number;
  /**
   * The same for a rollout that needs no time to decide and act: a freed slot is used at once, in the same order. No
   * scheduler that does not know beforehand what pods take can count on less. It is above 1 because the last nodes
   * leave slots empty.
   */
  perfect: number;
  /** What a node's pod took. */
  meanMs: number;
  /** Slots that were taken at the same time. */
  most: number;
  /** Acts that began while k other nodes had a slot. */
  overruns: number;
  /** Nodes that fell away by themselves; on a machine that is not saturated there are none. */
  strays: number;
}

const countOverruns = (all: readonly Taken[], k: number): { most: number; overruns: number } => {
  const changes = all
    .flatMap(({ began, ended, ours }) => [
      { order: began, by: 1, ours },
      { order: ended, by: -1, ours },
    ])
    .toSorted((a, b) => a.order - b.order);
  let [taken, most, overruns] = [0, 0, 0];
  for (const { by, ours } of changes) {
    taken += by;
    if (by === 1 && ours && taken > k) overruns += 1;
    most = Math.max(most, taken);
  }
  return { most, overruns };
};

/** What the node's pod took of the time. */
const neededMs = ({ from, to, lagMs }: Taken): number => to - from - lagMs;

const perfectTime = (all: readonly Taken[], k: number): number => {
  const freeAt = Array.from({ length: k }, () => 0);
  for (const taken of all.toSorted((a, b) => a.from - b.from)) {
    const slot = freeAt.indexOf(Math.min(...freeAt));
    freeAt[slot] = (freeAt[slot] ?? 0) + neededMs(taken);
  }
  return Math.max(...freeAt);
};

/** Judges a rollout that took `tookMs` by the slots that were seen to be taken. */
export const slotUse = (all: readonly Taken[], k: number, tookMs: number): SlotUse => {
  const ours = all.filter((taken) => taken.ours);
  const sum = ours.reduce((total, taken) => total + neededMs(taken), 0);
  const bound = sum / k;
  return {
    ratio: tookMs / bound,
    perfect: perfectTime(ours, k) / bound,
    meanMs: sum / ours.length,
    strays: all.length - ours.length,
    ...countOverruns(all, k),
  };
};
