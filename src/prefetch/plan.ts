import { AGENT_ACK_TIMEOUT_MS, type ImageRequest } from '../rollout/index.ts';
import { type Attempt, failed, newAttempt, remembered, seen } from './attempt.ts';
import type { PullView } from './pull-status.ts';

/** How long the watch may take to show a pull pod that was asked for. */
export const SEEN_WITHIN_MS = 30_000;
/** A reported success that the watch of the requests does not show within this time is taken for lost. */
export const REPORT_SEEN_WITHIN_MS = 30_000;
/** While a request waits for its node, how often it is looked whether it is back. */
const NODE_LOOK_MS = 5_000;

/** Everything that one decision is made from. */
export interface Situation {
  /** By the UID of the pod that asks. */
  requests: ReadonlyMap<string, ImageRequest>;
  /** Pull pods of the DaemonSet that are not known to be deleted. */
  pulls: readonly PullView[];
  attempts: ReadonlyMap<string, Attempt>;
  nodeReady: (node: string) => boolean;
  /** Pulls under way at once on nodes that are ready. */
  parallelism: number;
  timeoutMs: number;
  now: number;
}

export type PullAction =
  | { type: 'pull'; request: ImageRequest }
  /** Without a cause: the images are there. */
  | { type: 'report'; request: ImageRequest; cause: string | undefined }
  | { type: 'remove'; pull: PullView };

export interface Plan {
  /** What is remembered from here on: of requests that stand, and no others. */
  attempts: Map<string, Attempt>;
  actions: PullAction[];
  /** When to decide again if nothing happens before; Infinity for never. */
  wakeAt: number;
}

/** What is remembered of a request: nothing of another revision, nor of what its owner asked for before asking again. */
const recall = (request: ImageRequest, before: Attempt | undefined, now: number): Attempt => {
  if (before?.revision !== request.revision) return newAttempt(request, now);
  const known = remembered(before, now);
  if (known.doneAt !== undefined && now - known.doneAt >= REPORT_SEEN_WITHIN_MS) return newAttempt(request, now);
  const askedAgain = known.conditionCause !== undefined && request.failure === undefined;
  const attempt = { ...known, shown: request.failure };
  return askedAgain
    ? { ...attempt, since: now, failures: 0, retryAt: now, cause: undefined, reportedCause: undefined }
    : attempt;
};

const timedOut = ({ node }: ImageRequest, obstacle: string, { nodeReady, timeoutMs }: Situation): string => {
  const why = nodeReady(node) ? obstacle || 'the node has not said why' : `node ${node} is not ready`;
  return `not there after ${Math.round(timeoutMs / 1000)} s: ${why}`;
};

/** Decides what to do about one DaemonSet's requests now: the whole of the prefetch's judgement, without any effect. */
export const plan = (situation: Situation): Plan => {
  const { requests, pulls, nodeReady, parallelism, timeoutMs, now } = situation;
  const attempts = new Map<string, Attempt>();
  const actions: PullAction[] = [];
  const waiting: ImageRequest[] = [];
  let underWay = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  const wake = (at: number): void => {
    wakeAt = Math.min(wakeAt, at);
  };

  const pullOf = new Map<string, PullView>();
  for (const pull of pulls) {
    if (requests.get(pull.podUid)?.revision === pull.revision) pullOf.set(pull.podUid, pull);
    else {
      // Superseded, withdrawn, or nobody is left who asked. Until it is gone its node may pull.
      underWay += 1;
      if (!pull.terminating) actions.push({ type: 'remove', pull });
    }
  }

  // Its watch is behind: what nobody asks for any more may pull all the same until it is seen, and removed.
  const seenPulls = new Set(pulls.map(({ podUid }) => podUid));
  for (const [uid, attempt] of situation.attempts) {
    const endsAt = attempt.beganAt + SEEN_WITHIN_MS;
    if (requests.has(uid) || seenPulls.has(uid) || attempt.stage !== 'sent' || now >= endsAt) continue;
    attempts.set(uid, attempt);
    underWay += 1;
    wake(endsAt);
  }

  const follow = (request: ImageRequest, pull: PullView, known: Attempt): Attempt => {
    if (pull.terminating || known.countedPull === pull.uid || known.doneAt !== undefined) {
      if (!pull.terminating) actions.push({ type: 'remove', pull });
      return known;
    }
    const attempt = seen(known, now);
    const { progress } = pull;
    if (progress.kind === 'present') {
      if (now >= attempt.reportAt) actions.push({ type: 'report', request, cause: undefined });
      else wake(attempt.reportAt);
      return attempt;
    }
    const endsAt = attempt.beganAt + timeoutMs;
    if (progress.kind === 'under-way' && now < endsAt) {
      if (nodeReady(request.node)) underWay += 1;
      wake(endsAt);
      return attempt;
    }
    actions.push({ type: 'remove', pull });
    const cause = progress.kind === 'failed' ? progress.cause : timedOut(request, progress.obstacle, situation);
    return failed(attempt, cause, now, pull.uid);
  };

  const begin = (request: ImageRequest, known: Attempt): Attempt => {
    if (known.doneAt !== undefined) {
      wake(known.doneAt + REPORT_SEEN_WITHIN_MS);
      return known;
    }
    if (known.stage === 'seen') return failed(known, 'its pull pod was deleted before it ended', now);
    if (known.stage === 'sent') {
      if (now - known.beganAt >= SEEN_WITHIN_MS) return failed(known, 'its pull pod was created and never seen', now);
      underWay += 1;
      wake(known.beganAt + SEEN_WITHIN_MS);
      return known;
    }
    const agentsUntil = known.since + AGENT_ACK_TIMEOUT_MS;
    if (request.byAgent && known.failures === 0 && now < agentsUntil) {
      wake(agentsUntil);
      return known;
    }
    if (nodeReady(request.node)) {
      if (known.retryAt <= now) waiting.push(request);
      else wake(known.retryAt);
      return known;
    }
    wake(now + NODE_LOOK_MS);
    const late = now - known.since >= timeoutMs && known.cause === undefined;
    return late ? { ...known, cause: timedOut(request, '', situation) } : known;
  };

  for (const [uid, request] of requests) {
    const known = recall(request, situation.attempts.get(uid), now);
    const pull = pullOf.get(uid);
    const attempt = pull ? follow(request, pull, known) : begin(request, known);
    attempts.set(uid, attempt);
    const { cause } = attempt;
    if (attempt.stage === 'idle') wake(attempt.retryAt > now ? attempt.retryAt : Number.POSITIVE_INFINITY);
    if (
      cause === undefined ||
      cause === attempt.reportedCause ||
      cause === request.failure ||
      attempt.doneAt !== undefined
    )
      continue;
    if (now >= attempt.reportAt) actions.push({ type: 'report', request, cause });
    else wake(attempt.reportAt);
  }

  // Whoever failed least, then whoever waits longest: what cannot be pulled never keeps the others waiting.
  const rank = (request: ImageRequest): Attempt | undefined => attempts.get(request.podUid);
  const inTurn = waiting.toSorted((a, b) => {
    const [first, second] = [rank(a), rank(b)];
    if (!first || !second) return 0;
    return first.failures - second.failures || first.since - second.since || (a.node < b.node ? -1 : 1);
  });
  for (const request of inTurn.slice(0, Math.max(0, parallelism - underWay))) actions.push({ type: 'pull', request });
  return { attempts, actions, wakeAt };
};
