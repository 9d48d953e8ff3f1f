import { createGenerator } from '../../support/index.ts';
import type { Operation, Plan, PlannedStep } from './plan.ts';

type Part = readonly [kind: string, path: string];

/** Parts of objects that managers read whenever they take the object in, of kinds that change in every rollout. */
const readParts: readonly Part[] = [
  ['Node', 'status.conditions'],
  ['Node', 'metadata.labels'],
  ['Node', 'metadata.labels.role'],
  ['Pod', 'status.conditions'],
  ['Pod', 'metadata.labels'],
  ['Pod', 'metadata.ownerReferences'],
  ['DaemonSet', 'metadata.annotations'],
  ['DaemonSet', 'metadata.generation'],
  ['DaemonSet', 'spec.template'],
  ['DaemonSet', 'status'],
  ['ControllerRevision', 'data'],
  ['ControllerRevision', 'metadata.ownerReferences'],
];

/** Parts of what agents read for each update of their node. */
const agentParts: readonly Part[] = [
  ['Pod', 'status.conditions'],
  ['Pod', 'metadata.labels'],
  ['Pod', 'metadata.ownerReferences'],
  ['DaemonSet', 'metadata.annotations'],
];

/** Parts of a rollout plan. What is inside of a list is kept as it is, and read again whenever the plan's view is computed. */
const planParts = ({ rolloutPlan }: Plan): Part[] => {
  const paths = [
    'freezes',
    'freezes.0.from',
    'stages',
    'stages.0.nodes',
    'stages.0.promote',
    'windows',
    'windows.0.from',
    'windows.0.timeZone',
    'after.0.name',
    'checks.0.prometheus',
    'maxUnavailablePer.0.topologyKey',
  ];
  // The planner adds a freeze to every plan.
  const fields = new Set(['freezes', ...Object.keys(rolloutPlan ?? {})]);
  return [
    ...paths.flatMap((path): Part[] => (fields.has(path.replace(/\..*/, '')) ? [['RolloutPlan', `spec.${path}`]] : [])),
    ['Node', 'metadata.labels.ring'],
  ];
};

const releasesOf = (steps: readonly PlannedStep[]): number[] =>
  steps.flatMap(({ at, operation }) => (operation.do === 'release' ? [at] : []));

/** How many reads pass first: with none it strikes where the object is taken in, else anywhere. */
const MOST_SKIPPED = 40;

/** So many steps that keep processes from computing something, about when a version is released. */
const stepsOf = (
  chance: ReturnType<typeof createGenerator>,
  count: number,
  parts: readonly Part[],
  releases: readonly number[],
  by?: 'agent',
): PlannedStep[] =>
  Array.from({ length: count }, () => {
    const [kind, path] = chance.oneOf(parts);
    const forMs = chance.happens(0.6) ? chance.between(500, 60_000) : undefined;
    const stays = forMs !== undefined && chance.happens(0.5);
    const skip = chance.happens(0.5) ? chance.between(1, MOST_SKIPPED) : undefined;
    const operation: Operation = {
      do: 'poison',
      kind,
      path,
      ...(forMs !== undefined && { forMs }),
      ...(stays && { stays }),
      ...(skip !== undefined && { skip }),
      ...(by && { by }),
    };
    return { at: Math.max(0, chance.oneOf(releases) + chance.between(-2_000, 4_000)), operation, fault: 'F24' };
  });

/** Faults of what processes compute are in a fifth of the plans. */
const hasPoisons = (chance: ReturnType<typeof createGenerator>, always: boolean): boolean =>
  chance.happens(0.2) || always;

/**
 * Faults of what a manager computes. They are drawn apart from all others, so that a seed gives the other steps that it always
 * gave.
 */
export const poisonSteps = (seed: number, steps: readonly PlannedStep[], always: boolean): PlannedStep[] => {
  const chance = createGenerator(seed ^ 0x5eed24);
  return hasPoisons(chance, always) ? stepsOf(chance, chance.between(1, 2), readParts, releasesOf(steps)) : [];
};

/** The same for the views of a rollout plan, and for agents, until faults are `over`. */
export const withOwnPoisons = (plan: Plan, over: number, always: boolean): Plan => {
  const chance = createGenerator(plan.seed ^ 0x91a724);
  if (!hasPoisons(chance, always)) return plan;
  const releases = releasesOf(plan.steps);
  const more = [
    ...(plan.rolloutPlan ? stepsOf(chance, chance.between(1, 2), planParts(plan), releases) : []),
    ...(plan.model === 'ota' ? stepsOf(chance, chance.between(1, 2), agentParts, releases, 'agent') : []),
  ].filter(({ at }) => at < over);
  return { ...plan, steps: [...plan.steps, ...more].toSorted((a, b) => a.at - b.at) };
};
