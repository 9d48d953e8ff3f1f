import { type Weekday, weekdays } from '../types.ts';

export interface Window {
  from: string;
  to: string;
  days?: Weekday[];
}

/** Where a moment stands to a window, in epoch milliseconds. */
export type WindowState = { open: true; closesAt: number } | { open: false; opensAt: number };

interface Span {
  start: number;
  end: number;
}

const DAY_MS = 24 * 3600 * 1000;
// A week and the days around it in which a shift of the zone can move a window.
const DAYS_AHEAD = 9;
// No zone is, or was, further from UTC.
const FARTHEST_OFFSET_MS = 26 * 3600 * 1000;

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

const offsetAt = (moment: Temporal.ZonedDateTime): number => moment.offsetNanoseconds / 1e6;

/** The stretches of constant offset of a zone between two moments. */
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
 * The moments at which the zone's clocks show a time from `start` to `end` (given as if they were UTC). Times that clocks
 * show twice count twice. A span that they skip as a whole is as much later as they skip, so that no window is lost.
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

/** Spans in order, those that touch joined. */
const join = (spans: readonly Span[]): Span[] => {
  const joined: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else joined.push({ ...span });
  }
  return joined;
};

/** The window's openings from two days before `now` to more than a week after. */
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
 * Whether the window is open at `now`, and when that changes. It is open while the clocks of the zone show a time from
 * `from` up to `to`; a day in `days` is the day on which the window opens.
 */
export const windowAt = (window: Window, zone: string, now: number): WindowState => {
  const spans = openings(window, zone, now);
  const current = spans.find(({ start, end }) => start <= now && now < end);
  if (current) return { open: true, closesAt: current.end };
  const next = spans.find(({ start }) => start > now);
  // Weekdays repeat within the days that were looked at; the end of them is when to look again.
  return { open: false, opensAt: next?.start ?? now + DAYS_AHEAD * DAY_MS };
};
