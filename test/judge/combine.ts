import { combineChecks } from './check.ts';
import type { Activity, Checker } from './checker.ts';
import { mergeFigures, type Violation } from './report.ts';

/** One checker for all DaemonSets of a run: each DaemonSet has its own checker. */
export const combineCheckers = (checkers: readonly Checker[]) => ({
  ...combineChecks(checkers),
  get violations(): readonly Violation[] {
    return checkers.flatMap(({ violations }) => violations);
  },
  get checked(): ReadonlyMap<string, number> {
    return mergeFigures(checkers.map(({ checked }) => checked));
  },
  get figures(): ReadonlyMap<string, number> {
    return mergeFigures(checkers.map(({ figures }) => figures));
  },
  get activity(): Activity {
    return {
      updates: checkers.reduce((sum, { activity }) => sum + activity.updates, 0),
      lastWriteAt: Math.max(...checkers.map(({ activity }) => activity.lastWriteAt)),
    };
  },
  /** A call reaches the server. Returns what to run once it was executed. */
  onArrival(call: Parameters<Checker['onArrival']>[0]): (() => void) | undefined {
    const executed = checkers.flatMap((checker) => checker.onArrival(call) ?? []);
    return executed.length === 0 ? undefined : () => executed.forEach((each) => each());
  },
  hasViolations: (): boolean => checkers.some(({ violations }) => violations.length > 0),
  isFinished: (): boolean => checkers.every((checker) => checker.isFinished()),
  /** L1, once no fault is left. */
  unfinished: (): string[] => checkers.flatMap((checker) => checker.unfinished()),
});
