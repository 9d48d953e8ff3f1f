import { waveAfter } from '../../src/rollout/index.ts';

/** The default: the failure threshold. */
const FIRST_WAVE = 3;

/** A period in which a node occupied a slot of the budget: it had no available pod or, with a surge, two pods. */
export interface OccupiedSlot {
  node: string;
  /** When the API server had read the write that started it, ms. */
  requestedAt: number;
  /** ms. */
  from: number;
  to: number;
  /** Time within it in which the cluster waited for the product's next write, ms: not part of replacing a pod. */
  lagMs: number;
  /** Positions of its start and end in the order of changes: response times may be in another order. */
  began: number;
  ended: number;
  /** The product started it, not the cluster. */
  ours: boolean;
}

export interface SlotUse {
  /** Rollout time divided by the bound: total replacement time of all pods / k, and `firstWaveMs`. */
  ratio: number;
  /** How much longer the rollout takes at best because the revision proves itself on a first wave. */
  firstWaveMs: number;
  /**
   * The same ratio for a rollout that reuses each freed slot at once, in the same order and with the same first wave: the best
   * possible without knowing how long pods take. It is above 1 because the last nodes leave slots empty.
   */
  perfect: number;
  /** Mean replacement time of a pod. */
  meanMs: number;
  /** Most slots occupied at the same time. */
  most: number;
  /** Updates that started while k other nodes occupied a slot. */
  overruns: number;
  /** Nodes that became unavailable by themselves; none unless the machine is saturated. */
  unplanned: number;
}

const countOverruns = (all: readonly OccupiedSlot[], k: number): { most: number; overruns: number } => {
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

/** The time that replacing the pod took. */
const neededMs = ({ from, to, lagMs }: OccupiedSlot): number => to - from - lagMs;

const perfectTime = (all: readonly OccupiedSlot[], k: number, firstWave: number): number => {
  /** When nodes that are being replaced are available, the next one last. */
  const ends: number[] = [];
  let [now, proven, last] = [0, 0, 0];
  for (const taken of all.toSorted((a, b) => a.from - b.from)) {
    for (; ends.length >= Math.min(k, waveAfter(firstWave, proven)); proven += 1) now = ends.pop() ?? now;
    const end = now + neededMs(taken);
    ends.splice(ends.findLastIndex((other) => other > end) + 1, 0, end);
    last = Math.max(last, end);
  }
  return last;
};

/** Evaluates a rollout that took `tookMs` by the slots that were occupied. `firstWave`: Infinity where it is off. */
export const slotUse = (
  all: readonly OccupiedSlot[],
  k: number,
  tookMs: number,
  firstWave: number = FIRST_WAVE,
): SlotUse => {
  const ours = all.filter((taken) => taken.ours);
  const sum = ours.reduce((total, taken) => total + neededMs(taken), 0);
  const perfectMs = perfectTime(ours, k, firstWave);
  const firstWaveMs = perfectMs - perfectTime(ours, k, Number.POSITIVE_INFINITY);
  const bound = sum / k + firstWaveMs;
  return {
    ratio: tookMs / bound,
    firstWaveMs,
    perfect: perfectMs / bound,
    meanMs: sum / ours.length,
    unplanned: all.length - ours.length,
    ...countOverruns(all, k),
  };
};
