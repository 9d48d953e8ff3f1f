import { toTimestamp } from '../../../rollout/index.ts';
import { type BackoffOptions, backoffMs } from '../../../runtime/index.ts';
import { ownKey } from '../../../words/index.ts';

/** How often pods of one revision have finished on a node, and when the last one was replaced, epoch ms. */
export interface FinishedPods {
  times: number;
  at: number;
  revision: string;
}

/** On the pod that replaces a finished one: carries the back-off over to the next leader. */
export const FINISHED_PODS_ANNOTATION = ownKey.finishedPods;

const MAX_MS = 15 * 60_000;
const BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: MAX_MS };

/** The back-off starts again for another revision, and on a node without failures for twice the maximum. */
const appliesTo = (previous: FinishedPods | undefined, revision: string, now: number): previous is FinishedPods =>
  previous !== undefined && previous.revision === revision && now - previous.at < 2 * MAX_MS;

/** The record of a node with one more pod, finished at `now`. */
export const recordFinished = (previous: FinishedPods | undefined, revision: string, now: number): FinishedPods => ({
  times: appliesTo(previous, revision, now) ? previous.times + 1 : 1,
  at: now,
  revision,
});

/** When a finished pod of the revision may be replaced, epoch ms: after 1 s, doubling up to 15 min. */
export const mayReplaceAt = (previous: FinishedPods | undefined, revision: string, now: number): number =>
  appliesTo(previous, revision, now) ? previous.at + backoffMs(previous.times, BACKOFF) : now;

/** The value of the annotation; undefined if a pod of this revision has no back-off to carry over. */
export const formatFinished = (finished: FinishedPods | undefined, revision: string): string | undefined =>
  finished?.revision === revision ? `${finished.times} ${toTimestamp(finished.at)}` : undefined;

/** The record that a pod of this revision carries; undefined if absent or malformed. */
export const parseFinished = (text: string | undefined, revision: string, now: number): FinishedPods | undefined => {
  const [, times, time] = /^(\d{1,6}) (\S+)$/.exec(text ?? '') ?? [];
  const at = Date.parse(time ?? '');
  // A time in the future was written by another machine's clock.
  return Number.isNaN(at) ? undefined : { times: Number(times), at: Math.min(at, now), revision };
};

/** The later one of two records. */
export const latestOf = (one: FinishedPods | undefined, other: FinishedPods | undefined): FinishedPods | undefined =>
  one && other ? (other.at > one.at ? other : one) : (one ?? other);
