import { callEach } from './check.ts';
import type { Activity, Checker } from './checker.ts';
import { mergeFigures, type Violation } from './report.ts';

type HookName =
  | 'onCommit'
  | 'onSend'
  | 'onResponse'
  | 'onFailure'
  | 'onWatchOpened'
  | 'onWatchEvent'
  | 'onWatchClosed'
  | 'onAnswer'
  | 'onOperation'
  | 'onConverged';

/** One checker for all DaemonSets of a run: each DaemonSet has its own checker. */
export const combineCheckers = (checkers: readonly Checker[]) => {
  const all = <H extends HookName>(hook: H) => {
    type Hook = (...args: Parameters<Checker[H]>) => void;
    return callEach(checkers.map((checker) => checker[hook] as Hook));
  };
  return {
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
    onCommit: all('onCommit'),
    onSend: all('onSend'),
    onResponse: all('onResponse'),
    onFailure: all('onFailure'),
    onWatchOpened: all('onWatchOpened'),
    onWatchEvent: all('onWatchEvent'),
    onWatchClosed: all('onWatchClosed'),
    onAnswer: all('onAnswer'),
    onOperation: all('onOperation'),
    onConverged: all('onConverged'),
    /** A call reaches the server. Returns what to run once it was executed. */
    onArrival(call: Parameters<Checker['onArrival']>[0]): (() => void) | undefined {
      const executed = checkers.flatMap((checker) => checker.onArrival(call) ?? []);
      return executed.length === 0 ? undefined : () => executed.forEach((each) => each());
    },
    hasViolations: (): boolean => checkers.some(({ violations }) => violations.length > 0),
    isFinished: (): boolean => checkers.every((checker) => checker.isFinished()),
    /** L1, once no fault is left. */
    unfinished: (): string[] => checkers.flatMap((checker) => checker.unfinished()),
  };
};
