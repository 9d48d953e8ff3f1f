import { type PlanWindow, planWeekdays } from '../../words/index.ts';

/** The same times on some days of each week, by the clocks of a time zone. */
export interface Window extends PlanWindow {
  /** An IANA name, or an offset such as `+02:00`. */
  timeZone: string;
}

/** Times are epoch milliseconds; Infinity for none within a year. */
export type WindowState = { open: true; closesAt: number } | { open: false; opensAt: number };

interface Span {
  start: number;
  end: number;
}

const DAY_MS = 24 * 3600 * 1000;
// A week, plus days into which a change of the zone's offset can move a window.
const DAYS_AHEAD = 9;
/** Every opening that begins in this time is among those of the days ahead. */
const SURE_MS = (DAYS_AHEAD - 1) * DAY_MS;
const YEAR_MS = 366 * DAY_MS;
// No time zone is or was further from UTC.
const FARTHEST_OFFSET_MS = 26 * 3600 * 1000;

/** The moment that a clock shows. Clocks have fractions of a millisecond, and Temporal takes whole ones only. */
const instantAt = (ms: number): Temporal.Instant => Temporal.Instant.fromEpochMilliseconds(Math.floor(ms));

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

const offsetAt = (moment: Temporal.ZonedDateTime): number => moment.offsetNanoseconds / 1e6;

/** The periods of constant UTC offset of a zone between two times. */
const offsetsBetween = (zone: string, from: number, to: number): (Span & { offset: number })[] => {
  const stretches: (Span & { offset: number })[] = [];
  let at = instantAt(from).toZonedDateTimeISO(zone);
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

/** When the window is open, from two days before `today` to more than a week after. */
const openingsAround = ({ from, to, days, timeZone }: Window, today: Temporal.PlainDate): Span[] => {
  const start = minutesOf(from) * 60_000;
  const length = (minutesOf(to) * 60_000 - start + DAY_MS) % DAY_MS || DAY_MS;
  const spans: Span[] = [];
  for (let ahead = -2; ahead <= DAYS_AHEAD; ahead += 1) {
    const day = today.add({ days: ahead });
    const name = planWeekdays[day.dayOfWeek - 1];
    if (days && (name === undefined || !days.includes(name))) continue;
    const opens = day.toZonedDateTime('UTC').epochMilliseconds + start;
    spans.push(...momentsOf(timeZone, { start: opens, end: opens + length }));
  }
  return spans;
};

/** Most DaemonSets and nodes ask for the same days, and each is slow to compute: all of a tenant's would stop the manager. */
const known = new Map<string, readonly Span[]>();
const MOST_KNOWN = 5_000;

const openings = (window: Window, now: number): readonly Span[] => {
  const { from, to, days, timeZone } = window;
  const today = instantAt(now).toZonedDateTimeISO(timeZone).toPlainDate();
  const key = [from, to, timeZone, today, JSON.stringify(days)].join('|');
  const before = known.get(key);
  if (before) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const spans = openingsAround(window, today);
  known.set(key, spans);
  return spans;
};

const lastsAlways = ({ from, to, days }: Window): boolean =>
  from === to && (days === undefined || planWeekdays.every((day) => days.includes(day)));

/**
 * Whether one of the windows is open at `now`, and when that changes; windows that touch are one. A window is open while clocks
 * in its zone show a time from `from` to before `to`, which is on the next day unless it is later; `days` are the days on which
 * it opens.
 */
export const windowsAt = (windows: readonly Window[], now: number): WindowState => {
  if (windows.some(lastsAlways)) return { open: true, closesAt: Number.POSITIVE_INFINITY };
  const isOpen = (spans: readonly Span[], at: number): Span | undefined =>
    spans.find(({ start, end }) => start <= at && at < end);
  let spans = join(windows.flatMap((window) => openings(window, now)));
  const open = isOpen(spans, now) !== undefined;
  // Almost always the first round answers: only what stays as it is for more than a week takes another.
  for (let at = now; at < now + YEAR_MS; at += SURE_MS) {
    if (at > now) spans = join(windows.flatMap((window) => openings(window, at)));
    const current = isOpen(spans, at);
    const change = open ? (current?.end ?? at) : current ? at : spans.find(({ start }) => start > at)?.start;
    if (change !== undefined && change < at + SURE_MS)
      return open ? { open, closesAt: change } : { open, opensAt: change };
  }
  return open ? { open, closesAt: Number.POSITIVE_INFINITY } : { open, opensAt: Number.POSITIVE_INFINITY };
};

// Temporal would also accept a full date with a zone in brackets.
const NAME = /^(?:[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*|[+-]\d{2}:\d{2})$/;

/** The time zone's name as it is usually written; undefined if it is neither an IANA name nor an offset such as `+02:00`. */
export const canonicalTimeZone = (name: string): string | undefined => {
  if (!NAME.test(name)) return undefined;
  try {
    return instantAt(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
};

export const isTimeZone = (name: string): boolean => canonicalTimeZone(name) !== undefined;
