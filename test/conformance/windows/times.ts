import type { RolloutPlanSpec } from '../../../src/words/index.ts';

type Window = NonNullable<RolloutPlanSpec['windows']>[number];

const MINUTE_MS = 60_000;

/** As plans write it: `14:05`. */
const clockIn = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);

/** A window from this many minutes before or after now, by the clocks of a time zone. */
export const windowAt = (fromMinutes: number, toMinutes: number, timeZone = 'UTC'): Window => {
  const now = Date.now();
  return {
    from: clockIn(timeZone, now + fromMinutes * MINUTE_MS),
    to: clockIn(timeZone, now + toMinutes * MINUTE_MS),
    timeZone,
  };
};

/** A window that begins, or ends, at this full minute, and is as long as it can be without another change near. */
export const windowFrom = (at: number, timeZone: string): Window => ({
  from: clockIn(timeZone, at),
  to: clockIn(timeZone, at + 120 * MINUTE_MS),
  timeZone,
});
export const windowUntil = (at: number, timeZone: string): Window => ({
  from: clockIn(timeZone, at - 120 * MINUTE_MS),
  to: clockIn(timeZone, at),
  timeZone,
});

/** A freeze that is on, and what is said of it where no window closes after it. */
export const holidays = () => {
  const to = new Date(Date.now() + 30 * 24 * 60 * MINUTE_MS).toISOString().slice(0, 10);
  return {
    freeze: { from: '2000-01-01', to, reason: 'holidays' },
    holds: new RegExp(`forbids updates until ${to}T00:00:00Z \\(holidays\\)`),
  };
};

/** The next full minute that is at least this many seconds ahead, epoch ms. */
export const nextMinute = (seconds: number): number => Math.ceil((Date.now() + seconds * 1000) / MINUTE_MS) * MINUTE_MS;

/** A time zone in which it is between midnight and one o'clock, and the days there: today and yesterday. */
export const zoneAtMidnight = (): { timeZone: string; today: Day; yesterday: Day } => {
  const hour = new Date().getUTCHours();
  // The signs of these names are the other way around: Etc/GMT+5 is five hours behind.
  const timeZone = hour <= 12 ? `Etc/GMT+${hour}` : `Etc/GMT-${24 - hour}`;
  const dayOf = (at: number): Day => new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short' }).format(at) as Day;
  return { timeZone, today: dayOf(Date.now()), yesterday: dayOf(Date.now() - 24 * 60 * MINUTE_MS) };
};
type Day = NonNullable<Window['days']>[number];
