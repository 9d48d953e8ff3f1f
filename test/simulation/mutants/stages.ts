import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { CHECK_QUERY, UNCOMPILABLE_CONDITION } from '../network/prometheus.ts';
import type { Shape } from '../scenarios/scenario.ts';
import type { Change, Mutant } from './mutant.ts';
import { at, history, recreate, release, test } from './plans.ts';

type Promote = NonNullable<NonNullable<RolloutPlanSpec['stages']>[number]['promote']>;

/** Nodes 0 and 3 are in the first stage, and all others in `rest`. */
const ring = (promote: Promote = {}): Shape => ({
  nodes: 4,
  limit: '100%',
  rolloutPlan: { stages: [{ name: 'ring', nodes: { selector: { matchLabels: { ring: 'r0' } } }, promote }] },
});

/** Its plan becomes invalid before a release, and valid at the end. */
const invalid = at(5, {
  do: 'plan',
  spec: {
    ...ring().rolloutPlan,
    checks: [{ name: 'errors', prometheus: { query: CHECK_QUERY, condition: UNCOMPILABLE_CONDITION } }],
  },
});

/** An Advanced DaemonSet that is updated after a native one. */
const follower: Shape = {
  ...recreate,
  others: [{ kind: 'native', strategy: 'recreate', limit: '1', settleSeconds: 1, minReadySeconds: 0 }],
  rolloutPlan: { after: [{ apiGroup: 'apps', name: 'app', scope: 'Node' }] },
};

/** Open from the beginning in UTC, and in America/St_Johns, where node-2 is, a minute later. */
const windows: RolloutPlanSpec['windows'] = [
  { from: '00:00', to: '20:30', timeZone: 'node' },
  { from: '20:31', to: '23:55', timeZone: 'node' },
];

/** Then Temporal throws wherever the clock of a process is read. */
const FRACTIONS: Change = {
  file: 'src/rollout/plan/window.ts',
  find: 'Temporal.Instant.fromEpochMilliseconds(Math.floor(ms))',
  replace: 'Temporal.Instant.fromEpochMilliseconds(ms)',
};

const STAGES = 'src/rollout/decision/stages.ts';
const STATE = 'src/rollout/plan/stage-state.ts';

/** Defects of rollout plans. */
export const stages: readonly Mutant[] = [
  {
    name: 'every-stage-is-open',
    whose: 'G1',
    story: 'nodes of closed stages are updated',
    breaks: ['G1'],
    file: 'src/rollout/fleet/records.ts',
    find: 'isStageOpen: stages.isOpen,',
    replace: 'isStageOpen: () => true,',
    hunt: history(ring({ soak: '20s' }), release(10)),
  },
  {
    name: 'plan-is-judged-at-its-check',
    whose: 'G1',
    story: 'a condition that does not compile is found out by its check, after nodes of the stage were updated',
    breaks: ['G1'],
    file: 'src/controller/watches/plans.ts',
    find: '      errors: planErrors(spec, cluster, manager?.rules),\n',
    replace: '      errors: [],\n',
    hunt: history(ring(), invalid, release(10)),
  },
  {
    name: 'secrets-are-not-awaited',
    whose: 'G1',
    story: 'nodes are updated while it is not known yet whether the Secrets of the plan exist',
    breaks: [],
    file: 'src/controller/loop/daemonset-plans.ts',
    find: '!plans.synced() || !plans.isJudged(namespace, rolloutPlan)',
    replace: '!plans.synced()',
    hunt: test('src/controller/loop/judged-plans.test.ts', 'holds while it is being read'),
  },
  {
    name: 'cycle-is-invalid-for-one',
    whose: 'G7',
    story: 'only the DaemonSet whose plan closes a cycle is invalid, and the others begin to update',
    breaks: [],
    file: 'src/controller/loop/order.ts',
    find: 'const cycle = cycles[index];',
    replace: 'const cycle = keyOfMember(entry.daemonSet) === key ? cycles[index] : undefined;',
    hunt: test('src/controller/loop/order.test.ts', 'of two is told to both'),
  },
  {
    name: 'cycle-in-the-plans-in-force',
    whose: 'G7',
    story: 'a plan that is invalid is no part of a cycle, so that it hides the cycle from the others',
    breaks: [],
    file: 'src/controller/loop/daemonset-plans.ts',
    find: 'found ? predecessorsIn(found.spec) : []',
    replace: 'withPlan(policy, () => found).policy.plan?.after ?? []',
    hunt: test('src/controller/loop/judged-plans.test.ts', 'is in a cycle also while it is invalid otherwise'),
  },
  {
    name: 'updates-in-a-freeze',
    whose: 'G1',
    story: 'updates begin during a freeze',
    breaks: ['G1'],
    file: 'src/rollout/decision/hold.ts',
    find: 'return state && holdOfCalendar(state);',
    replace: 'return undefined;',
    also: [
      {
        file: 'src/rollout/fleet/records.ts',
        find: 'isCalendarOpen: calendar.isOpen,',
        replace: 'isCalendarOpen: () => true,',
      },
    ],
    hunt: history(
      { rolloutPlan: { freezes: [{ from: '2026-01-01T00:00:05Z', to: '2026-01-01T00:01:00Z' }] } },
      release(10),
    ),
  },
  {
    name: 'clocks-show-whole-milliseconds',
    whose: 'F23',
    story: 'the time of a window is read as if clocks had no fractions of a millisecond, and nothing is ever updated',
    breaks: ['L1', 'L9', 'S18'],
    ...FRACTIONS,
    hunt: history({ rolloutPlan: { windows: [{ from: '00:00', to: '23:55' }] } }, release(10)),
  },
  {
    name: 'calendar-is-stored-before-it-is-computed',
    whose: 'S18, F23',
    story: 'a calendar that cannot be computed counts as known and unchanged at the next try, and every window is open',
    breaks: [],
    file: 'src/rollout/plan/calendar-view.ts',
    find: 'look = known ?? lookAt(wanted, now);',
    replace: `look = known ?? { calendar: wanted, at: now, stateOf: () => undefined, changesAt: () => NEVER };
      look = known ?? lookAt(wanted, now);`,
    // A manager whose calendar throws starts nothing at all, so the simulation no longer shows it.
    hunt: test('src/rollout/plan/calendar-view.test.ts'),
  },
  {
    name: 'windows-of-nodes-are-in-utc',
    whose: 'G1',
    story: 'a window in the time of each node opens everywhere when it opens in UTC',
    breaks: ['G1'],
    file: 'src/rollout/plan/calendar.ts',
    find: "canonicalTimeZone(timeZone === 'node' ? nodeTimeZone : timeZone)",
    replace: "canonicalTimeZone(timeZone === 'node' ? 'UTC' : timeZone)",
    hunt: history({ limit: '100%', rolloutPlan: { windows } }, release(10)),
  },
  {
    name: 'windows-open-on-every-day',
    whose: 'G1',
    story: 'a window opens on days that its plan does not name',
    breaks: ['G1'],
    file: 'src/rollout/plan/window.ts',
    find: 'if (days && (name === undefined || !days.includes(name))) continue;',
    replace: '',
    // The first day of the simulation is a Thursday.
    hunt: history(
      { rolloutPlan: { windows: [{ days: ['Fri'], from: '00:00', to: '23:55' }] } },
      release(10),
      at(60, { do: 'plan', spec: {} }),
    ),
  },
  {
    name: 'plan-by-its-own-clock',
    whose: 'G5',
    story: 'a manager whose clock is five minutes ahead takes a freeze for over',
    breaks: ['G1'],
    file: 'src/rollout/fleet/ledger.ts',
    find: 'const planTime = (now: number): number => now - aheadMs();',
    replace: 'const planTime = (now: number): number => now;',
    hunt: history(
      { rolloutPlan: { freezes: [{ from: '2026-01-01T00:00:30Z', to: '2026-01-01T00:02:00Z' }] } },
      at(1, { do: 'skew', ms: 300_000 }),
      at(2, { do: 'crash', who: 'leader' }),
      release(60),
    ),
  },
  {
    name: 'sample-is-not-written',
    whose: 'G1',
    story: 'the sample of a stage is not written, so that the next leader draws another one',
    breaks: ['G1'],
    file: STATE,
    find: '    ...(sample !== undefined && { sample }),\n',
    replace: '',
    hunt: history(
      { nodes: 5, rolloutPlan: { stages: [{ name: 'canary', nodes: { count: 2 }, promote: { soak: '20s' } }] } },
      release(10),
    ),
  },
  {
    name: 'promotion-is-not-written',
    whose: 'G2',
    story: 'nodes of a stage are updated before the promotion of the one before it is written',
    breaks: ['G1', 'G2'],
    file: STATE,
    find: '    ...(promoted && { promotedAt: time(promoted.at), promotion: promoted.how }),\n',
    replace: '',
    hunt: history(ring(), release(10)),
  },
  {
    name: 'promotion-forgotten-without-its-plan',
    whose: 'G2',
    story: 'while the plan is missing, a status is written that has lost what was passed',
    breaks: ['G2'],
    file: 'src/rollout/report/stages.ts',
    find: 'return [...planned, ...removed].slice(0, limits.stages);',
    replace: 'return planned;',
    hunt: history(
      {
        ...ring(),
        rolloutPlan: {
          stages: [
            { name: 'ring', nodes: { selector: { matchLabels: { ring: 'r0' } } } },
            { name: 'soaks', nodes: { selector: { matchLabels: { ring: 'r1' } } }, promote: { soak: '60s' } },
          ],
        },
      },
      release(10),
      at(30, { do: 'plan', spec: undefined }),
    ),
  },
  {
    name: 'coverage-counts-offline-nodes',
    whose: 'G3',
    story: 'a stage waits for its offline nodes',
    breaks: ['G3', 'L9'],
    file: STAGES,
    find: "const needed = Math.min(inCoverage, scaledValue(coverage, inCoverage, 'up'));",
    replace: "const needed = scaledValue(coverage, eligible, 'up');",
    hunt: history(
      ring(),
      at(5, { do: 'offline', node: 'node-3' }),
      release(70),
      at(200, { do: 'online', node: 'node-3' }),
    ),
  },
  {
    name: 'soak-begins-again-with-the-leader',
    whose: 'G5',
    story: 'a new leader starts the soak again',
    breaks: ['G5'],
    file: STATE,
    find: '        soakUntil: parse(soakUntil),\n',
    replace: '        soakUntil: undefined,\n',
    hunt: history(ring({ soak: '60s' }), release(10), at(30, { do: 'crash', who: 'leader' })),
  },
  {
    name: 'soak-ends-early',
    whose: 'G5',
    story: 'a soak lasts half as long as the plan says',
    breaks: ['G5'],
    file: STAGES,
    find: 'until: now + stage.soakMs }',
    replace: 'until: now + stage.soakMs / 2 }',
    hunt: history(ring({ soak: '60s' }), release(10)),
  },
  {
    name: 'rollback-is-staged',
    whose: 'G6',
    story: 'going back to the revision that was last complete waits for stages',
    breaks: ['G6'],
    file: 'src/rollout/fleet/retarget.ts',
    find: 'rollback: state.lastComplete?.hash === target.hash,',
    replace: 'rollback: false,',
    hunt: history(ring({ soak: '60s' }), release(10), release(30, 'app:v0')),
  },
  {
    name: 'groups-forget-what-is-in-flight',
    whose: 'G7',
    story: 'the limit of a group does not count updates of earlier decisions',
    breaks: ['G7'],
    file: 'src/rollout/decision/budget.ts',
    find: 'changed.get(scope) ?? scope, own',
    replace: 'changed.get(scope) ?? nothing, own',
    hunt: history(
      {
        nodes: 4,
        limit: '100%',
        firstWave: '100%',
        rolloutPlan: { maxUnavailablePer: [{ topologyKey: 'site', value: 1 }] },
      },
      release(10),
    ),
  },
  {
    name: 'limits-of-an-older-plan',
    whose: 'G7',
    story: 'after an edit, nodes are chosen by the counts and limits of the plan before it',
    breaks: [],
    file: 'src/rollout/plan/scopes.ts',
    find: 'const key = `${plans}\\n',
    replace: 'const key = `\\n',
    hunt: test('src/rollout/plan/scopes.test.ts', 'holds after the policy and the plan have changed'),
  },
  {
    name: 'order-is-ignored',
    whose: 'G7',
    story: 'a node is updated before the DaemonSet that its plan names',
    breaks: ['G7'],
    file: 'src/rollout/plan/order.ts',
    find: 'if (phase !== undefined && !isUpdated) return name;',
    replace: '',
    hunt: history(
      follower,
      at(8, { do: 'pause', paused: true, set: 1 }),
      at(10, { do: 'release', image: 'app:v1', set: 1 }),
      release(10),
      at(30, { do: 'pause', paused: false, set: 1 }),
    ),
  },
  {
    name: 'order-by-an-older-template',
    whose: 'G7',
    story: 'a DaemonSet whose new revision is not known yet counts as updated',
    breaks: ['G7'],
    file: 'src/rollout/plan/order.ts',
    find: "const isUpdated = phase === 'updated' && preceding.isCurrent();",
    replace: "const isUpdated = phase === 'updated';",
    hunt: history(
      follower,
      at(9, { do: 'native', how: 'lag', ms: 8_000 }),
      at(10, { do: 'release', image: 'app:v1', set: 1 }),
      release(10),
    ),
  },
  {
    name: 'order-is-not-looked-at-again',
    whose: 'G7',
    story: 'a node continues waiting for another DaemonSet that has been updated there',
    breaks: ['L1', 'L5'],
    file: 'src/controller/loop/order.ts',
    find: '        check(follower, [node]);\n        follower.changed();\n',
    replace: '',
    hunt: history(
      {
        ...follower,
        kind: 'native',
        nodes: 8,
        rolloutPlan: { after: [{ apiGroup: 'apps', name: 'app-1', scope: 'Node' }] },
      },
      at(60, { do: 'release', image: 'app:v1', set: 1 }),
      release(60),
    ),
  },
  {
    name: 'approval-of-another-revision',
    whose: 'G8',
    story: 'an approval of the revision before counts',
    breaks: ['G8'],
    file: STAGES,
    find: 'each.revision === state.target?.hash && each.stage === name',
    replace: 'each.stage === name',
    hunt: history(
      { ...ring({ approval: { required: true } }), approvedAfterMs: 20_000 },
      release(10),
      release(20, 'app:v2'),
      at(22, { do: 'decide', stage: 'ring', decision: 'Approve', older: true }),
    ),
  },
  {
    name: 'check-passes-on-nan',
    whose: 'G4',
    story: 'a check whose query answers NaN is evaluated, although it has no result',
    breaks: [],
    file: 'src/checks/answer.ts',
    find: 'if (values.some(Number.isNaN)) return',
    replace: 'if (values.length === 0) return',
    hunt: test('src/checks/answer.test.ts'),
  },
  {
    name: 'empty-stage-is-awaited',
    whose: 'L9',
    story: 'a stage that no node is in is never passed',
    breaks: ['L9'],
    file: STAGES,
    find: "  empty: (look) => look.counts.eligible === 0 && { ...noNodeOnline, action: promote(look, 'Empty') },\n",
    replace: '',
    hunt: history(
      { rolloutPlan: { stages: [{ name: 'none', nodes: { selector: { matchLabels: { ring: 'none' } } } }] } },
      release(10),
    ),
  },
];
