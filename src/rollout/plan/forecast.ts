import type { Calendar } from '../policy/plan-terms.ts';
import { calendarAt } from './calendar.ts';

/** Updates that follow each other. */
export interface Waves {
  /** Of the nodes, where windows go by their own time. */
  timeZone: string | undefined;
  count: number;
  /** How long each takes. */
  ms: number;
}

const NEVER = Number.POSITIVE_INFINITY;
// A plan whose windows are too short to end in this many of them has no forecast.
const MOST_OPENINGS = 366;

/**
 * When the first wave can begin and the last one has ended, from `start` on: each begins while the calendar is open, and may end
 * after it has closed. Infinity if that is not within a year. Times are epoch ms.
 */
export const forecastWaves = (
  calendar: Calendar,
  { timeZone, count, ms }: Waves,
  start: number,
): { beginsAt: number; endsAt: number } => {
  if (count === 0) return { beginsAt: start, endsAt: start };
  let left = count;
  let at = calendarAt(calendar, timeZone, start).opensAt;
  const beginsAt = at;
  for (let openings = 0; openings < MOST_OPENINGS && Number.isFinite(at); openings += 1) {
    const { changesAt } = calendarAt(calendar, timeZone, at);
    const fit = ms === 0 || !Number.isFinite(changesAt) ? left : Math.ceil((changesAt - at) / ms);
    if (fit >= left) return { beginsAt, endsAt: at + left * ms };
    left -= fit;
    at = calendarAt(calendar, timeZone, Math.max(changesAt, at + fit * ms)).opensAt;
  }
  return { beginsAt, endsAt: NEVER };
};

/** How long the calendar was open between two times. */
export const openTime = (calendar: Calendar, from: number, to: number): number => {
  let open = 0;
  let at = from;
  for (let openings = 0; openings < MOST_OPENINGS && at < to; openings += 1) {
    const state = calendarAt(calendar, undefined, at);
    const end = Math.min(to, state.changesAt);
    if (state.open) open += end - at;
    at = end;
  }
  return open;
};
