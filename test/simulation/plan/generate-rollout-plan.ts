import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { createGenerator } from '../../support/index.ts';
import { setsOf } from '../cluster/workload.ts';
import { CHECK_CONDITION, CHECK_QUERY, UNCOMPILABLE_CONDITION } from '../network/prometheus.ts';
import { type BusyMark, busyMarks, type Operation, type Plan, type PlannedStep, START } from './plan.ts';

/** How many of the plans of one DaemonSet have a rollout plan. */
const SHARE = 0.3;

type Stage = NonNullable<RolloutPlanSpec['stages']>[number];

/**
 * Gives some rollout plans a check that a stage needs, and a Prometheus that answers badly, or not at all, for a while. It draws
 * from its own sequence, too.
 */
const withChecks = (
  spec: RolloutPlanSpec,
  seed: number,
  over: number,
  put: (at: number, operation: Operation) => void,
): RolloutPlanSpec => {
  const chance = createGenerator(seed + 0xc4ec5);
  const stages = spec.stages ?? [];
  if (stages.length === 0 || !chance.happens(0.4)) return spec;
  const checked = chance.between(0, stages.length - 1);
  const interval = `${chance.oneOf([2, 5, 15])}s`;
  for (let count = chance.between(0, 3); count > 0; count -= 1)
    put(chance.between(5_000, over), {
      do: 'metric',
      answer: chance.oneOf(['bad', 'bad', 'nan', 'empty', 'down', 'hangs'] as const),
      forMs: chance.between(5_000, 120_000),
    });
  return {
    ...spec,
    stages: stages.map((stage, index) =>
      index === checked ? { ...stage, promote: { ...stage.promote, checks: ['errors'] } } : stage,
    ),
    checks: [
      {
        name: 'errors',
        prometheus: { query: CHECK_QUERY, condition: CHECK_CONDITION, interval, failureLimit: chance.between(0, 2) },
      },
    ],
  };
};

/**
 * Updates some DaemonSets after another one of the plan, of which versions are released at almost the same time. It draws from
 * its own sequence, too.
 */
const withOrder = (
  spec: RolloutPlanSpec,
  plan: Plan,
  put: (at: number, operation: Operation) => void,
): RolloutPlanSpec => {
  const chance = createGenerator(plan.seed + 0x0dde7);
  const others = [...setsOf(plan).entries()].slice(1);
  if (others.length === 0 || !chance.happens(0.6)) return spec;
  const [index, { set, name }] = chance.oneOf(others);
  for (const { at, operation } of plan.steps)
    if (operation.do === 'release' && operation.set === undefined && chance.happens(0.5))
      put(at - chance.between(0, 200), { ...operation, image: `app:o${at}`, set: index });
  const apiGroup = set.kind === 'native' ? 'apps' : 'apps.kruise.io';
  return { ...spec, after: [{ apiGroup, name, scope: chance.oneOf(['Node', 'Node', 'Rollout'] as const) }] };
};

/** On each node closed for one minute, and for each zone of the nodes another one; see the nodes' time zones. */
const NODE_WINDOWS: NonNullable<RolloutPlanSpec['windows']> = [
  { from: '00:00', to: '00:01', timeZone: 'node' },
  { from: '00:02', to: '05:32', timeZone: 'node' },
  { from: '05:33', to: '20:30', timeZone: 'node' },
  { from: '20:31', to: '23:55', timeZone: 'node' },
];

/** Lets some windows go by the time of each node. It draws from its own sequence, too. */
const createZoning = (seed: number) => {
  const chance = createGenerator(seed + 0x20e5);
  return (spec: RolloutPlanSpec): RolloutPlanSpec =>
    spec.windows && chance.happens(0.6) ? { ...spec, windows: NODE_WINDOWS } : spec;
};

const SKIPPED: NonNullable<RolloutPlanSpec['skipNodes']> = {
  selector: { matchExpressions: [{ key: busyMarks.label, operator: 'In', values: ['now'] }] },
  taints: [busyMarks.taint],
  conditions: [busyMarks.condition],
};

/** Lets some plans skip busy nodes, and marks nodes for a while. It draws from its own sequence, too. */
const createSkipping = (
  { seed, nodes }: Plan,
  over: number,
  put: (at: number, operation: Operation) => void,
): ((spec: RolloutPlanSpec) => RolloutPlanSpec) => {
  const chance = createGenerator(seed + 0xb0e5);
  if (!chance.happens(0.5)) return (spec) => spec;
  for (let count = chance.between(1, 6); count > 0; count -= 1) {
    const node = `node-${chance.between(0, nodes - 1)}`;
    const by = chance.oneOf<BusyMark>(['label', 'taint', 'condition']);
    const at = chance.between(4_000, Math.max(5_000, over - 1));
    put(at, { do: 'busy', node, by, busy: true });
    // Some are busy until the end.
    put(at + chance.between(1_000, 120_000), { do: 'busy', node, by, busy: false });
  }
  return (spec) => (chance.happens(0.85) ? { ...spec, skipNodes: SKIPPED } : spec);
};

/** Makes some rollout plans invalid for a while. It draws from its own sequence, too. */
const invalidAtTimes = (
  plan: Plan,
  spec: RolloutPlanSpec,
  over: number,
  put: (at: number, operation: Operation) => void,
): void => {
  const chance = createGenerator(plan.seed + 0x1badb);
  const [own] = setsOf(plan);
  if (!own || !chance.happens(0.3)) return;
  const apiGroup = own.set.kind === 'native' ? 'apps' : 'apps.kruise.io';
  const invalid = chance.oneOf<RolloutPlanSpec>([
    { ...spec, after: [{ apiGroup, name: own.name, scope: 'Node' }] },
    { ...spec, checks: [{ name: 'errors', prometheus: { query: CHECK_QUERY, condition: UNCOMPILABLE_CONDITION } }] },
  ]);
  const at = chance.between(2_000, Math.max(3_000, over - 1));
  put(at, { do: 'plan', spec: invalid });
  put(at + chance.between(500, 30_000), { do: 'plan', spec });
};

/**
 * Gives some plans a rollout plan, with people who edit it and decide about stages. It draws from its own sequence, so that
 * all else in the plan is as it would be without.
 */
export const withRolloutPlan = (plan: Plan, over: number): Plan => {
  const chance = createGenerator(plan.seed + 0x51a9e5);
  const { oneOf: one } = chance;
  if (plan.model === 'ota' || !chance.happens(SHARE)) return plan;
  const steps: PlannedStep[] = [];
  const put = (at: number, operation: Operation): void => {
    if (at < over) steps.push({ at, operation });
  };
  const soon = (): number => chance.between(6_000, Math.max(7_000, over - 1));
  const time = (ms: number): string => new Date(START + ms).toISOString();

  const whose: readonly NonNullable<Stage['nodes']>[] = [
    { count: one([0, 1, 1, 2, '20%']) },
    { selector: { matchLabels: { ring: 'r0' } } },
    { selector: { matchExpressions: [{ key: 'ring', operator: 'In', values: ['r0', 'r1'] }] }, count: '50%' },
    { selector: { matchExpressions: [{ key: 'site', operator: 'Exists' }] } },
  ];
  const promote = (): NonNullable<Stage['promote']> => ({
    ...(chance.happens(0.4) && { coverage: one(['50%', '100%', 1]) }),
    ...(chance.happens(0.3) && { minNodes: chance.between(1, 3) }),
    ...(chance.happens(0.7) && { soak: `${one([1, 5, 20, 40])}s` }),
    ...(chance.happens(0.3) && { approval: { required: true } }),
    ...(chance.happens(0.3) && {
      timeout: `${chance.between(20, 120)}s`,
      onTimeout: one(['promote', 'hold'] as const),
    }),
  });
  const zoned = createZoning(plan.seed);
  const anySpec = (): RolloutPlanSpec => ({
    stages: whose
      .filter(() => chance.happens(0.6))
      .map((nodes, index) => ({
        name: `s${index}`,
        nodes,
        ...(chance.happens(0.3) && { maxUnavailable: one([1, '50%']) }),
        promote: promote(),
      })),
    ...(chance.happens(0.25) && {
      freezes: [chance.between(5_000, over)].map((from) => ({
        from: time(from),
        to: time(from + chance.between(2_000, 60_000)),
      })),
    }),
    ...(chance.happens(0.15) && {
      windows: [
        { from: '00:00', to: '00:01' },
        { from: '00:02', to: '23:55' },
      ],
    }),
    ...(chance.happens(0.2) && { windowsOnRollback: true }),
    ...(chance.happens(0.5) && { maxUnavailablePer: [{ topologyKey: 'site', value: one([1, 1, '50%']) }] }),
  });

  const skipping = createSkipping(plan, over, put);
  const specOf = (): RolloutPlanSpec => skipping(zoned(anySpec()));
  const rolloutPlan = withOrder(withChecks(specOf(), plan.seed, over, put), plan, put);
  const stage = (): string => `s${chance.between(0, 3)}`;
  const node = (): string => `node-${chance.between(0, plan.nodes - 1)}`;
  const acts: readonly (() => void)[] = [
    () => put(soon(), { do: 'plan', spec: specOf() }),
    () => {
      const at = soon();
      put(at, { do: 'plan', spec: undefined });
      put(at + chance.between(500, 20_000), { do: 'plan', spec: rolloutPlan });
    },
    () => put(soon(), { do: 'decide', stage: stage(), decision: one(['Approve', 'Promote'] as const) }),
    () => put(soon(), { do: 'decide', stage: stage(), decision: one(['Approve', 'Promote'] as const), older: true }),
    () =>
      put(soon(), { do: 'move', node: node(), ring: `r${chance.between(0, 2)}`, site: one(['s0', 's1', undefined]) }),
    // In the middle of a soak, as often as not.
    () => put(soon(), { do: 'crash', who: 'leader' }),
    // Back to what was last complete, or to a version that was under way.
    () => put(soon(), { do: 'release', image: `app:v${chance.between(0, 2)}` }),
  ];
  for (let count = chance.between(0, 4); count > 0; count -= 1) one(acts)();
  invalidAtTimes(plan, rolloutPlan, over, put);
  // Nodes come back reinstalled (see the executor): with a good version.
  steps.push({ at: over - 1, operation: { do: 'release', image: 'app:final' } });
  return {
    ...plan,
    rolloutPlan,
    approvedAfterMs: chance.between(0, 30_000),
    steps: [...plan.steps, ...steps].toSorted((a, b) => a.at - b.at),
  };
};
