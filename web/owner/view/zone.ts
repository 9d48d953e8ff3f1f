// Local time of the device, which may be in another time zone than the browser.

export interface LocalTime {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  formats.set(timeZone, made);
  return made;
};

/** A zone that this browser knows. The browser's time zone data may be older than the device's. */
export const usableZone = (timeZone: string): string => {
  try {
    formatOf(timeZone);
    return timeZone;
  } catch {
    return 'UTC';
  }
};

export const localTime = (at: number, timeZone: string): LocalTime => {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return { year: of('year'), month: of('month'), day: of('day'), hour: of('hour'), minute: of('minute') };
};

const asIfUtc = ({ year, month, day, hour, minute }: LocalTime): number => Date.UTC(year, month - 1, day, hour, minute);

/** The time when clocks in the zone show `local`. If that time is skipped, the time with the same distance from midnight. */
export const instantOf = (local: LocalTime, timeZone: string): number => {
  const wanted = asIfUtc(local);
  const offsetAt = (at: number): number => asIfUtc(localTime(at, timeZone)) - Math.floor(at / 60_000) * 60_000;
  const guess = wanted - offsetAt(wanted);
  return wanted - offsetAt(guess);
};

/** Days from the local day of `now` to that of `at`: 0 today, 1 tomorrow. */
export const daysFrom = (now: number, at: number, timeZone: string): number => {
  const day = (time: number): number => asIfUtc({ ...localTime(time, timeZone), hour: 0, minute: 0 });
  return Math.round((day(at) - day(now)) / 86_400_000);
};

/** The given hour on the local day after `now`. */
export const tomorrowAt = (now: number, hour: number, timeZone: string): number => {
  const today = localTime(now, timeZone);
  // Date.UTC handles the end of the month.
  return instantOf({ ...today, day: today.day + 1, hour, minute: 0 }, timeZone);
};
