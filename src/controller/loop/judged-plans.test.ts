import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeObject, secrets } from '../../kube/index.ts';
import { untilAborted } from '../../runtime/index.ts';
import type { PrometheusCheck, RolloutPlanObject, RolloutPlanSpec } from '../../words/index.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';
import { rolloutPlans } from '../watches/plans.ts';

const plan = { namespace: NAMESPACE, name: 'rings' };
const prometheus: PrometheusCheck = { query: 'up', condition: 'result.all(r, r > 0.0)' };

const stagedBy = (change: Partial<PrometheusCheck> = {}): RolloutPlanSpec => ({
  stages: [{ name: 'lab', nodes: { count: 1 }, promote: { checks: ['errors'] } }],
  checks: [{ name: 'errors', prometheus: { ...prometheus, ...change } }],
});

/** Three nodes, all at v1, and a DaemonSet with this plan that is set to v2. Checks are never answered. */
const released = async (scene: Scenario, spec: RolloutPlanSpec, before?: (scene: Scenario) => void) => {
  const { cluster, clock, api, manage, status, condition, deletes } = scene;
  api.objects.create(rolloutPlans, { metadata: plan, spec } as RolloutPlanObject);
  for (const name of ['n1', 'n2', 'n3']) cluster.addNode(name);
  cluster.createSet({ 'apps.openyurt.io/max-unavailable': '3', 'edgeset.io/rollout-plan': 'rings' });
  await clock.advance(10_000);
  before?.(scene);
  cluster.setImage('v2');
  const manager = manage('m1', undefined, {
    runner: { run: (_check, _subject, _from, _failures, _changed, signal) => untilAborted(signal) },
    ownNamespace: 'edgeset-system',
    rules: { prometheusAddress: 'http://prom:9090', allowedAddresses: [] },
  });
  manager.lead();
  await clock.advance(5_000);
  return {
    manager,
    edit: async (next: RolloutPlanSpec): Promise<void> => {
      api.objects.patch(rolloutPlans, plan, { spec: next });
      await clock.advance(5_000);
    },
    updated: (): number => deletes().length,
    problem: (): string => {
      const { status: is, reason, message } = condition('Stalled') ?? {};
      return is === 'True' && reason === 'InvalidPolicy' ? String(message) : `${status().summary}`;
    },
  };
};

const secretOf = (data: Record<string, string>): KubeObject =>
  ({
    metadata: { namespace: NAMESPACE, name: 'metrics' },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)])),
  }) as KubeObject;

describe('a plan that the manager judges invalid', () => {
  const cases: [string, RolloutPlanSpec, RegExp][] = [
    [
      'by a condition that does not compile',
      stagedBy({ condition: 'result.all(r, r <' }),
      /rings: spec\.checks\[0\]\.prometheus\.condition "result\.all\(r, r <" is not a CEL expression .*: write one/,
    ],
    [
      'by TLS for an address without',
      stagedBy({ tls: { insecureSkipVerify: true } }),
      /prometheus\.tls "http:\/\/prom:9090" is for an address without TLS/,
    ],
    [
      'by a Secret that is missing',
      stagedBy({ credentials: { secretName: 'metrics' } }),
      /rings: spec\.checks\[0\]\.prometheus\.credentials\.secretName "Secret \w+\/metrics" does not exist: create it/,
    ],
    [
      'by a template of Argo Rollouts that is missing',
      { ...stagedBy(), checks: [{ name: 'errors', analysis: { templateName: 'fewErrors' } }] },
      /rings: spec\.checks\[0\]\.analysis\.templateName "AnalysisTemplate \w+\/fewErrors" /,
    ],
  ];
  for (const [name, spec, expected] of cases)
    it(
      `${name} holds before anything is updated, and continues once it is mended`,
      scenario(async (scene) => {
        const { problem, updated, manager, edit } = await released(scene, spec);
        assert.match(problem(), expected);
        assert.equal(updated(), 0);
        assert.deepEqual(
          manager.reasons().filter((reason) => reason === 'InvalidPolicy'),
          ['InvalidPolicy'],
        );
        await edit(stagedBy({ address: undefined, tls: undefined, credentials: undefined } as object));
        assert.equal(updated(), 1, problem());
      }),
    );
});

it(
  'a plan is in a cycle also while it is invalid otherwise, and so is the other one',
  scenario(async (scene) => {
    const after = (name: string, spec: RolloutPlanSpec = {}): RolloutPlanSpec => ({ ...spec, after: [{ name }] });
    const { problem, edit, updated } = await released(scene, after('driver', stagedBy({ condition: 'results' })));
    const { api, cluster, clock } = scene;
    api.objects.create(rolloutPlans, {
      metadata: { namespace: NAMESPACE, name: 'back' },
      spec: after('app'),
    } as RolloutPlanObject);
    cluster.createSet({ 'edgeset.io/rollout-plan': 'back' }, { name: 'driver' });
    await clock.advance(5_000);
    const other = (): string =>
      cluster.rollout('driver')?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    assert.match(problem(), /Unknown variable: results.*"app after driver after app" is a cycle/);
    assert.match(other(), /back: spec\.after "driver after app after driver" is a cycle/);
    await edit(after('driver', stagedBy()));
    assert.match(problem(), /"app after driver after app" is a cycle/);
    assert.match(other(), /is a cycle/);
    assert.equal(updated(), 0);
    await edit({ ...stagedBy(), after: [] });
    assert.doesNotMatch(problem(), /cycle/);
    assert.doesNotMatch(other(), /cycle/);
  }),
);

describe('the Secret of a check', () => {
  const spec = stagedBy({ credentials: { secretName: 'metrics' } });

  it(
    'that appears, and lacks a key at first, heals its plan by itself',
    scenario(async (scene) => {
      const { problem, updated } = await released(scene, spec);
      const { api, clock } = scene;
      api.objects.create(secrets, secretOf({ user: 'me' }));
      await clock.advance(30_000);
      assert.match(problem(), /has neither token nor username and password: set them/);
      assert.equal(updated(), 0);
      api.objects.patch(secrets, { namespace: NAMESPACE, name: 'metrics' }, secretOf({ token: 'abc' }));
      await clock.advance(30_000);
      assert.equal(updated(), 1, problem());
      const read = api.sent('get', 'secrets').length;
      await clock.advance(300_000);
      assert.equal(api.sent('get', 'secrets').length, read, 'it is read no more');
    }),
  );

  it(
    'that the manager may not read is named as such',
    scenario(async (scene) => {
      const { problem, updated } = await released(scene, spec, ({ api }) =>
        api.fault('get', 'secrets', { kind: 'refuse', code: 'Forbidden' }, { times: 99 }),
      );
      assert.match(problem(), /"Secret \w+\/metrics" may not be read by the manager: grant its service account/);
      assert.equal(updated(), 0);
    }),
  );

  it(
    'holds while it is being read, and is no problem then',
    scenario(async (scene) => {
      let release = (): void => undefined;
      const { problem, updated } = await released(scene, spec, ({ api }) => {
        api.objects.create(secrets, secretOf({ token: 'abc' }));
        ({ release } = api.fault('get', 'secrets', { kind: 'hold' }));
      });
      assert.equal(problem(), 'Waiting for the cache to sync');
      assert.equal(updated(), 0);
      release();
      await scene.clock.advance(2_000);
      assert.equal(updated(), 1, problem());
    }),
  );

  it(
    'that no plan in use needs is not read again',
    scenario(async (scene) => {
      await released(scene, spec);
      const { api, clock, cluster } = scene;
      cluster.annotate({ 'edgeset.io/rollout-plan': null });
      await clock.advance(30_000);
      const read = api.sent('get', 'secrets').length;
      await clock.advance(300_000);
      assert.equal(api.sent('get', 'secrets').length, read);
    }),
  );
});
