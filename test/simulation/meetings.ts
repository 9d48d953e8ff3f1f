import type { Clock } from '../../src/runtime/index.ts';
import type { Change } from '../../src/sim/index.ts';
import type { Happening } from './plan.ts';

/** Keeps account of which happenings have met something: a fault that meets nothing has tested nothing. */
export const createMeetings = (time: Clock) => {
  const met = new Set<Happening>();
  const fired = new Map<string, number>();
  let attempts: (() => boolean)[] = [];
  let witnesses: ((change: Change) => boolean)[] = [];
  let trying = false;

  const count = (what: string): void => void fired.set(what, (fired.get(what) ?? 0) + 1);
  const meet = (happening: Happening): void => {
    if (met.has(happening)) return;
    met.add(happening);
    count(happening.deed.do);
    if (happening.fault) count(happening.fault);
  };
  return {
    /** By kind of fault, and by what was done. */
    fired: fired as ReadonlyMap<string, number>,
    count,
    isMet: (happening: Happening): boolean => met.has(happening),
    meet,
    /** Does it now, or after the first commit with which it can be done. */
    whenPossible(attempt: () => boolean): void {
      if (!attempt()) attempts.push(attempt);
    },
    /** Is asked about each commit until it says yes. */
    until(witness: (change: Change) => boolean): void {
      witnesses.push(witness);
    },
    /** To be called with every commit. */
    commit(change: Change): void {
      if (witnesses.length > 0) witnesses = witnesses.filter((witness) => !witness(change));
      if (attempts.length === 0 || trying) return;
      // Not within the commit: what is done may commit something itself.
      trying = true;
      time.timer(0, () => {
        trying = false;
        attempts = attempts.filter((attempt) => !attempt());
      });
    },
  };
};
