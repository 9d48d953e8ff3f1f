import { count, type IntOrPercent, isNeverSeen, parseIntOrPercent, percent, scaledValue } from '../../rollout/index.ts';
import { OptionError } from '../../runtime/index.ts';
import { formatSeconds, rateOf, timeUntil } from '../../view/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';

/** What `wait` waits for. */
export interface Goal {
  /** How many nodes must have the target. */
  coverage: IntOrPercent;
  /** Of all nodes, and not only of those that are online. */
  includeOffline: boolean;
}

/** Without any flag: Complete decides, which also means that no update is in flight. */
export const isDefault = ({ coverage, includeOffline }: Goal): boolean =>
  !includeOffline && coverage.kind === 'percent' && coverage.value === 100;

export const readGoal = (coverage = '100%', includeOffline = false): Goal => {
  const parsed = parseIntOrPercent(coverage);
  if (!parsed || parsed.value === 0 || (parsed.kind === 'percent' && parsed.value > 100))
    throw new OptionError(
      '--coverage',
      `"${coverage}" is not a share of the nodes: give a percentage such as 99%, or a number of nodes`,
    );
  return { coverage: parsed.kind === 'percent' ? percent(parsed.value) : count(parsed.value), includeOffline };
};

/** How fast it goes, and for how long by the manager's estimate: `8 nodes a minute, 28m left`; empty without one. */
export const paceOf = (status: DaemonRolloutStatus, now: number): string => {
  const left = timeUntil(status.estimatedFinishAt, now);
  const rate = rateOf(status, now);
  if (left === '' || rate === 0) return '';
  if (rate === undefined) return `${left} left`;
  const [often, unit] = rate < 1 ? [rate * 60, 'an hour'] : [rate, 'a minute'];
  const shown = Math.max(1, Math.round(often));
  return `${shown} node${shown === 1 ? '' : 's'} ${unit}, ${left} left`;
};

export interface Coverage {
  reached: boolean;
  /** `990 of 1000 nodes have web-6d8c (99% are enough)`. */
  message: string;
}

/** How far the goal is reached according to a status that is about the present. */
export const coverageOf = (
  { nodes, causes = [], stragglers = [], target }: DaemonRolloutStatus,
  { coverage, includeOffline }: Goal,
  now: number,
): Coverage => {
  const offlineCurrent = causes.find(({ cause }) => cause === 'offline-current')?.count ?? 0;
  const all = (includeOffline ? nodes?.eligible : nodes?.online) ?? 0;
  const have = (nodes?.updated ?? 0) + (includeOffline ? offlineCurrent : 0);
  const enough = Math.min(all, scaledValue(coverage, all, 'up'));
  const reached = have >= enough;
  const what = includeOffline ? 'nodes' : 'online nodes';
  const limit = enough < all ? ` (${enough} are enough)` : '';
  const away = stragglers.map(
    ({ node, lastSeen }) =>
      `${node} (${isNeverSeen(lastSeen) ? 'never reported' : formatSeconds((now - Date.parse(lastSeen)) / 1000)})`,
  );
  const waits =
    includeOffline && !reached && away.length > 0 ? ` Offline, with the time since: ${away.join(', ')}.` : '';
  return { reached, message: `${have} of ${all} ${what} have ${target?.revision ?? 'the target'}${limit}.${waits}` };
};
