import { hash } from 'node:crypto';
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts';
import type { DaemonRolloutStage, RolloutPlanSpec } from '../../src/words/index.ts';

/** What a node of a stage is judged by. */
export interface StagedNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** What may mark a node as busy: the types of its conditions that are True. */
export interface MarkedNode extends StagedNode {
  taints: readonly { key: string }[];
  conditions: readonly string[];
}

const REST = 'rest';
const CODE = 8;

/** Whether a sample, as the status has it, names the node. */
export const isInSample = (sample: string, revision: string, node: string): boolean => {
  const code = hash('sha256', `${revision}/${node}`, 'base64url').slice(0, CODE);
  for (let at = 0; at < sample.length; at += CODE) if (sample.startsWith(code, at)) return true;
  return false;
};

export const sizeOfSample = (sample: string): number => sample.length / CODE;

const fits = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector, { labels }: StagedNode): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => {
    const found = labels[key];
    if (operator === 'Exists') return found !== undefined;
    if (operator === 'DoesNotExist') return found === undefined;
    return (found !== undefined && values.includes(found)) === (operator === 'In');
  });

/** The plan skips the node for now. */
export const isBusy = ({ skipNodes }: RolloutPlanSpec, node: MarkedNode): boolean => {
  if (!skipNodes) return false;
  const { selector, taints = [], conditions = [] } = skipNodes;
  return (
    (selector !== undefined && fits(selector, node)) ||
    node.taints.some(({ key }) => taints.includes(key)) ||
    node.conditions.some((type) => conditions.includes(type))
  );
};

/** The stage of a node: the first one of the plan that takes it. `stages`: of the status, for their samples. */
export const stageOfNode = (
  { stages: planned = [] }: RolloutPlanSpec,
  stages: readonly DaemonRolloutStage[],
  revision: string,
  node: StagedNode,
): string => {
  const stage = planned.find(({ name, nodes = {} }) => {
    if (nodes.selector && !fits(nodes.selector, node)) return false;
    if (nodes.count === undefined) return true;
    const sample = stages.find((each) => each.name === name)?.sample;
    return sample !== undefined && isInSample(sample, revision, node.name);
  });
  return stage?.name ?? REST;
};

/** The stages that were promoted, and the first of the others. */
export const openStages = (
  { stages: planned = [] }: RolloutPlanSpec,
  stages: readonly DaemonRolloutStage[],
): readonly string[] => {
  const names = [...planned.map(({ name }) => name), REST];
  const isPassed = (name: string): boolean =>
    stages.some((each) => each.name === name && each.promotedAt !== undefined);
  const first = names.find((name) => !isPassed(name));
  return names.filter((name) => name === first || isPassed(name));
};

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const DAY_MS = 86_400_000;

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/** Why nothing may begin at this time: its windows are in UTC. Undefined: something may. */
export const closedAt = ({ windows = [], freezes = [] }: RolloutPlanSpec, at: number): string | undefined => {
  const freeze = freezes.find(({ from, to }) => Date.parse(from) <= at && at < Date.parse(to));
  if (freeze) return `a freeze lasts until ${freeze.to}`;
  const isOpen = windows.some(({ from, to, days = DAYS }) => {
    const [start, end] = [minutesOf(from), minutesOf(to)];
    const lasts = (end > start ? end - start : end - start + 24 * 60) * 60_000;
    const midnight = Math.floor(at / DAY_MS) * DAY_MS;
    // A window that wraps past midnight belongs to the day on which it begins.
    return [midnight, midnight - DAY_MS].some((day) => {
      const began = day + start * 60_000;
      const name = DAYS[new Date(day).getUTCDay()];
      return name !== undefined && days.includes(name) && began <= at && at < began + lasts;
    });
  });
  return windows.length === 0 || isOpen ? undefined : 'no window is open';
};
