import type { NodeCell, RolloutHead, RolloutState } from '../types.ts';
import { type Moment, momentOf, thinned, withMoment } from './moments.ts';
import { pastMoments } from './past-moments.ts';

export type Mark = RolloutHead['marks'][number];
type Head = Pick<RolloutHead, 'budget' | 'finishedAt' | 'marks' | 'phases' | 'startedAt'> & {
  headline: Pick<RolloutHead['headline'], 'state'>;
};

/** What was under way when a rollout was halted or paused ends soon, or fails. */
const GRACE_MS = 10 * 60_000;
/** The times of a node are rounded to a second, that of the end is cut to one. */
const ROUNDED_MS = 2_000;

const isStopped = ({ state }: Head['headline']): boolean =>
  state === 'halted' || state === 'paused' || state === 'frozen';

/** Nothing is left to do, or nothing happens before somebody has changed something. */
const resting: ReadonlySet<RolloutState> = new Set([
  'complete',
  'kept',
  'invalid',
  'error',
  'refused',
  'manual',
  'deleted',
]);

/** Nothing begins until somebody acts, or there is nothing left. */
export const isAtRest = ({ headline, finishedAt }: Head): boolean =>
  isStopped(headline) || resting.has(headline.state) || finishedAt !== undefined;

const timeOf = ({ at }: Mark): number => Date.parse(at);

/** When the rollout came to a rest, and what may still change then. */
const restOf = (head: Head, from: number): { at: number; graceMs: number } | undefined => {
  const { finishedAt, marks, headline } = head;
  if (finishedAt !== undefined) return { at: Date.parse(finishedAt), graceMs: ROUNDED_MS };
  if (!isStopped(headline)) return undefined;
  const stop = marks.findLast(({ kind }) => kind === 'halt' || kind === 'pause');
  return { at: Math.max(from, stop ? timeOf(stop) : from), graceMs: GRACE_MS };
};

/** Adds what happened before the page was opened, or while its stream was lost. */
export const recall = (
  seen: readonly Moment[],
  head: Head,
  cells: Iterable<NodeCell>,
  now: number,
): readonly Moment[] => {
  const { startedAt, budget } = head;
  // The first rollout of a DaemonSet changes nothing. The times of pods are whole seconds.
  if (startedAt === undefined) return seen;
  const from = Math.floor(Date.parse(startedAt) / 1_000) * 1_000;
  const last = seen.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
  const past = pastMoments(cells, { from, limit: budget.limit, now, rest: restOf(head, from) });
  return thinned([...seen, ...past.filter(({ at }) => at > last)]);
};

const isStill = (a: Moment, b: Moment): boolean =>
  (['updated', 'updating', 'failed'] as const).every((phase) => a.nodes[phase] === b.nodes[phase]);

/**
 * Adds what the head says now. A rollout that is at rest becomes no longer: nodes that come and go don't extend it, and nothing
 * does after its end. `before` is what was shown of the same rollout; undefined for nothing.
 */
export const note = (
  moments: readonly Moment[],
  head: Head,
  before: Head | undefined,
  now: number,
): readonly Moment[] => {
  const last = moments.at(-1);
  const { finishedAt } = head;
  if (finishedAt !== undefined) {
    if (!before || before.finishedAt !== undefined) return moments;
    return withMoment(moments, momentOf(head, Math.min(now, Date.parse(finishedAt))));
  }
  const next = momentOf(head, now);
  if (!last || !isAtRest(head)) return withMoment(moments, next);
  // It came to its rest before anybody looked.
  if (!before) return withMoment(moments, { ...next, at: last.at });
  return isStill(last, next) ? moments : withMoment(moments, next);
};

/** The head has the last mark of each kind: what was seen before stays. */
export const withMarks = (known: readonly Mark[], next: readonly Mark[]): readonly Mark[] => {
  const isKnown = (one: Mark): boolean => known.some(({ at, kind }) => at === one.at && kind === one.kind);
  const added = next.filter((one) => !isKnown(one));
  return added.length === 0 ? known : [...known, ...added].toSorted((a, b) => timeOf(a) - timeOf(b));
};

/** What is drawn now. */
export interface Picture {
  moments: readonly Moment[];
  marks: readonly (Mark & { time: number })[];
  /** The ends of the axis, epoch ms. */
  from: number;
  to: number;
}

const HEADROOM = 0.04;

/** Until now while the rollout runs, and until its last change once it is at rest. Undefined while there is nothing to draw. */
export const pictureOf = (
  moments: readonly Moment[],
  marks: readonly Mark[],
  head: Head,
  now: number,
): Picture | undefined => {
  const [first] = moments;
  const last = moments.at(-1);
  if (!first || !last) return undefined;
  const from = first.at;
  const timed = marks.map((mark) => ({ ...mark, time: Math.max(from, timeOf(mark)) }));
  const isOver = isAtRest(head);
  const end = Math.max(last.at, isOver ? (timed.at(-1)?.time ?? 0) : now);
  if (end <= from) return undefined;
  const to = isOver ? end + HEADROOM * (end - from) : end;
  return {
    moments: last.at < end ? [...moments, { ...last, at: end }] : moments,
    marks: timed.filter(({ time }) => time <= to),
    from,
    to,
  };
};
