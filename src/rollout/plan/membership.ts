import { hash } from 'node:crypto';
import type { NodeFacts } from '../facts/node.ts';
import { matches } from '../facts/selector.ts';
import type { IntOrPercent } from '../policy/int-or-percent.ts';
import type { Plan, Stage } from '../policy/plan-terms.ts';
import type { StageState } from './stage-state.ts';

const CODE_LENGTH = 8;

/** A node's place in the samples of a revision: those with the lowest codes are chosen. */
export const sampleCode = (revision: string, node: string): string =>
  hash('sha256', `${revision}/${node}`, 'base64url').slice(0, CODE_LENGTH);

/** The codes of a sample, which follow each other. */
export const codesOf = (sample: string): ReadonlySet<string> =>
  new Set(
    Array.from({ length: sample.length / CODE_LENGTH }, (_, at) =>
      sample.slice(at * CODE_LENGTH, (at + 1) * CODE_LENGTH),
    ),
  );

/** Value of `NodeFacts.stages`: which stages' selectors match. */
export const matchingStages = ({ stages }: Pick<Plan, 'stages'>, labels: Readonly<Record<string, string>>): number =>
  stages.reduce(
    (bits, { selector }, index) => (selector === undefined || matches(selector, labels) ? bits | (1 << index) : bits),
    0,
  );

/** What the stages of a rollout mean for its nodes, as long as neither the plan nor what was passed changes. */
export interface StageView {
  /** Index of the open stage that has not been passed; undefined without stages, or when nothing holds them back. */
  current: { index: number; stage: Stage; state: StageState | undefined } | undefined;
  isOpen: (index: number) => boolean;
  /** A node of the stage that has a pod of the target is exposed to it: the stage is closed, and the target on trial. */
  exposes: (index: number) => boolean;
  /** Index of the stage of a node. Those that a sample may still take are in the stage that takes them otherwise. */
  stageOf: (facts: NodeFacts | undefined) => number;
  /** The threshold of the last open stage; undefined: the DaemonSet's own. */
  failureThreshold: IntOrPercent | undefined;
}

export const everythingOpen: StageView = {
  current: undefined,
  isOpen: () => true,
  exposes: () => false,
  stageOf: () => 0,
  failureThreshold: undefined,
};

/**
 * `lifted`: the stages hold nothing back, as for a rollback; nodes are still counted by stage. `revision`: hash of the target.
 * `wasComplete`: every online node has run it, so that it exposes nobody.
 */
export const viewStages = (
  plan: Plan | undefined,
  states: readonly StageState[],
  lifted: boolean,
  revision: string,
  wasComplete = false,
): StageView => {
  const stages = plan?.stages ?? [];
  if (stages.length === 0) return everythingOpen;
  const byName = new Map(states.map((state) => [state.name, state]));
  const samples = stages.map(({ name, count }) => {
    const sample = byName.get(name)?.sample;
    return count && sample !== undefined ? codesOf(sample) : undefined;
  });
  const last = stages.length - 1;
  const passed = stages.map(({ name }) => byName.get(name)?.promoted !== undefined);
  const firstLeft = passed.indexOf(false);
  const index = firstLeft === -1 ? last : firstLeft;
  const open = passed.map((isPassed, at) => lifted || isPassed || at === index);
  const stage = stages[index];
  const takes = (at: number, name: string): boolean => {
    if (stages[at]?.count === undefined) return true;
    return samples[at]?.has(sampleCode(revision, name)) ?? false;
  };
  return {
    current: lifted || !stage ? undefined : { index, stage, state: byName.get(stage.name) },
    isOpen: (at) => open[at] ?? true,
    exposes: (at) => !wasComplete && open[at] === false,
    stageOf(facts) {
      const bits = facts?.stages ?? 0;
      for (let at = 0; facts && at < last; at += 1) if (bits & (1 << at) && takes(at, facts.name)) return at;
      return last;
    },
    failureThreshold: lifted ? undefined : stages[open.lastIndexOf(true)]?.failureThreshold,
  };
};
