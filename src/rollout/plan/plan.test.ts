import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlanStagePromotion, RolloutPlanSpec } from '../../words/index.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import { planOf, policyWith } from '../testing/workbench.ts';
import { withPlan } from './plan.ts';

const named = (name = 'rings', cluster = false): Parameters<typeof withPlan>[0] => ({
  kind: 'on',
  policy: policyWith({ rolloutPlan: { name, cluster } }),
  hash: '',
  warnings: [],
});

/** The errors of a plan with this spec, as `field: problem`. */
const errorsOf = (spec: RolloutPlanSpec): string[] => {
  const parsed = withPlan(named(), () => ({ spec }));
  return parsed.kind === 'invalid' ? parsed.errors.map(({ field, problem }) => `${field}: ${problem}`) : [];
};

const many = (length: number) => Array.from({ length }, (_, index) => ({ key: `k${index}`, operator: 'Exists' }));

describe('a plan', () => {
  it('is read once for all DaemonSets that name it', () => {
    const spec = { windows: [{ from: '01:00', to: '02:00' }] };
    const [one, other] = [1, 2].map(() => withPlan(named(), () => ({ spec })).policy.plan);
    assert.ok(one);
    assert.equal(one, other);
  });

  it('fills in defaults, and adds the stage of all other nodes', () => {
    const { stages, ...plan } = planOf({ stages: [{ name: 'canary' }] });
    assert.deepEqual(stages[0], {
      name: 'canary',
      selector: undefined,
      count: undefined,
      maxUnavailable: undefined,
      failureThreshold: undefined,
      coverage: percent(100),
      minNodes: 1,
      soakMs: 0,
      checks: [],
      needsApproval: false,
      timeoutMs: undefined,
      promotesOnTimeout: false,
    });
    assert.deepEqual(
      stages.map(({ name }) => name),
      ['canary', 'rest'],
    );
    assert.deepEqual(plan.calendar, { windows: [], freezes: [] });
    assert.deepEqual([plan.groups, plan.after, plan.windowsOnRollback], [[], [], false]);
  });

  it('is invalid where it is not clear which nodes are busy', () => {
    const cases: [NonNullable<RolloutPlanSpec['skipNodes']>, string][] = [
      [{ selector: { matchLabels: { job: 'right now' } } }, 'spec.skipNodes.selector: has "right now" where a value'],
      [{ taints: ['not a key'] }, 'spec.skipNodes.taints: is not the key of a taint'],
      [{ conditions: ['Ready'] }, 'spec.skipNodes.conditions: is what all nodes have that are updated'],
      [{ taints: [] }, 'spec.skipNodes: skips no node'],
    ];
    for (const [skipNodes, error] of cases) assert.ok(errorsOf({ skipNodes })[0]?.startsWith(`rings: ${error}`), error);
  });

  it('has no stages at all when it names none', () => {
    assert.deepEqual(planOf({ maxUnavailablePer: [{ topologyKey: 'zone', value: '10%' }] }).stages, []);
  });

  it('reads every field', () => {
    const checks = [{ name: 'errors', prometheus: { query: 'errors', condition: 'true' } }];
    const promote: PlanStagePromotion = {
      coverage: '90%',
      minNodes: 3,
      soak: '1h30m',
      checks: ['errors'],
      approval: { required: true },
      timeout: '24h',
      onTimeout: 'promote',
    };
    const [stage] = planOf({
      checks,
      stages: [{ name: 's', nodes: { count: '5%' }, maxUnavailable: 2, failureThreshold: '1%', promote }],
    }).stages;
    assert.deepEqual(
      { ...stage, selector: undefined },
      {
        name: 's',
        selector: undefined,
        count: percent(5),
        maxUnavailable: count(2),
        failureThreshold: percent(1),
        coverage: percent(90),
        minNodes: 3,
        soakMs: 5_400_000,
        checks,
        needsApproval: true,
        timeoutMs: 86_400_000,
        promotesOnTimeout: true,
      },
    );
  });

  for (const [what, spec, expected] of [
    [
      'a share that is none',
      { stages: [{ name: 'a', nodes: { count: 'many' } }] },
      'rings: spec.stages[0].nodes.count',
    ],
    [
      'more than all',
      { stages: [{ name: 'a', promote: { coverage: '101%' } }] },
      'rings: spec.stages[0].promote.coverage',
    ],
    [
      'a duration that is none',
      { stages: [{ name: 'a', promote: { soak: 'a day' } }] },
      'rings: spec.stages[0].promote.soak',
    ],
    [
      'no timeout to promote on',
      { stages: [{ name: 'a', promote: { onTimeout: 'promote' } }] },
      'rings: spec.stages[0].promote.onTimeout',
    ],
    [
      'an unknown check',
      { stages: [{ name: 'a', promote: { checks: ['b'] } }] },
      'rings: spec.stages[0].promote.checks',
    ],
    [
      'a selector of too many requirements',
      { stages: [{ name: 'a', nodes: { selector: { matchExpressions: many(33) } } }] },
      'rings: spec.stages[0].nodes.selector',
    ],
    ['two stages of one name', { stages: [{ name: 'a' }, { name: 'a' }] }, 'rings: spec.stages[].name'],
    ['a stage named rest', { stages: [{ name: 'rest' }] }, 'rings: spec.stages[].name'],
    [
      'a time zone that does not exist',
      { windows: [{ from: '22:00', to: '04:00', timeZone: 'Mars' }] },
      'rings: spec.windows[0].timeZone',
    ],
    [
      'a freeze that ends before it begins',
      { freezes: [{ from: '2030-01-02', to: '2030-01-01' }] },
      'rings: spec.freezes[0]',
    ],
    [
      'a group limit that is none',
      { maxUnavailablePer: [{ topologyKey: 'zone', value: '-1' }] },
      'rings: spec.maxUnavailablePer[0].value',
    ],
  ] as const satisfies readonly (readonly [string, RolloutPlanSpec, string])[])
    it(`reports ${what} by its field`, () => {
      const [first = '', ...others] = errorsOf(spec);
      assert.ok(first.startsWith(`${expected}: `), first);
      assert.deepEqual(others, []);
    });

  it('that is missing is an error that names it and the remedy', () => {
    for (const [cluster, field, kind] of [
      [false, 'rings', 'RolloutPlan'],
      [true, 'cluster/rings', 'ClusterRolloutPlan'],
    ] as const) {
      const parsed = withPlan(named('rings', cluster), () => undefined);
      assert.equal(parsed.kind, 'invalid');
      const [error] = parsed.kind === 'invalid' ? parsed.errors : [];
      assert.equal(error?.value, field);
      assert.equal(error?.remedy, `create the ${kind} rings, or remove the annotation`);
    }
  });

  it('is not looked for when none is named', () => {
    const parsed = { ...named(), policy: policyWith() };
    const never = () => {
      throw new Error('asked');
    };
    assert.equal(withPlan(parsed, never), parsed);
  });
});
