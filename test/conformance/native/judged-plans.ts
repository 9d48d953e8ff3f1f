import assert from 'node:assert/strict';
import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { budgetKey, type Case, section } from '../kit/index.ts';
import { createPlan, FRESH_CRD, planKey, plansPath, stage, wide } from '../kit/plans.ts';
import { edgeset } from '../plugin/run.ts';

type Check = NonNullable<RolloutPlanSpec['checks']>[number];

const budget = { [budgetKey]: '100%' };

/** A canary of one node, and its check. */
const checkedBy = (check: Omit<Check, 'name'>): RolloutPlanSpec => ({
  stages: [{ name: 'canary', nodes: { count: 1 }, promote: { checks: ['errors'] } }],
  checks: [{ name: 'errors', ...check }],
});

const edit = (c: Case, spec: RolloutPlanSpec, name = 'rings'): Promise<unknown> =>
  c.api.merge(`${plansPath(c.namespace)}/${name}`, { spec });

/** Everything that people look at says that the plan is invalid, with these words; no node has been updated. */
const assertInvalid = async (c: Case, words: RegExp, name = 'app'): Promise<void> => {
  const stalled = await c.until(`${name} is Stalled with ${words}`, async () => {
    const found = await c.condition('Stalled', name);
    return found?.status === 'True' && words.test(found.message) ? found : undefined;
  });
  assert.equal(stalled.reason, 'InvalidPolicy');
  const status = await c.status(name);
  assert.equal(status.summary, 'Invalid policy');
  assert.equal(status.policyHash, '');
  await c.until(`an Event of ${name} says so`, async () =>
    (await c.events('InvalidPolicy', name)).some(({ note = '' }) => words.test(note)),
  );
  for (const command of ['explain', 'plan']) {
    const { code, stdout, stderr } = await edgeset(c, command, name);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout.replaceAll(/\s+/g, ' '), words, command);
  }
};

const expectNoUpdates = async (c: Case): Promise<void> => {
  await c.expectNoUpdatesFor(2);
  assert.deepEqual(await c.updatedNodes(), []);
};

export const judgedPlans = section(
  'A plan is judged when it is read',
  (rule) => {
    rule(
      'a condition that does not compile holds before anything is updated, and heals',
      async (c) => {
        await createPlan(c, checkedBy({ prometheus: { query: 'up', condition: 'result.all(r, r <' } }));
        await c.rolledOut({ annotations: budget });
        await c.annotate({ [planKey]: 'rings' });
        await c.setImage('app:v2');
        await assertInvalid(c, /rings: spec\.checks\[0\]\.prometheus\.condition "result\.all\(r, r <" is not a CEL/);
        await expectNoUpdates(c);
        await edit(c, { stages: [{ name: 'canary', nodes: { count: 1 } }], checks: [] });
        await c.untilRunning('app:v2');
      },
      { budget: 3 },
    );

    rule(
      'a placeholder that there is not, and no Prometheus to ask',
      async (c) => {
        const args = [{ name: 'node', value: `$\{node}` }];
        await createPlan(c, checkedBy({ analysis: { templateName: 'errors', args } }));
        await c.rolledOut({ annotations: budget });
        await c.annotate({ [planKey]: 'rings' });
        await c.setImage('app:v2');
        await assertInvalid(c, /args\[0\]\.value "\$\{node\}" has "\$\{node\}", which is not a placeholder: use/);
        const prometheus = { query: 'up', condition: 'result.all(r, r > 0.0)' };
        await createPlan(c, checkedBy({ prometheus }), 'asking');
        await c.annotate({ [planKey]: 'asking' });
        await assertInvalid(
          c,
          /address "" is not set, and the manager has no Prometheus of its own: set the manager's/,
        );
        await edit(c, checkedBy({ prometheus: { ...prometheus, address: 'http://127.0.0.1:9' } }), 'asking');
        await assertInvalid(c, /"http:\/\/127\.0\.0\.1:9" is not an address that plans of namespaces may ask/);
        await expectNoUpdates(c);
      },
      { budget: 3 },
    );

    rule(
      'a Secret that is missing is named, and the rollout continues by itself when it appears',
      async (c) => {
        const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${c.namespace}`;
        await c.api.create(`${rbac}/roles`, {
          metadata: { name: 'metrics' },
          rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['metrics'], verbs: ['get'] }],
        });
        await c.api.create(`${rbac}/rolebindings`, {
          metadata: { name: 'metrics' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'metrics' },
          subjects: [{ kind: 'ServiceAccount', name: 'edgeset-manager', namespace: c.namespace }],
        });
        const prometheus = {
          query: 'up',
          condition: 'result.all(r, r > 0.0)',
          credentials: { secretName: 'metrics' },
        };
        await createPlan(c, checkedBy({ prometheus }));
        await c.rolledOut({ annotations: budget });
        await c.annotate({ [planKey]: 'rings' });
        await c.setImage('app:v2');
        await assertInvalid(c, /credentials\.secretName "Secret \S+\/metrics" does not exist: create it/);
        await expectNoUpdates(c);
        await c.api.create(`/api/v1/namespaces/${c.namespace}/secrets`, {
          metadata: { name: 'metrics' },
          stringData: { token: 'abc' },
        });
        await c.until('the canary is updated', async () => (await c.updatedNodes()).length === 1);
        await c.until('its check is asked', async () => (await stage(c, 'canary'))?.checks?.[0]?.state === 'NoResult');
      },
      { budget: 3, manager: ['--prometheus-address=http://127.0.0.1:9'] },
    );

    rule(
      'a cycle of two makes both invalid, and heals when one leaves it; one that waits for a member waits',
      async (c) => {
        for (const name of ['driver', 'app', 'web']) await c.create({ name, annotations: budget });
        for (const name of ['driver', 'app', 'web'])
          await c.until(`${name} is rolled out`, async () => (await c.condition('Complete', name))?.status === 'True');
        await createPlan(c, { after: [{ name: 'driver' }] }, 'after-driver');
        await createPlan(c, { after: [{ name: 'app' }] }, 'after-app');
        await c.annotate({ [planKey]: 'after-driver' });
        await c.annotate({ [planKey]: 'after-app' }, 'driver');
        await c.annotate({ [planKey]: 'after-app' }, 'web');
        await assertInvalid(c, /after-driver: spec\.after "app after driver after app" is a cycle in which each/);
        await assertInvalid(c, /after-app: spec\.after "driver after app after driver" is a cycle/, 'driver');
        // Each of them alone, with the other at its target, so that it would not even have to wait.
        for (const name of ['app', 'driver']) {
          await c.setImage('app:v2', name);
          await expectNoUpdates(c);
          await c.setImage('app:v1', name);
        }
        for (const name of ['driver', 'app', 'web']) await c.setImage('app:v2', name);
        await c.until('web waits', async () => {
          const { causes = [], conditions = [] } = await c.status('web');
          assert.notEqual(conditions.find(({ type }) => type === 'Stalled')?.status, 'True');
          return causes.find(({ cause }) => cause === 'after')?.count === c.nodes.length;
        });
        await expectNoUpdates(c);
        await edit(c, { after: [{ name: 'nothing-here' }] }, 'after-app');
        await c.until('app waits for driver alone', async () => (await c.condition('Stalled'))?.status === 'False');
        await c.annotate({ [planKey]: null }, 'driver');
        await c.annotate({ [planKey]: 'after-driver' }, 'web');
        await c.until('all are updated', async () => (await c.updates()).length === 3 * c.nodes.length);
      },
      { budget: 3, daemonSets: ['app', 'driver', 'web'] },
    );

    rule(
      'a plan that an edit makes invalid lets what is under way finish, and begins nothing',
      async (c) => {
        const spec = { maxUnavailablePer: [{ topologyKey: 'all', value: 1 }] };
        await createPlan(c, spec);
        await c.startRollout('app:v2', { annotations: wide, podAnnotations: { 'sim.edgeset.io/start-ms': '2000' } });
        await c.untilUpdates(1);
        await edit(c, { ...spec, ...checkedBy({ prometheus: { query: 'up', condition: 'result <' } }) });
        await c.until('it is invalid', async () => (await c.condition('Stalled'))?.status === 'True');
        const begun = await c.updatedNodes();
        await c.untilRunning('app:v2', begun);
        await c.expectNoUpdatesFor(3);
        assert.ok(begun.length < c.nodes.length);
        await edit(c, { stages: [], checks: [] });
        await c.untilRunning('app:v2');
      },
      { nodes: 5, budget: 5 },
    );
  },
  { expected: FRESH_CRD },
);
