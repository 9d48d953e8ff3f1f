import type { NodeCell, RolloutHead } from '../types.ts';

type Phase = NodeCell[1];

/** The phases of online nodes as the time line stacks them, from the bottom: progress, what went wrong, and what waits. */
export const stacked = [
  'updated',
  'updating',
  'failed',
  'broken',
  'missing',
  'settling',
  'held',
  'outdated',
] as const satisfies readonly Phase[];
export type OnlinePhase = (typeof stacked)[number];

/** What holds from one moment of a rollout to the next. */
export interface Moment {
  /** Epoch ms, by the cluster's clock. */
  at: number;
  /** Online nodes in each phase. */
  nodes: Readonly<Record<OnlinePhase, number>>;
  /** Slots of the budget. */
  inUse: number;
  /** 0 without a budget. */
  limit: number;
  /** Nobody looked then: it follows from the records of the nodes. */
  recorded: boolean;
}

export const MOST = 600;

export const momentOf = ({ phases, budget }: Pick<RolloutHead, 'phases' | 'budget'>, at: number): Moment => {
  const { offline: _, ...nodes } = phases;
  return { at, nodes, inUse: budget.inUse, limit: budget.limit, recorded: false };
};

/** As many as a screen can show, and both ends. */
export const thinned = (moments: readonly Moment[]): readonly Moment[] => {
  let kept = moments;
  while (kept.length > MOST) kept = kept.filter((_, index) => index % 2 === 0 || index === kept.length - 1);
  return kept;
};

const isSame = (a: Moment, b: Moment): boolean =>
  a.inUse === b.inUse &&
  a.limit === b.limit &&
  a.recorded === b.recorded &&
  stacked.every((phase) => a.nodes[phase] === b.nodes[phase]);

/**
 * Adds what holds from now on. Time never runs backwards, even where two clocks meet: what comes earlier replaces the last moment.
 * Where nothing changes, both ends are enough.
 */
export const withMoment = (moments: readonly Moment[], next: Moment): readonly Moment[] => {
  const last = moments.at(-1);
  if (last && next.at <= last.at) return [...moments.slice(0, -1), { ...next, at: last.at }];
  const before = moments.at(-2);
  const isLevel = before && last && isSame(before, last) && isSame(last, next);
  return thinned([...(isLevel ? moments.slice(0, -1) : moments), next]);
};

/** How many nodes were online. */
export const onlineOf = ({ nodes }: Moment): number => stacked.reduce((sum, phase) => sum + nodes[phase], 0);

/** In percent of the online nodes, each phase on top of those before it in `stacked`; zeros without online nodes. */
export const stackOf = (moment: Moment): readonly number[] => {
  const online = onlineOf(moment);
  let below = 0;
  return stacked.map((phase) => {
    below += moment.nodes[phase];
    return online === 0 ? 0 : (100 * below) / online;
  });
};
