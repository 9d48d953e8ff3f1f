import type { Clock } from '../../runtime/index.ts';

/** The last contact, as saved across restarts. */
export interface SavedCacheAge {
  /** Time of the last contact in epoch milliseconds, by the clock at `savedAt`. */
  at: number;
  savedAt: number;
}

/** The time since the last contact with the API server, by a clock that may be adjusted. */
export interface CacheAge {
  /** The API server responded just now. */
  reset(): void;
  /** Epoch milliseconds by the current clock; undefined for never or unknown. */
  lastContactAt(): number | undefined;
  /** An upper bound; `UNKNOWN_AGE_SECONDS` if unknown. */
  ageSeconds(): number;
  /** What to save; undefined before the first contact. */
  saved(): SavedCacheAge | undefined;
  /** Call it about every `TICK_MS`. True when the clock was set back, so that the age must be saved again. */
  tick(): boolean;
}

/** The largest age of HTTP caches (RFC 9111, 1.2.2): very old or unknown. */
export const UNKNOWN_AGE_SECONDS = 2_147_483_648;

export const TICK_MS = 10_000;

/** Timers use another clock than the one that is adjusted; smaller differences are timer jitter. */
const JITTER_MS = 1_000;

/**
 * The age grows with the clock, and by at least the time between two ticks if the clock is set back meanwhile. If the clock
 * at start is behind the saved time, the age is unknown: the device may have been off for any time.
 */
export const createCacheAge = (clock: Clock, saved: SavedCacheAge | undefined): CacheAge => {
  /** The age (undefined: unknown) when the clock showed `at`. */
  let mark: { at: number; age: number | undefined; ticked: boolean } = {
    at: clock.now(),
    age: undefined,
    ticked: true,
  };
  if (saved && saved.savedAt <= mark.at && saved.at <= mark.at) mark.age = mark.at - saved.at;

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
      const wasSetBack = passed < least - JITTER_MS;
      const elapsed = passed < 0 ? TICK_MS : Math.max(least, passed);
      mark = { at: clock.now(), age: mark.age === undefined ? undefined : mark.age + elapsed, ticked: true };
      return wasSetBack;
    },
  };
};
