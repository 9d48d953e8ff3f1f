/** A time in which a node had no available pod, ms. */
export interface Down {
  node: string;
  from: number;
  to: number;
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
  /** Nodes that were taken down while k others were. */
  overruns: number;
}

const countOverruns = (downs: readonly Down[], k: number): { mostDown: number; overruns: number } => {
  // At equal times an end comes before a start: that slot was free.
  const changes = downs
    .flatMap(({ from, to }): [number, 1 | -1][] => [
      [from, 1],
      [to, -1],
    ])
    .toSorted(([a, up], [b, other]) => a - b || up - other);
  let [down, mostDown, overruns] = [0, 0, 0];
  for (const [, by] of changes) {
    down += by;
    if (by === 1 && down > k) overruns += 1;
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
  const sum = downs.reduce((total, { from, to }) => total + to - from, 0);
  const bound = sum / k;
  return {
    ratio: tookMs / bound,
    perfect: perfectTime(downs, k) / bound,
    meanDownMs: sum / downs.length,
    ...countOverruns(downs, k),
  };
};
