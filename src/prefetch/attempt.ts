import type { ImageRequest } from '../rollout/index.ts';
import { backoffMs } from '../runtime/index.ts';

/** A failed pull is retried after this, doubling up to the maximum. */
export const FIRST_RETRY_MS = 10_000;
export const MAX_RETRY_MS = 300_000;
const FIRST_REPORT_RETRY_MS = 1_000;
const MAX_REPORT_RETRY_MS = 30_000;

/**
 * The state of one request's pulls in this process. After a restart it is built again from what the cluster shows, which
 * costs only a little time.
 */
export interface Attempt {
  revision: string;
  /** Since when the request has been waiting for success. */
  since: number;
  /** `sent`: the pull pod was created and its watch lacks it; `seen`: the watch has it. */
  stage: 'idle' | 'sent' | 'seen';
  /** When the current pull began. */
  beganAt: number;
  failures: number;
  /** No new pull before this time. */
  retryAt: number;
  /** UID of the pull pod whose failure has been counted. */
  countedPull: string | undefined;
  /** Why the last pull failed. */
  cause: string | undefined;
  /** The cause that this process has reported. */
  reportedCause: string | undefined;
  /** The cause that the condition had last. */
  conditionCause: string | undefined;
  /** When success was reported. */
  doneAt: number | undefined;
  /** No report before this time: the last one failed. */
  reportAt: number;
  reportRetryMs: number;
}

export const newAttempt = (request: ImageRequest, now: number): Attempt => ({
  revision: request.revision,
  since: now,
  stage: 'idle',
  beganAt: now,
  // A failure that an earlier leader has reported is not retried at once.
  failures: request.failure === undefined ? 0 : 1,
  retryAt: request.failure === undefined ? now : now + FIRST_RETRY_MS,
  countedPull: undefined,
  cause: undefined,
  reportedCause: undefined,
  conditionCause: request.failure,
  doneAt: undefined,
  reportAt: now,
  reportRetryMs: FIRST_REPORT_RETRY_MS,
});

/** The attempt at `now`: a clock that was set back makes no delay longer. */
export const withoutFuture = (attempt: Attempt, now: number): Attempt => ({
  ...attempt,
  since: Math.min(attempt.since, now),
  beganAt: Math.min(attempt.beganAt, now),
  retryAt: Math.min(attempt.retryAt, now + MAX_RETRY_MS),
  reportAt: Math.min(attempt.reportAt, now + MAX_REPORT_RETRY_MS),
  doneAt: attempt.doneAt === undefined ? undefined : Math.min(attempt.doneAt, now),
});

/** The pull pod has been created. */
export const sent = (attempt: Attempt, now: number): Attempt => ({ ...attempt, stage: 'sent', beganAt: now });

/** The watch shows the pull pod, which any leader may have created. */
export const seen = (attempt: Attempt, now: number): Attempt =>
  attempt.stage === 'seen'
    ? attempt
    : { ...attempt, stage: 'seen', beganAt: attempt.stage === 'sent' ? attempt.beganAt : now };

/** The pull has failed; `pullUid` is counted once, however long the pod stays. */
export const failed = (attempt: Attempt, cause: string, now: number, pullUid?: string): Attempt =>
  pullUid !== undefined && attempt.countedPull === pullUid
    ? attempt
    : {
        ...attempt,
        stage: 'idle',
        failures: attempt.failures + 1,
        retryAt: now + backoffMs(attempt.failures + 1, { baseMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS }),
        countedPull: pullUid ?? attempt.countedPull,
        cause,
      };

/** Retried later, for a reason that has nothing to do with the image and is not reported. */
export const postponed = (attempt: Attempt, until: number): Attempt => ({ ...attempt, stage: 'idle', retryAt: until });

/** The outcome is in the condition; undefined: success. */
export const reported = (attempt: Attempt, cause: string | undefined, now: number): Attempt => ({
  ...attempt,
  ...(cause === undefined ? { doneAt: now } : { reportedCause: cause }),
  reportRetryMs: FIRST_REPORT_RETRY_MS,
});

export const notReported = (attempt: Attempt, now: number): Attempt => ({
  ...attempt,
  reportAt: now + attempt.reportRetryMs,
  reportRetryMs: Math.min(MAX_REPORT_RETRY_MS, attempt.reportRetryMs * 2),
});
