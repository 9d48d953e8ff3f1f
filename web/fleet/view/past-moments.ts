import type { NodeCell } from '../types.ts';
import { type Moment, type OnlinePhase, stacked, thinned } from './moments.ts';

export interface PastOptions {
  /** When the rollout began, epoch ms. */
  from: number;
  /** Of the budget; 0 where it is not known. */
  limit: number;
  /** No change is later, whatever the clocks of the nodes say. */
  now: number;
  /** When the rollout came to a rest, and how long what was under way could still change; without it, it still runs. */
  rest?: { at: number; graceMs: number } | undefined;
}

/** A slot that was freed is soon taken again: by a node whose old pod has to terminate before its record begins. */
const TAKEN_AGAIN_MS = 60_000;

interface Past {
  /** When its update began; undefined for a change that has no update, or an unknown one. */
  began: number | undefined;
  ended: number;
  phase: 'updated' | 'failed' | 'updating' | 'outdated';
}

/** What the records of a node tell: a node that failed and works again has left no trace of it. */
const pastOf = ([, phase, , , began, ended]: NodeCell, { from, now }: PastOptions): Past => {
  const [beganAt, endedAt] = [began, ended].map((seconds) => Math.min(now, seconds * 1_000)) as [number, number];
  const since = beganAt >= from ? beganAt : undefined;
  if (phase === 'updating') return { began: since, ended: Number.POSITIVE_INFINITY, phase: since ? phase : 'outdated' };
  if (phase !== 'updated' && phase !== 'failed') return { began: undefined, ended: from, phase: 'outdated' };
  return { began: since, ended: Math.max(from, endedAt, beganAt), phase };
};

/** Those that take a slot that was just freed begin when it was: between two waves, the budget is not unused. */
const withSlotsTaken = (past: readonly Past[]): readonly Past[] => {
  const freed = past.flatMap(({ began, ended, phase }) => (phase === 'updated' && began !== undefined ? [ended] : []));
  freed.sort((a, b) => a - b);
  let next = 0;
  const byBeginning = past.toSorted((a, b) => (a.began ?? 0) - (b.began ?? 0));
  return byBeginning.map((one) => {
    const { began } = one;
    if (began === undefined) return one;
    while ((freed[next] ?? began) < began - TAKEN_AGAIN_MS) next += 1;
    const free = freed[next];
    if (free === undefined || free > began) return one;
    next += 1;
    return { ...one, began: free };
  });
};

interface Step {
  at: number;
  leaves: OnlinePhase;
  enters: OnlinePhase;
}

const stepsOf = ({ began, ended, phase }: Past, from: number): Step[] => {
  if (phase === 'outdated') return [];
  const begins: Step[] = began === undefined ? [] : [{ at: began, leaves: 'outdated', enters: 'updating' }];
  if (phase === 'updating') return begins;
  // A node that ran the target before has no update: it is at the target from the beginning.
  const at = Math.max(from, ended);
  return [...begins, { at, leaves: began === undefined ? 'outdated' : 'updating', enters: phase }];
};

/** The records don't tell an update from the first pod of a node that joined: no more nodes are updating than have a slot. */
const withinBudget = (counts: Readonly<Record<OnlinePhase, number>>, at: number, limit: number): Moment => {
  const { failed } = counts;
  const slots = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  const updating = Math.min(counts.updating, Math.max(0, slots - failed));
  const outdated = counts.outdated + counts.updating - updating;
  return {
    at,
    nodes: { ...counts, updating, outdated },
    inUse: Math.min(slots, updating + failed),
    limit,
    recorded: true,
  };
};

/**
 * A rollout in as far as the records of its nodes tell. What a node changed after the rollout came to a rest is not part of it:
 * the node was away, or its pod was made anew since.
 */
export const pastMoments = (cells: Iterable<NodeCell>, options: PastOptions): readonly Moment[] => {
  const { from, limit, now, rest } = options;
  const most = rest ? rest.at + rest.graceMs : Number.POSITIVE_INFINITY;
  const online = Array.from(cells).filter(([, phase]) => phase !== 'offline');
  const past = online
    .map((cell) => pastOf(cell, options))
    .filter(({ began = 0, ended, phase }) => Math.max(began, phase === 'updating' ? 0 : ended) <= most);
  const counts = Object.fromEntries(stacked.map((phase) => [phase, 0])) as Record<OnlinePhase, number>;
  counts.outdated = past.length;
  const steps = withSlotsTaken(past).flatMap((one) => stepsOf(one, from));
  steps.sort((a, b) => a.at - b.at);
  const moments: Moment[] = [withinBudget(counts, from, limit)];
  for (const { at, leaves, enters } of steps) {
    counts[leaves] -= 1;
    counts[enters] += 1;
    if (at === moments.at(-1)?.at) moments.pop();
    moments.push(withinBudget(counts, at, limit));
  }
  const last = moments.at(-1);
  const end = rest ? Math.max(from, rest.at) : now;
  if (last && last.at < end) moments.push({ ...last, at: end });
  return past.length === 0 ? [] : thinned(moments);
};
