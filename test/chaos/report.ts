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
  result: CheckResult;
}

const list = (counts: Iterable<readonly [string, number | string]>): string =>
  [...counts].map(([what, count]) => `${what} ${count}`).join(', ');

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The results of a run, for people. */
export const formatReport = ({ plan, planned, fired, seconds, rest, result }: Account): string[] => {
  const daemonSets = setNames.map((set) => ({ set, ...result.progress[set] }));
  const faults = [...planned].filter(([what]) => what !== 'release');
  const longest = daemonSets.toSorted((a, b) => b.longestMs - a.longestMs);
  const actsOf = ({ acts }: (typeof daemonSets)[number]): number => sum([...acts.values()]);
  return [
    `seed ${plan.seed}: ${Math.round(seconds)} s of faults on ${plan.nodes} nodes with ${daemonSets.length} DaemonSets and two managers`,
    `faults fired: ${list(faults.map(([what, count]) => [what, fired.get(what) === count ? count : `${fired.get(what) ?? 0} of ${count}`]))}`,
    `rollouts: ${sum(daemonSets.map(({ rollouts }) => rollouts))}, of which ${sum(daemonSets.map(({ completed }) => completed))} reached every online node before the next one; failovers: ${result.failovers}`,
    `updates: ${sum(daemonSets.map(actsOf))} (${list(daemonSets.map((each) => [each.set, actsOf(each)]))})`,
    `checked: ${list([...result.checked].toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })))}`,
    `longest time without progress: ${list(longest.map(({ set, longestMs }) => [set, `${(longestMs / 1000).toFixed(1)} s`]))}`,
    `L1 after ${(rest.ms / 1000).toFixed(1)} s; S15: ${rest.restSeconds} s at rest`,
    `records: ${result.records}, of which only the watcher observed ${result.observedOnly}; ${result.attributed} updates with a lost response`,
  ];
};
