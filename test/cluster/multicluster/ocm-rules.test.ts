// The condition rules of deploy/multicluster/ocm, evaluated by the code of Open Cluster Management's work agent.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replicaSet } from './ocm/application.ts';
import { conditionsBy } from './ocm/ocm.ts';

const RELEASE = 'example.com/release';

interface Rule {
  condition: string;
  type: string;
  celExpressions: string[];
}

const shippedRules = async (release: string): Promise<Rule[]> => {
  const { spec } = await replicaSet('app', release);
  return spec.manifestWorkTemplate.manifestConfigs.flatMap(({ conditionRules }) => conditionRules);
};

interface State {
  release?: string;
  generation?: number;
  /** The generation that edgeset's conditions are about. */
  observed?: number;
  ready?: string;
  stalled?: string;
}

const daemonSet = ({
  release = 'v2',
  generation = 7,
  observed = generation,
  ready = 'True',
  stalled = 'False',
}: State) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'app', generation, annotations: { [RELEASE]: release } },
  status: {
    observedGeneration: generation,
    conditions: [
      { type: 'Ready', status: ready, reason: 'Any', message: `Observed generation ${observed}.` },
      { type: 'Reconciling', status: ready === 'True' ? 'False' : 'True', reason: 'Any' },
      { type: 'Stalled', status: stalled, reason: 'Any' },
    ],
  },
});

/** What the hub makes of both conditions (deploy_reconcile.go of its work manager). */
const verdicts = async (rules: readonly Rule[], objects: readonly object[]): Promise<string[]> =>
  (await conditionsBy(rules, objects)).map((conditions) =>
    conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).join(', '),
  );

const EVALUATED = 'ConditionRuleEvaluated';
const done = `Progressing False ${EVALUATED}, Degraded False ${EVALUATED}`;
const busy = `Progressing True ${EVALUATED}, Degraded False ${EVALUATED}`;
const failed = `Progressing True ${EVALUATED}, Degraded True ${EVALUATED}`;

describe('the rules that Open Cluster Management is given', () => {
  it('tell a release that is done from one in progress and one that failed', async () => {
    const objects = [daemonSet({}), daemonSet({ ready: 'False' }), daemonSet({ ready: 'False', stalled: 'True' })];
    assert.deepEqual(await verdicts(await shippedRules('v2'), objects), [done, busy, failed]);
  });

  it('know the release before by its annotation, so that its success or failure is not that of the new one', async () => {
    const before = [daemonSet({ release: 'v1' }), daemonSet({ release: 'v1', ready: 'False', stalled: 'True' })];
    assert.deepEqual(await verdicts(await shippedRules('v2'), before), [busy, busy]);
  });

  it('without the release in the rule, the success of the release before would be that of the new one', async () => {
    const rules = await shippedRules('v2');
    const withoutRelease = rules.map((rule) => ({
      ...rule,
      celExpressions: rule.celExpressions.map((text) =>
        text.replace(/object\.metadata\.annotations\['[^']+'\] == 'v2'/, 'true'),
      ),
    }));
    assert.notDeepEqual(withoutRelease, rules);
    assert.deepEqual(await verdicts(withoutRelease, [daemonSet({ release: 'v1' })]), [done]);
  });

  it('wait for edgeset to observe the generation, also when its manager is down', async () => {
    const unobserved = [daemonSet({ observed: 6 }), daemonSet({ observed: 6, ready: 'False', stalled: 'True' })];
    assert.deepEqual(await verdicts(await shippedRules('v2'), unobserved), [busy, busy]);
  });

  it('end in no error whatever an object lacks: an error would be False, which the hub reads as a success', async () => {
    const annotations = { [RELEASE]: 'v2' };
    const conditions = [{ type: 'Ready', status: 'True' }, { type: 'Stalled' }, {}];
    const poor = [
      {},
      { metadata: {} },
      { metadata: { generation: 7, annotations: {} } },
      { metadata: { generation: 7, annotations } },
      { metadata: { generation: 7, annotations }, status: {} },
      { metadata: { generation: 7, annotations }, status: { conditions: [] } },
      { metadata: { generation: 7, annotations }, status: { conditions: conditions.slice(0, 1) } },
      { metadata: { generation: 7, annotations }, status: { conditions: null } },
    ].map((object) => ({ apiVersion: 'apps/v1', kind: 'DaemonSet', ...object }));
    assert.deepEqual(
      await verdicts(await shippedRules('v2'), poor),
      poor.map(() => busy),
    );
  });

  it('for Advanced DaemonSets go by a field, as the guide says', async () => {
    const clause = "c.message == 'Observed generation ' + string(object.metadata.generation) + '.'";
    const field =
      'has(object.status.observedGeneration) && object.status.observedGeneration == object.metadata.generation';
    const rules = (await shippedRules('v2')).map((rule) => ({
      ...rule,
      celExpressions: rule.celExpressions.map((text) => {
        assert.ok(text.includes(clause));
        return text.replace(clause, field);
      }),
    }));
    const advanced = (observedGeneration: number, state: State = {}): object => {
      const object = daemonSet(state);
      return { ...object, status: { ...object.status, observedGeneration } };
    };
    const objects = [
      advanced(7),
      advanced(6),
      advanced(7, { ready: 'False' }),
      advanced(7, { ready: 'False', stalled: 'True' }),
      advanced(6, { ready: 'False', stalled: 'True' }),
    ];
    assert.deepEqual(await verdicts(rules, objects), [done, busy, busy, failed, busy]);
  });

  it('a rule that does not guard its fields ends in an error, and the hub reads it as a success', async () => {
    const rule = {
      condition: 'Progressing',
      type: 'CEL',
      celExpressions: ["object.status.conditions.exists(c, c.type == 'Ready' && c.status != 'True')"],
    };
    assert.deepEqual(await verdicts([rule], [{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: {}, status: {} }]), [
      'Progressing False ConditionRuleExpressionError',
    ]);
  });
});
