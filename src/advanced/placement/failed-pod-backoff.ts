import { toTimestamp } from '../../rollout/index.ts';
import { type BackoffOptions, backoffMs } from '../../runtime/index.ts';

/** How often pods of one revision have ended on a node, and when one was replaced last, epoch ms. */
export interface FinishedPods {
  times: number;
  at: number;
  revision: string;
}

/** On a pod that was created after one that had ended: what whoever leads next knows of the ones before it. */
export const FINISHED_PODS_ANNOTATION = 'edgeset.io/endings';

const LONGEST_MS = 15 * 60_000;
const BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: LONGEST_MS };

/** A pod that ends as soon as it starts is replaced ever more slowly: after 1 s, doubling to 15 min. */
export const backoffOf = ({ times }: Pick<FinishedPods, 'times'>): number => backoffMs(times, BACKOFF);

/** Another revision begins anew, and so does a node that has been well for twice the longest wait. */
const counts = (before: FinishedPods | undefined, revision: string, now: number): before is FinishedPods =>
  before !== undefined && before.revision === revision && now - before.at < 2 * LONGEST_MS;

/** The endings of a node with one more at `now`. */
export const recordFinished = (before: FinishedPods | undefined, revision: string, now: number): FinishedPods => ({
  times: counts(before, revision, now) ? before.times + 1 : 1,
  at: now,
  revision,
});

/** When the next pod of the revision that ended on the node may be replaced, epoch ms. */
export const mayReplaceAt = (before: FinishedPods | undefined, revision: string, now: number): number =>
  counts(before, revision, now) ? before.at + backoffOf(before) : now;

/** The value of the annotation; undefined where a pod of this revision has nothing to carry on. */
export const formatFinished = (endings: FinishedPods | undefined, revision: string): string | undefined =>
  endings?.revision === revision ? `${endings.times} ${toTimestamp(endings.at)}` : undefined;

/** What a pod of this revision says of the ones before it; undefined for what cannot be read. */
export const parseFinished = (text: string | undefined, revision: string, now: number): FinishedPods | undefined => {
  const [, times, time] = /^(\d{1,6}) (\S+)$/.exec(text ?? '') ?? [];
  const at = Date.parse(time ?? '');
  // A time to come was read off another clock.
  return Number.isNaN(at) ? undefined : { times: Number(times), at: Math.min(at, now), revision };
};

/** What is known twice: the later word counts. */
export const latestOf = (one: FinishedPods | undefined, other: FinishedPods | undefined): FinishedPods | undefined =>
  one && other ? (other.at > one.at ? other : one) : (one ?? other);
