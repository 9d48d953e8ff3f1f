import type { PlanWindow } from '../../words/index.ts';
import type { Calendar, Freeze } from '../policy/plan-terms.ts';
import { canonicalTimeZone, type WindowState, windowsAt } from './window.ts';

/** Times are epoch milliseconds; Infinity for none within a year. */
export interface CalendarState {
  open: boolean;
  /** When anything else of this state changes. */
  changesAt: number;
  /** A freeze also when no window is open. */
  closedBy: { kind: 'window' } | { kind: 'freeze'; reason?: string } | undefined;
  /** `now` while it is open. */
  opensAt: number;
}

const YEAR_MS = 366 * 24 * 3600 * 1000;

const zoneOf = ({ timeZone = 'UTC' }: PlanWindow, nodeTimeZone = 'UTC'): string =>
  canonicalTimeZone(timeZone === 'node' ? nodeTimeZone : timeZone) ?? 'UTC';

/** Since when each time zone has had its answer. Many DaemonSets may share a calendar, which is slow to compute. */
const known = new WeakMap<Calendar, Map<string | undefined, { state: CalendarState; since: number }>>();

/**
 * Whether updates may begin at `now` on a node whose annotation names the time zone: one of the windows is open, and no freeze is
 * on. A time zone that does not exist counts as UTC. Nodes of the same time zone have the same answer until it changes.
 */
export const calendarAt = (calendar: Calendar, nodeTimeZone: string | undefined, now: number): CalendarState => {
  const zones = known.get(calendar) ?? new Map<string | undefined, { state: CalendarState; since: number }>();
  const before = zones.get(nodeTimeZone);
  if (before && before.since <= now && now < before.state.changesAt)
    return before.state.open ? { ...before.state, opensAt: now } : before.state;
  const state = compute(calendar, nodeTimeZone, now);
  zones.set(nodeTimeZone, { state, since: now });
  known.set(calendar, zones);
  return state;
};

const compute = ({ windows, freezes }: Calendar, nodeTimeZone: string | undefined, now: number): CalendarState => {
  const zoned = windows.map((window) => ({ ...window, timeZone: zoneOf(window, nodeTimeZone) }));
  const windowAt = (at: number): WindowState =>
    zoned.length === 0 ? { open: true, closesAt: Number.POSITIVE_INFINITY } : windowsAt(zoned, at);
  /** Of freezes that overlap, the one that ends last. */
  const freezeAt = (at: number): Freeze | undefined =>
    freezes
      .filter(({ from, to }) => from <= at && at < to)
      .toSorted((a, b) => b.to - a.to)
      .at(0);

  const nextOpening = (): number => {
    for (let at = now; at < now + YEAR_MS; ) {
      const freeze = freezeAt(at);
      if (freeze) {
        at = freeze.to;
        continue;
      }
      const window = windowAt(at);
      if (window.open) return at;
      at = window.opensAt;
    }
    return Number.POSITIVE_INFINITY;
  };

  const freeze = freezeAt(now);
  const window = windowAt(now);
  const freezeChanges = freezes
    .flatMap(({ from, to }) => [from, to])
    .filter((at) => at > now && freezeAt(at) !== freeze);
  const windowChange = window.open ? window.closesAt : window.opensAt;
  const changesAt = Math.min(...freezeChanges, ...(freeze ? [] : [windowChange]));
  const opensAt = nextOpening();
  if (freeze)
    return {
      open: false,
      changesAt,
      closedBy: { kind: 'freeze', ...(freeze.reason !== undefined && { reason: freeze.reason }) },
      opensAt,
    };
  return { open: window.open, changesAt, closedBy: window.open ? undefined : { kind: 'window' }, opensAt };
};

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Reads a date of RFC 3339, as its midnight in UTC, or a date with a time. Undefined if there is no such day or time. */
export const parseDate = (text: string): number | undefined => {
  if (!DATE.test(text) && !DATE_TIME.test(text)) return undefined;
  try {
    return Temporal.Instant.from(DATE.test(text) ? `${text}T00:00:00Z` : text).epochMilliseconds;
  } catch {
    return undefined;
  }
};
