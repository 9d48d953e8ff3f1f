import type { ImageRequest } from '../rollout/index.ts';

/** A failed pull is tried again after this, doubling to the longest. */
export const FIRST_RETRY_MS = 10_000;
export const LONGEST_RETRY_MS = 300_000;
const FIRST_WRITE_RETRY_MS = 1_000;
const LONGEST_WRITE_RETRY_MS = 30_000;

/**
 * What this process remembers of one request: the course of its pulls. After a restart it begins anew from what the
 * cluster shows, and nothing but a little time is lost.
 */
export interface Attempt {
  revision: string;
  /** Since when the request has waited for its first, or next, success. */
  since: number;
  /** `sent`: the pull pod was asked for and its watch has not shown it; `seen`: it has. */
  stage: 'idle' | 'sent' | 'seen';
  /** When the present pull began. */
  beganAt: number;
  failures: number;
  /** Not begun again before. */
  retryAt: number;
  /** UID of the pull pod whose failure is counted. */
  countedPull: string | undefined;
  /** Why it failed last. */
  cause: string | undefined;
  /** The cause that we have reported. */
  reportedCause: string | undefined;
  /** The cause that the condition showed last. */
  conditionCause: string | undefined;
  /** When the success was reported. */
  doneAt: number | undefined;
  /** Reports that failed are not repeated before. */
  reportAt: number;
  reportRetryMs: number;
}

export const newAttempt = (request: ImageRequest, now: number): Attempt => ({
  revision: request.revision,
  since: now,
  stage: 'idle',
  beganAt: now,
  // A failure that an earlier leader has reported is not repeated at once.
  failures: request.failure === undefined ? 0 : 1,
  retryAt: request.failure === undefined ? now : now + FIRST_RETRY_MS,
  countedPull: undefined,
  cause: undefined,
  reportedCause: undefined,
  conditionCause: request.failure,
  doneAt: undefined,
  reportAt: now,
  reportRetryMs: FIRST_WRITE_RETRY_MS,
});

/** As it is remembered at `now`: a clock that was set back makes no wait longer. */
export const remembered = (attempt: Attempt, now: number): Attempt => ({
  ...attempt,
  since: Math.min(attempt.since, now),
  beganAt: Math.min(attempt.beganAt, now),
  retryAt: Math.min(attempt.retryAt, now + LONGEST_RETRY_MS),
  reportAt: Math.min(attempt.reportAt, now + LONGEST_WRITE_RETRY_MS),
  doneAt: attempt.doneAt === undefined ? undefined : Math.min(attempt.doneAt, now),
});

/** The pull pod has been asked for. */
export const sent = (attempt: Attempt, now: number): Attempt => ({ ...attempt, stage: 'sent', beganAt: now });

/** The watch shows the pull pod, whoever made it. */
export const seen = (attempt: Attempt, now: number): Attempt =>
  attempt.stage === 'seen'
    ? attempt
    : { ...attempt, stage: 'seen', beganAt: attempt.stage === 'sent' ? attempt.beganAt : now };

/** A pull that came to nothing; `pullUid` is counted once, however long its pod stays. */
export const failed = (attempt: Attempt, cause: string, now: number, pullUid?: string): Attempt =>
  pullUid !== undefined && attempt.countedPull === pullUid
    ? attempt
    : {
        ...attempt,
        stage: 'idle',
        failures: attempt.failures + 1,
        retryAt: now + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt.failures, 10)),
        countedPull: pullUid ?? attempt.countedPull,
        cause,
      };

/** Tried again later for a reason that has nothing to do with the image, and which nobody need be told. */
export const postponed = (attempt: Attempt, until: number): Attempt => ({ ...attempt, stage: 'idle', retryAt: until });

/** The outcome stands in the condition; undefined: success. */
export const reported = (attempt: Attempt, cause: string | undefined, now: number): Attempt => ({
  ...attempt,
  ...(cause === undefined ? { doneAt: now } : { reportedCause: cause }),
  reportRetryMs: FIRST_WRITE_RETRY_MS,
});

export const notReported = (attempt: Attempt, now: number): Attempt => ({
  ...attempt,
  reportAt: now + attempt.reportRetryMs,
  reportRetryMs: Math.min(LONGEST_WRITE_RETRY_MS, attempt.reportRetryMs * 2),
});
