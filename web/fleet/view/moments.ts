import type { NodeCell } from '../types.ts';

/** One moment of a rollout, for its time line. */
export interface Moment {
  /** Epoch ms. */
  at: number;
  /** Nodes at the target. */
  updated: number;
  failed: number;
  /** Slots of the budget. */
  inUse: number;
}

const MOST = 600;

/** Every second one, if there are more than a screen can show. */
const thinned = (moments: readonly Moment[]): readonly Moment[] =>
  moments.length <= MOST ? moments : moments.filter((_, index) => index % 2 === 0 || index === moments.length - 1);

const isSame = (a: Moment, b: Moment): boolean =>
  a.updated === b.updated && a.failed === b.failed && a.inUse === b.inUse;

/** Adds what holds from now on. A line that stays level needs only its two ends. */
export const withMoment = (moments: readonly Moment[], next: Moment): readonly Moment[] => {
  const [before, last] = moments.slice(-2);
  const isLevel = before && last && isSame(before, last) && isSame(last, next);
  return thinned([...(isLevel ? moments.slice(0, -1) : moments), next]);
};

type Change = Moment;

/** What one node has changed, and when, as its records tell: a node that failed and works again has left no trace of it. */
const changesOf = ([, phase, , , began, ended]: NodeCell, from: number): Change[] => {
  const none = { updated: 0, failed: 0, inUse: 0 };
  const [beganAt, endedAt] = [began * 1_000, ended * 1_000];
  const begins = beganAt >= from && phase !== 'offline' ? [{ ...none, at: beganAt, inUse: 1 }] : [];
  if (phase === 'failed') return [...begins, { ...none, at: Math.max(from, endedAt, beganAt), failed: 1 }];
  if (phase !== 'updated') return begins;
  // The node ran the target before, or nobody knows since when.
  if (endedAt <= from) return [{ ...none, at: from, updated: 1 }];
  const ends = begins.length > 0 ? -1 : 0;
  return [...begins, { ...none, at: Math.max(endedAt, beganAt), updated: 1, inUse: ends }];
};

/**
 * A rollout until `to`, which began at `from`, in as far as the records of its nodes tell. Default: until its last change. They
 * don't tell an update from the first pod of a node that joined, so no more than the `slots` of the budget are in use, if it has
 * any.
 */
export const pastMoments = (cells: Iterable<NodeCell>, from: number, slots: number, to?: number): readonly Moment[] => {
  const changes = Array.from(cells, (cell) => changesOf(cell, from)).flat();
  changes.sort((a, b) => a.at - b.at);
  const moments: Moment[] = [{ at: from, updated: 0, failed: 0, inUse: 0 }];
  for (const { at, updated, failed, inUse } of changes) {
    const last = moments.at(-1);
    if (!last) break;
    const next = {
      at: Math.min(at, to ?? at),
      updated: last.updated + updated,
      failed: last.failed + failed,
      inUse: last.inUse + inUse,
    };
    if (next.at === last.at) moments.pop();
    moments.push(next);
  }
  const last = moments.at(-1);
  if (last && to !== undefined && last.at < to) moments.push({ ...last, at: to });
  const limit = slots > 0 ? slots : Number.POSITIVE_INFINITY;
  let result: readonly Moment[] = moments.map((moment) => ({ ...moment, inUse: Math.min(limit, moment.inUse) }));
  while (result.length > MOST) result = thinned(result);
  return result;
};
