import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../call.ts';
import type { Deed } from '../plan.ts';
import type { Account, Checker } from './checker.ts';
import { type Breach, MOST } from './report.ts';

/** Those of all DaemonSets of a run as one: each judges its own, and none knows of another. */
export const together = (checkers: readonly Checker[]) => ({
  get breaches(): readonly Breach[] {
    return checkers.flatMap(({ breaches }) => breaches);
  },
  get checked(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { checked } of checkers)
      for (const [rule, times] of checked) sums.set(rule, (sums.get(rule) ?? 0) + times);
    return sums;
  },
  get account(): Account {
    return {
      acts: checkers.reduce((sum, { account }) => sum + account.acts, 0),
      lastWriteAt: Math.max(...checkers.map(({ account }) => account.lastWriteAt)),
    };
  },
  /** To be called with every commit. */
  commit(change: Change): void {
    for (const checker of checkers) checker.commit(change);
  },
  /** A process sends a call. */
  leaves(call: Call): void {
    for (const checker of checkers) checker.leaves(call);
  },
  /** A call reaches the server. Returns what to do when it was carried out. */
  arrives(call: Call): (() => void) | undefined {
    const heard = checkers.flatMap((checker) => checker.arrives(call) ?? []);
    return heard.length === 0 ? undefined : () => heard.forEach((each) => each());
  },
  /** What was measured: sums, or the most that was met. */
  get figures(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { figures } of checkers)
      for (const [name, value] of figures)
        sums.set(name, name.startsWith(MOST) ? Math.max(sums.get(name) ?? 0, value) : (sums.get(name) ?? 0) + value);
    return sums;
  },
  learns(call: Call, object: unknown): void {
    for (const checker of checkers) checker.learns(call, object);
  },
  fails(call: Call): void {
    for (const checker of checkers) checker.fails(call);
  },
  opens(...heard: Parameters<Checker['opens']>): void {
    for (const checker of checkers) checker.opens(...heard);
  },
  hears(...heard: Parameters<Checker['hears']>): void {
    for (const checker of checkers) checker.hears(...heard);
  },
  closes(...heard: Parameters<Checker['closes']>): void {
    for (const checker of checkers) checker.closes(...heard);
  },
  deed(deed: Deed): void {
    for (const checker of checkers) checker.deed(deed);
  },
  over(): void {
    for (const checker of checkers) checker.over();
  },
  hasBreaches: (): boolean => checkers.some(({ breaches }) => breaches.length > 0),
  isFinished: (): boolean => checkers.every((checker) => checker.isFinished()),
  /** L1, once nothing is wrong with the cluster any more. */
  unfinished: (): string[] => checkers.flatMap((checker) => checker.unfinished()),
});
