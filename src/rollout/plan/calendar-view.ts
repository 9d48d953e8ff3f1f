import { isDeepStrictEqual } from 'node:util';
import type { Calendar } from '../policy/plan-terms.ts';
import { type CalendarState, calendarAt } from './calendar.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** A calendar as it is at a time, by time zone of the nodes, until the next window or freeze begins or ends. */
interface Look {
  calendar: Calendar | undefined;
  at: number;
  /** Undefined without a calendar. */
  stateOf: (timeZone: string | undefined) => CalendarState | undefined;
  changesAt: () => number;
}

const usesNodeZones = (calendar: Calendar | undefined): boolean =>
  calendar?.windows.some(({ timeZone }) => timeZone === 'node') ?? false;

const lookAt = (calendar: Calendar | undefined, at: number): Look => {
  const byZone = new Map<string, CalendarState>();
  let changesAt = NEVER;
  const stateOf = (timeZone: string | undefined): CalendarState | undefined => {
    if (!calendar) return undefined;
    const zone = usesNodeZones(calendar) ? (timeZone ?? '') : '';
    let state = byZone.get(zone);
    if (!state) {
      state = calendarAt(calendar, zone === '' ? undefined : zone, at);
      byZone.set(zone, state);
      changesAt = Math.min(changesAt, state.changesAt);
    }
    return state;
  };
  stateOf(undefined);
  return { calendar, at, stateOf, changesAt: () => changesAt };
};

export interface CalendarView {
  /**
   * Looks at the calendar at `now`. False: nothing can have changed since the last time. Throws if the calendar can't be
   * computed, and is closed until a later call succeeds.
   */
  set(next: Calendar | undefined, now: number): boolean;
  /** Undefined without windows and freezes. */
  stateOf: (timeZone: string | undefined) => CalendarState | undefined;
  isOpen: (timeZone: string | undefined) => boolean;
  /** The same for every node, whatever its time zone; undefined without windows and freezes. */
  forAll: () => CalendarState | undefined;
  /** When some state changes, epoch ms; Infinity for never. */
  changesAt: () => number;
}

/** The state of a plan's windows and freezes, by time zone of the nodes, until the next one opens or closes. */
export const createCalendarView = (): CalendarView => {
  /** Undefined while the last calendar could not be computed: nothing is open then. */
  let look: Look | undefined = lookAt(undefined, 0);

  /** The last look, if it shows this calendar, and nothing can have changed since. */
  const stillTrue = (last: Look | undefined, wanted: Calendar | undefined, now: number): Look | undefined => {
    // A plan is parsed again whenever it is written, whatever of it has changed.
    if (!last || (wanted !== last.calendar && !isDeepStrictEqual(wanted, last.calendar))) return undefined;
    return !wanted || (now < last.changesAt() && now >= last.at) ? { ...last, calendar: wanted } : undefined;
  };

  return {
    set(next, now) {
      const last = look;
      look = undefined;
      const isEmpty = !next || (next.windows.length === 0 && next.freezes.length === 0);
      const wanted = isEmpty ? undefined : next;
      const known = stillTrue(last, wanted, now);
      look = known ?? lookAt(wanted, now);
      return known === undefined;
    },
    stateOf: (timeZone) => look?.stateOf(timeZone),
    isOpen: (timeZone) => look !== undefined && (look.stateOf(timeZone)?.open ?? true),
    forAll: () => (usesNodeZones(look?.calendar) ? undefined : look?.stateOf(undefined)),
    changesAt: () => look?.changesAt() ?? NEVER,
  };
};
