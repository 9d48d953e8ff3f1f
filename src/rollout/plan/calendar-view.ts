import { isDeepStrictEqual } from 'node:util';
import { type Calendar, type CalendarState, calendarAt } from './calendar.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** The state of a plan's windows and freezes, by time zone of the nodes, until the next one opens or closes. */
export const createCalendarView = () => {
  let calendar: Calendar | undefined;
  let at = 0;
  let changesAt = NEVER;
  let byZone = new Map<string, CalendarState>();

  const stateOf = (timeZone: string | undefined): CalendarState | undefined => {
    if (!calendar) return undefined;
    const zone = usesNodeZones() ? (timeZone ?? '') : '';
    let state = byZone.get(zone);
    if (!state) {
      state = calendarAt(calendar, zone === '' ? undefined : zone, at);
      byZone.set(zone, state);
      changesAt = Math.min(changesAt, state.changesAt);
    }
    return state;
  };

  function usesNodeZones(): boolean {
    return calendar?.windows.some(({ timeZone }) => timeZone === 'node') ?? false;
  }

  return {
    /** Looks at the calendar at `now`. False: nothing can have changed since the last time. */
    set(next: Calendar | undefined, now: number): boolean {
      const isEmpty = !next || (next.windows.length === 0 && next.freezes.length === 0);
      const wanted = isEmpty ? undefined : next;
      // A plan is parsed anew whenever something about its DaemonSet changes.
      const isSame = wanted === calendar || isDeepStrictEqual(wanted, calendar);
      calendar = wanted;
      if (isSame && (!wanted || (now < changesAt && now >= at))) return false;
      at = now;
      changesAt = NEVER;
      byZone = new Map();
      stateOf(undefined);
      return true;
    },
    stateOf,
    isOpen: (timeZone: string | undefined): boolean => stateOf(timeZone)?.open ?? true,
    /** The same for every node, whatever its time zone; undefined without windows and freezes. */
    forAll: (): CalendarState | undefined => (usesNodeZones() ? undefined : stateOf(undefined)),
    /** When some state changes, epoch ms; Infinity for never. */
    changesAt: (): number => changesAt,
  };
};
export type CalendarView = ReturnType<typeof createCalendarView>;
