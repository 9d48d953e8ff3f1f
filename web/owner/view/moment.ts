import type { Text } from '../text/index.ts';
import type { Weekday } from '../types.ts';
import { daysFrom, localTime } from './zone.ts';

/** Formats times for people, in the device's time zone and the reader's language. */
export interface Moments {
  /** `today at 17:03`, `Friday 27 November at 18:00`. */
  say(at: number): string;
  /** `17:03`. */
  clock(at: number): string;
  /** `Saturday and Sunday`. */
  weekdays(days: readonly Weekday[]): string;
}

/** A Monday, in UTC. */
const MONDAY = Date.UTC(2026, 10, 23);
const DAYS: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

export const createMoments = (text: Text, timeZone: string, now: number): Moments => {
  const time = new Intl.DateTimeFormat(text.language, {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const day = (at: number): string => {
    const sameYear = localTime(at, timeZone).year === localTime(now, timeZone).year;
    return new Intl.DateTimeFormat(text.language, {
      timeZone,
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      ...(sameYear ? {} : { year: 'numeric' }),
    }).format(at);
  };
  const clock = (at: number): string => time.format(at);
  return {
    clock,
    weekdays(days) {
      const name = new Intl.DateTimeFormat(text.language, { timeZone: 'UTC', weekday: 'long' });
      const names = days.map((each) => name.format(MONDAY + DAYS.indexOf(each) * 86_400_000));
      return new Intl.ListFormat(text.language).format(names);
    },
    say(at) {
      switch (daysFrom(now, at, timeZone)) {
        case 0:
          return text.moment.today(clock(at));
        case 1:
          return text.moment.tomorrow(clock(at));
        case -1:
          return text.moment.yesterday(clock(at));
        default:
          return text.moment.other(day(at), clock(at));
      }
    },
  };
};
