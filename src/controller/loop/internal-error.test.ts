import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisions, daemonSets, nodes, pods, type Resource } from '../../kube/index.ts';
import { failedGeneration } from '../../rollout/index.ts';
import type { RolloutPlanObject } from '../../words/index.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';
import { rolloutPlans } from '../watches/plans.ts';

const app = { namespace: NAMESPACE, name: 'app' };
const ON_PLAN = { 'edgeset.io/rollout-plan': 'rings' };

const createPlan = ({ api }: Scenario): void =>
  void api.objects.create(rolloutPlans, {
    metadata: { name: 'rings', namespace: NAMESPACE },
    spec: { stages: [{ name: 'canary', nodes: { count: 1 } }] },
  } as RolloutPlanObject);

interface Poison {
  what: string;
  resource: Resource;
  /** The name of an object of the scenario. */
  of: (scene: Scenario) => { namespace?: string; name: string };
  /** What no API server would serve, so that something throws. */
  with: object;
  remedy: object;
  annotations?: Record<string, string>;
}

const poisons: readonly Poison[] = [
  {
    what: 'a Node',
    resource: nodes,
    of: () => ({ name: 'n3' }),
    with: { status: { conditions: 5 } },
    remedy: { status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] } },
  },
  {
    what: 'a Pod',
    resource: pods,
    of: ({ cluster }) => ({ namespace: NAMESPACE, name: cluster.podOn('n3')?.metadata?.name ?? '' }),
    with: { spec: { readinessGates: 5 } },
    remedy: { spec: { readinessGates: [] } },
  },
  {
    what: 'the DaemonSet',
    resource: daemonSets,
    of: () => app,
    with: { status: { conditions: 5 } },
    remedy: { status: { conditions: [] } },
  },
  {
    what: 'a ControllerRevision',
    resource: controllerRevisions,
    of: () => ({ namespace: NAMESPACE, name: 'app-v1' }),
    with: { data: { spec: { template: { odd: 5n } } } },
    remedy: { data: { spec: { template: { odd: 5 } } } },
  },
  {
    what: 'the RolloutPlan',
    resource: rolloutPlans,
    of: () => ({ namespace: NAMESPACE, name: 'rings' }),
    with: { spec: { windows: 5 } },
    remedy: { spec: { windows: [] } },
    annotations: ON_PLAN,
  },
];

const stalled = ({ condition }: Scenario) => condition('Stalled');
const errors = (reasons: readonly string[]): number => reasons.filter((reason) => reason === 'InternalError').length;

describe('what cannot be computed holds', () => {
  for (const { what, resource, of, with: poison, remedy, annotations = {} } of poisons)
    it(
      `for ${what}, says so once, and continues when it has changed`,
      scenario(async (scene) => {
        const { api, clock, cluster, settled, status, deletes, requests } = scene;
        if (annotations === ON_PLAN) createPlan(scene);
        const manager = await settled(3, '1', annotations);
        const ref = of(scene);
        api.objects.patch(resource, ref, poison);
        await clock.advance(100);
        cluster.setImage('v2');
        await clock.advance(20_000);
        assert.deepEqual(deletes(), [], 'nothing is updated');
        const { status: isStalled, reason, message = '' } = stalled(scene) ?? {};
        assert.deepEqual([isStalled, reason], ['True', 'InternalError']);
        assert.ok(message.includes(ref.name), message);
        assert.equal(scene.condition('Ready')?.status, 'False');
        assert.equal(scene.condition('Complete')?.status, 'Unknown');
        assert.equal(status().summary, 'Internal error');
        const { daemonSetGeneration = 0, target } = status();
        assert.equal(target?.hash, 'v1');
        assert.ok(
          daemonSetGeneration < (cluster.getSet().metadata?.generation ?? 0),
          'or v1 would pass for the present template',
        );
        assert.equal(errors(manager.reasons()), 1);
        assert.ok(manager.lines.some((line) => line.startsWith('error: ')));
        assert.ok([...manager.controller.snapshot()].every(({ hasError }) => hasError));
        const since = clock.now();
        let tries = 0;
        manager.onReconcile(() => (tries += 1));
        await clock.advance(120_000);
        assert.ok(tries <= 12, `${tries} tries in two minutes`);
        const writes = requests(since).filter((request) => !request.startsWith('get') && !request.startsWith('list'));
        assert.deepEqual(writes, [], 'nothing is written over and over');
        api.objects.patch(resource, ref, remedy);
        await clock.advance(annotations === ON_PLAN ? 60_000 : 40_000);
        assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
        assert.equal(stalled(scene)?.status, 'False');
        assert.equal(errors(manager.reasons()), 1);
      }),
    );

  it(
    'also for the generation that comes while the DaemonSet is told of the one before',
    scenario(async ({ api, clock, cluster, settled }) => {
      await settled(3, '1');
      const told = api.fault('patch', 'daemonsets/status', { kind: 'hold' });
      api.objects.patch(nodes, { name: 'n3' }, { status: { conditions: 5 } });
      await clock.advance(100);
      assert.equal(told.fired, 1);
      cluster.setImage('v2');
      await clock.advance(100);
      told.release();
      await clock.advance(60_000);
      const { metadata, status } = cluster.getSet();
      assert.equal(failedGeneration(status?.conditions), metadata?.generation);
    }),
  );

  it(
    'when it happens once, heals by itself, also where the ledger was left half changed',
    scenario(async (scene) => {
      const { clock, cluster, settled, deletes } = scene;
      const manager = await settled(3, '1');
      const [rollout] = [...manager.controller.snapshot()];
      assert.ok(rollout);
      const tick = rollout.ledger.tick.bind(rollout.ledger);
      rollout.ledger.tick = () => {
        rollout.ledger.tick = tick;
        throw new RangeError('a time without a date');
      };
      cluster.setImage('v2');
      await clock.advance(51);
      assert.equal(stalled(scene)?.status, 'True');
      assert.deepEqual(deletes(), []);
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
      assert.equal(stalled(scene)?.status, 'False');
      assert.equal(errors(manager.reasons()), 1);
    }),
  );

  it(
    'when an event is lost by it, reads everything again before anything is decided',
    scenario(async (scene) => {
      const { clock, cluster, settled, deletes } = scene;
      const manager = await settled(3, '3');
      const [rollout] = [...manager.controller.snapshot()];
      assert.ok(rollout);
      const { ledger } = rollout;
      const setNode = ledger.setNode.bind(ledger);
      ledger.setNode = () => {
        ledger.setNode = setNode;
        throw new RangeError('a node that cannot be counted');
      };
      cluster.setNodeReady('n3', false);
      await clock.advance(10);
      cluster.setImage('v2');
      await clock.advance(30_000);
      assert.deepEqual(
        deletes().map(({ name }) => name),
        ['app-1', 'app-2'],
        'n3 is offline',
      );
      assert.equal(stalled(scene)?.status, 'False');
      assert.equal(errors(manager.reasons()), 1);
    }),
  );

  it(
    'and does not disturb other DaemonSets',
    scenario(async (scene) => {
      const { api, clock, cluster, settled } = scene;
      createPlan(scene);
      const manager = await settled(2, '1', ON_PLAN);
      cluster.createSet({}, { name: 'other', tag: 'v1' });
      await clock.advance(10_000);
      api.objects.patch(rolloutPlans, { namespace: NAMESPACE, name: 'rings' }, { spec: { windows: 5 } });
      await clock.advance(1_000);
      const states = [...manager.controller.snapshot()].map(({ name, hasError }) => [name, hasError]);
      assert.deepEqual(Object.fromEntries(states), { app: true, other: false });
    }),
  );

  it(
    'is not taken for a DaemonSet that is no longer managed, also by a manager that has just started',
    scenario(async (scene) => {
      const { api, clock, settled, manage, status } = scene;
      const manager = await settled(2, '1');
      api.objects.patch(daemonSets, app, { status: { conditions: 5 } });
      await clock.advance(5_000);
      const before = status().conditions;
      await manager.stop();
      manage('m2').lead();
      await clock.advance(60_000);
      assert.deepEqual(status().conditions, before);
    }),
  );
});
