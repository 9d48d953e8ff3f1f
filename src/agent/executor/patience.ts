/** Who waits for a request to the API server: a caller of the agent's API, or a decision on disk. */
export type Waiting = 'caller' | 'decision';

/** How long requests to the API server may take. */
export interface Patience {
  /** One read, milliseconds. */
  readMs: number;
  /** All reads together and waiting for other updates, until this time; epoch milliseconds. */
  endsAt: number;
  /** A write without response for this long has an unknown outcome. */
  writeMs: number;
}

/** The API promises its callers a response within 5 s, even while the API server is silent. */
const CALLER_READS_MS = 4_500;
const CALLER_WRITE_MS = 10_000;
/**
 * Cellular links have round trips of 3 s and lose packets: a request that has to connect first takes three round trips, and a
 * lost packet is sent again after about as long.
 */
const DECISION_MS = 30_000;

export const patienceOf = (waiting: Waiting, now: number): Patience =>
  waiting === 'caller'
    ? { readMs: CALLER_READS_MS, endsAt: now + CALLER_READS_MS, writeMs: CALLER_WRITE_MS }
    : { readMs: DECISION_MS, endsAt: Number.POSITIVE_INFINITY, writeMs: DECISION_MS };
