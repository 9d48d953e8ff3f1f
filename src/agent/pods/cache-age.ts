import type { Clock } from '../../runtime/index.ts';

/** What is kept of the last contact across restarts. */
export interface SavedCacheAge {
  /** Epoch milliseconds, as of the clock at `savedAt`. */
  at: number;
  savedAt: number;
}

/** How old what we know is, by a clock that may be set. */
export interface CacheAge {
  /** The API server was heard of just now. */
  reset(): void;
  /** Epoch milliseconds by the present clock; undefined for never, or when that cannot be said. */
  lastContactAt(): number | undefined;
  /** Never less than the truth; `UNKNOWN_AGE_SECONDS` when the clock cannot tell. */
  ageSeconds(): number;
  /** What to keep; undefined before the first contact. */
  saved(): SavedCacheAge | undefined;
  /** To be called about every `TICK_MS`. True when the clock was set back: what is kept is to be written anew. */
  tick(): boolean;
}

/** The largest age that HTTP caches know (RFC 9111, 1.2.2): older than anything, or unknown. */
export const UNKNOWN_AGE_SECONDS = 2_147_483_648;

export const TICK_MS = 10_000;

/** Timers run by another clock than the one that is set; less than this is their own lateness. */
const NOTICED_MS = 1_000;

/**
 * The age grows by what the clock says has passed, and by no less than the time between two ticks where somebody sets it
 * back meanwhile. A clock that at the start is behind the time that was kept says nothing of how long the device was off.
 */
export const createCacheAge = (clock: Clock, kept: SavedCacheAge | undefined): CacheAge => {
  /** Where the reckoning stands: the age (undefined: unknown) when the clock showed `at`. */
  let mark: { at: number; age: number | undefined; ticked: boolean } = {
    at: clock.now(),
    age: undefined,
    ticked: true,
  };
  if (kept && kept.savedAt <= mark.at && kept.at <= mark.at) mark.age = mark.at - kept.at;

  const ageMs = (): number | undefined => {
    const passed = clock.now() - mark.at;
    return mark.age === undefined ? undefined : mark.age + (passed < 0 ? TICK_MS : passed);
  };

  return {
    reset() {
      mark = { at: clock.now(), age: 0, ticked: false };
    },
    lastContactAt() {
      const age = ageMs();
      return age === undefined ? undefined : clock.now() - age;
    },
    ageSeconds() {
      const age = ageMs();
      return age === undefined ? UNKNOWN_AGE_SECONDS : Math.ceil(age / 1000);
    },
    saved() {
      const age = ageMs();
      const savedAt = clock.now();
      return age === undefined ? undefined : { at: savedAt - age, savedAt };
    },
    tick() {
      const passed = clock.now() - mark.at;
      const least = mark.ticked ? TICK_MS : 0;
      const wasSetBack = passed < least - NOTICED_MS;
      const elapsed = passed < 0 ? TICK_MS : Math.max(least, passed);
      mark = { at: clock.now(), age: mark.age === undefined ? undefined : mark.age + elapsed, ticked: true };
      return wasSetBack;
    },
  };
};
