import type { ImageRequest } from '../rollout/index.ts';
import { type Attempt, failed, newAttempt, seen, withoutFuture } from './attempt.ts';
import type { PullView } from './pull-status.ts';

/** How long the watch may take to show a pull pod that was created. */
export const SEEN_WITHIN_MS = 30_000;
/** A reported success that the watch of the requests lacks after this time counts as lost. */
export const REPORT_SEEN_WITHIN_MS = 30_000;
/** How often to check a node that a request waits for. */
const NODE_CHECK_MS = 5_000;

/**
 * A pull pod, and whether its status is believed. `own`: this process created it; `inherited`: it was there when this process
 * began to lead. Anyone who may create pods in the namespace can make one that looks like ours later: `foreign`.
 */
export interface KnownPull extends PullView {
  origin: 'own' | 'inherited' | 'foreign';
}

/** The input of one decision. */
export interface Situation {
  /** By the UID of the requesting pod. */
  requests: ReadonlyMap<string, ImageRequest>;
  /** The DaemonSet's pull pods in its namespace, except those that are known to be deleted. */
  pulls: readonly KnownPull[];
  attempts: ReadonlyMap<string, Attempt>;
  nodeReady: (node: string) => boolean;
  /** Pulls at the same time on ready nodes. */
  parallelism: number;
  timeoutMs: number;
  now: number;
}

export type PullAction =
  | { type: 'pull'; request: ImageRequest }
  /** Without a cause: the images are present. */
  | { type: 'report'; request: ImageRequest; cause: string | undefined }
  | { type: 'remove'; pull: PullView };

export interface Plan {
  /** The state of the requests that are still open. */
  attempts: Map<string, Attempt>;
  actions: PullAction[];
  /** When to decide again without an event; Infinity for never. */
  wakeAt: number;
}

/** The state of a request. A request for another revision, or a repeated one, starts over. */
const recall = (request: ImageRequest, before: Attempt | undefined, now: number): Attempt => {
  if (before?.revision !== request.revision) return newAttempt(request, now);
  const known = withoutFuture(before, now);
  if (known.doneAt !== undefined && now - known.doneAt >= REPORT_SEEN_WITHIN_MS) return newAttempt(request, now);
  const askedAgain = known.conditionCause !== undefined && request.failure === undefined;
  const attempt = { ...known, shown: request.failure };
  return askedAgain
    ? { ...attempt, since: now, failures: 0, retryAt: now, cause: undefined, reportedCause: undefined }
    : attempt;
};

const timedOut = ({ node }: ImageRequest, blocker: string, { nodeReady, timeoutMs }: Situation): string => {
  const why = nodeReady(node) ? blocker || 'the node has reported no cause' : `node ${node} is not ready`;
  return `not present after ${Math.round(timeoutMs / 1000)} s: ${why}`;
};

/** Decides what to do about one DaemonSet's requests now. It has no effects: all decisions of the prefetch are here. */
export const plan = (situation: Situation): Plan => {
  const { requests, pulls, nodeReady, parallelism, timeoutMs, now } = situation;
  const attempts = new Map<string, Attempt>();
  const actions: PullAction[] = [];
  const waiting: ImageRequest[] = [];
  let active = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  const wake = (at: number): void => {
    wakeAt = Math.min(wakeAt, at);
  };

  const pullOf = new Map<string, PullView>();
  for (const pull of pulls) {
    // A deletion takes effect at once, unless someone added a finalizer, which must not hold back other pulls.
    if (pull.terminating) continue;
    const isTrusted = pull.origin !== 'foreign';
    const isRequested = requests.get(pull.podUid)?.revision === pull.revision;
    if (isTrusted && isRequested && !pullOf.has(pull.podUid)) pullOf.set(pull.podUid, pull);
    else {
      // Superseded, withdrawn, or its requester is gone. Until it is deleted, its node may still pull.
      if (isTrusted) active += 1;
      actions.push({ type: 'remove', pull });
    }
  }

  // The watch may be behind: a pull pod without a request may still pull until the watch shows it and it is removed.
  const seenPulls = new Set(pulls.filter(({ origin }) => origin === 'own').map(({ podUid }) => podUid));
  for (const [uid, attempt] of situation.attempts) {
    const endsAt = attempt.beganAt + SEEN_WITHIN_MS;
    if (requests.has(uid) || seenPulls.has(uid) || attempt.stage !== 'sent' || now >= endsAt) continue;
    attempts.set(uid, attempt);
    active += 1;
    wake(endsAt);
  }

  const follow = (request: ImageRequest, pull: PullView, known: Attempt): Attempt => {
    if (known.countedPull === pull.uid || known.doneAt !== undefined) {
      actions.push({ type: 'remove', pull });
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
    if (progress.kind === 'pulling' && now < endsAt) {
      if (nodeReady(request.node)) active += 1;
      wake(endsAt);
      return attempt;
    }
    actions.push({ type: 'remove', pull });
    const cause = progress.kind === 'failed' ? progress.cause : timedOut(request, progress.blocker, situation);
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
      active += 1;
      wake(known.beganAt + SEEN_WITHIN_MS);
      return known;
    }
    if (nodeReady(request.node)) {
      if (known.retryAt <= now) waiting.push(request);
      else wake(known.retryAt);
      return known;
    }
    wake(now + NODE_CHECK_MS);
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

  // Fewest failures first, then the longest wait: images that cannot be pulled never delay the others.
  const rank = (request: ImageRequest): Attempt | undefined => attempts.get(request.podUid);
  const inTurn = waiting.toSorted((a, b) => {
    const [first, second] = [rank(a), rank(b)];
    if (!first || !second) return 0;
    return first.failures - second.failures || first.since - second.since || (a.node < b.node ? -1 : 1);
  });
  for (const request of inTurn.slice(0, Math.max(0, parallelism - active))) actions.push({ type: 'pull', request });
  return { attempts, actions, wakeAt };
};
