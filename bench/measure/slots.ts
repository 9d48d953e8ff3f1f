/** A time in which a node had no available pod. */
export interface Down {
  node: string;
  /** ms. */
  from: number;
  to: number;
  /** When it began and ended among all changes of the cluster: times of answers may come in another order. */
  began: number;
  ended: number;
  /** An act of the product began it, and not the cluster. */
  ours: boolean;
}

export interface SlotUse {
  /** Rollout time over sum of the down times / k. */
  ratio: number;
  /**
   * The same for a rollout that needs no time to decide and act: a freed slot is used at once, in the same order. No
   * scheduler that does not know the down times beforehand can count on less. It is above 1 because the last nodes
   * leave slots empty.
   */
  perfect: number;
  meanDownMs: number;
  mostDown: number;
  /** Acts that began while k other nodes were down. */
  overruns: number;
  /** Nodes that fell away by themselves; on a machine that is not saturated there are none. */
  strays: number;
}

const countOverruns = (downs: readonly Down[], k: number): { mostDown: number; overruns: number } => {
  const changes = downs
    .flatMap(({ began, ended, ours }) => [
      { order: began, by: 1, ours },
      { order: ended, by: -1, ours },
    ])
    .toSorted((a, b) => a.order - b.order);
  let [down, mostDown, overruns] = [0, 0, 0];
  for (const { by, ours } of changes) {
    down += by;
    if (by === 1 && ours && down > k) overruns += 1;
    mostDown = Math.max(mostDown, down);
  }
  return { mostDown, overruns };
};

const perfectTime = (downs: readonly Down[], k: number): number => {
  const freeAt = Array.from({ length: k }, () => 0);
  for (const { from, to } of downs.toSorted((a, b) => a.from - b.from)) {
    const slot = freeAt.indexOf(Math.min(...freeAt));
    freeAt[slot] = (freeAt[slot] ?? 0) + to - from;
  }
  return Math.max(...freeAt);
};

/** Judges a rollout that took `tookMs` by the down times that were observed. */
export const slotUse = (downs: readonly Down[], k: number, tookMs: number): SlotUse => {
  const ours = downs.filter((down) => down.ours);
  const sum = ours.reduce((total, { from, to }) => total + to - from, 0);
  const bound = sum / k;
  return {
    ratio: tookMs / bound,
    perfect: perfectTime(ours, k) / bound,
    meanDownMs: sum / ours.length,
    strays: downs.length - ours.length,
    ...countOverruns(downs, k),
  };
};
