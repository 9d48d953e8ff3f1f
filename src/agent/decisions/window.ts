import { OptionError } from '../../runtime/index.ts';
import { type Weekday, weekdays } from '../types.ts';

export interface Window {
  from: string;
  to: string;
  days?: Weekday[];
}

/** Times are epoch milliseconds. */
export type WindowState = { open: true; closesAt: number } | { open: false; opensAt: number };

interface Span {
  start: number;
  end: number;
}

const DAY_MS = 24 * 3600 * 1000;
// A week, plus days into which a change of the zone's offset can move a window.
const DAYS_AHEAD = 9;
// No time zone is or was further from UTC.
const FARTHEST_OFFSET_MS = 26 * 3600 * 1000;

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

const offsetAt = (moment: Temporal.ZonedDateTime): number => moment.offsetNanoseconds / 1e6;

/** The periods of constant UTC offset of a zone between two times. */
const offsetsBetween = (zone: string, from: number, to: number): (Span & { offset: number })[] => {
  const stretches: (Span & { offset: number })[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone);
  for (let start = from; start < to; ) {
    const next = at.getTimeZoneTransition('next');
    const end = Math.min(to, next?.epochMilliseconds ?? to);
    stretches.push({ start, end, offset: offsetAt(at) });
    if (!next) break;
    start = end;
    at = next;
  }
  return stretches;
};

/**
 * The times at which clocks in the zone show a local time from `start` to `end` (both given as if they were UTC). A local
 * time that occurs twice counts twice. A span that is skipped entirely moves by the skipped time, so that no window is lost.
 */
const momentsOf = (zone: string, { start, end }: Span): Span[] => {
  const stretches = offsetsBetween(zone, start - FARTHEST_OFFSET_MS, end + FARTHEST_OFFSET_MS);
  const found = stretches
    .map((stretch) => ({
      start: Math.max(stretch.start, start - stretch.offset),
      end: Math.min(stretch.end, end - stretch.offset),
    }))
    .filter((span) => span.start < span.end);
  if (found.length > 0) return found;
  const before = stretches.findLast((stretch) => stretch.end + stretch.offset <= start);
  return before ? [{ start: start - before.offset, end: end - before.offset }] : [];
};

/** Sorts spans, and joins those that touch. */
const join = (spans: readonly Span[]): Span[] => {
  const joined: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else joined.push({ ...span });
  }
  return joined;
};

/** When the window is open, from two days before `now` to more than a week after. */
const openings = ({ from, to, days }: Window, zone: string, now: number): Span[] => {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate();
  const start = minutesOf(from) * 60_000;
  const length = (minutesOf(to) * 60_000 - start + DAY_MS) % DAY_MS;
  const spans: Span[] = [];
  for (let ahead = -2; ahead <= DAYS_AHEAD; ahead += 1) {
    const day = today.add({ days: ahead });
    const name = weekdays[day.dayOfWeek - 1];
    if (days && (name === undefined || !days.includes(name))) continue;
    const opens = day.toZonedDateTime('UTC').epochMilliseconds + start;
    spans.push(...momentsOf(zone, { start: opens, end: opens + length }));
  }
  return join(spans);
};

/**
 * Whether the window is open at `now`, and when that changes. It is open while clocks in the zone show a time from `from` to
 * before `to`; `days` are the days on which it opens.
 */
export const windowAt = (window: Window, zone: string, now: number): WindowState => {
  const spans = openings(window, zone, now);
  const current = spans.find(({ start, end }) => start <= now && now < end);
  if (current) return { open: true, closesAt: current.end };
  const next = spans.find(({ start }) => start > now);
  // The days examined include every weekday, so this is only a fallback: look again after them.
  return { open: false, opensAt: next?.start ?? now + DAYS_AHEAD * DAY_MS };
};

// Temporal would also accept a full date with a zone in brackets.
const NAME = /^(?:[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*|[+-]\d{2}:\d{2})$/;

const canonical = (name: string): string | undefined => {
  if (!NAME.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
};

/**
 * The time zone of windows: an IANA name such as `Europe/Berlin`, or an offset such as `+02:00`. Default: the machine's,
 * which in a container is UTC unless the host's /etc/localtime or TZ is passed in. Throws an `OptionError`.
 */
export const parseTimeZone = (name: string | undefined, flag = '--time-zone'): string => {
  if (name === undefined) {
    // oxlint-disable-next-line no-restricted-properties -- the time zone of the machine, not its time
    const own = canonical(Temporal.Now.timeZoneId());
    if (own !== undefined) return own;
    throw new OptionError(flag, "cannot determine the machine's time zone: give its name, such as Europe/Berlin");
  }
  const zone = canonical(name);
  if (zone !== undefined) return zone;
  throw new OptionError(
    flag,
    `"${name}" is not a time zone: give an IANA name such as Europe/Berlin, or an offset such as +02:00`,
  );
};
