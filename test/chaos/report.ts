import type { CheckResult } from './check-run.ts';
import type { Convergence } from './convergence.ts';
import type { Plan } from './plan.ts';
import { setNames } from './plan.ts';

interface Account {
  plan: Plan;
  planned: ReadonlyMap<string, number>;
  fired: ReadonlyMap<string, number>;
  seconds: number;
  rest: Convergence;
  trial: CheckResult;
}

const list = (counts: Iterable<readonly [string, number | string]>): string =>
  [...counts].map(([what, count]) => `${what} ${count}`).join(', ');

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** What a run came to, for people. */
export const formatReport = ({ plan, planned, fired, seconds, rest, trial }: Account): string[] => {
  const daemonSets = setNames.map((set) => ({ set, ...trial.progress[set] }));
  const faults = [...planned].filter(([what]) => what !== 'release');
  const longest = daemonSets.toSorted((a, b) => b.longestMs - a.longestMs);
  const actsOf = ({ acts }: (typeof daemonSets)[number]): number => sum([...acts.values()]);
  return [
    `seed ${plan.seed}: ${Math.round(seconds)} s of faults on ${plan.nodes} nodes with ${daemonSets.length} DaemonSets and two managers`,
    `faults fired: ${list(faults.map(([what, count]) => [what, fired.get(what) === count ? count : `${fired.get(what) ?? 0} of ${count}`]))}`,
    `rollouts: ${sum(daemonSets.map(({ rollouts }) => rollouts))}, of which ${sum(daemonSets.map(({ completed }) => completed))} came to every online node before the next; failovers: ${trial.failovers}`,
    `acts: ${sum(daemonSets.map(actsOf))} (${list(daemonSets.map((each) => [each.set, actsOf(each)]))})`,
    `held against: ${list([...trial.checked].toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })))}`,
    `longest time without progress: ${list(longest.map(({ set, longestMs }) => [set, `${(longestMs / 1000).toFixed(1)} s`]))}`,
    `L1 after ${(rest.ms / 1000).toFixed(1)} s; S15: ${rest.restSeconds} s at rest`,
    `records: ${trial.records}, of which the watcher alone saw ${trial.seenOnly}; ${trial.regained} acts with a lost answer`,
  ];
};
