import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createTestClock } from '../../../test/support/index.ts';
import { daemonSets, type KubeObject } from '../../kube/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import { daemonRollouts, saysManaged } from '../status/daemon-rollout.ts';
import { createTestApi } from '../testing/api.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { testKind } from '../testing/fixtures.ts';
import { announcements, onEveryNode, patches, scenario } from '../testing/scenario.ts';
import { stopManaging, unmanagedStatus } from './stop-managing.ts';

const managedStatus: DaemonRolloutStatus = {
  observedGeneration: 1,
  daemonSetGeneration: 4,
  policyHash: 'h',
  strategy: 'auto',
  leader: 'm1',
  summary: 'Rolling out',
  target: { revision: 'app-2', hash: 'h2', number: 2 },
  rollout: 2,
  updatesStarted: 3,
  estimatedFinishAt: '2026-01-01T00:10:00Z',
  budget: { maxUnavailable: '1', nodes: 1, inUse: 1, inFlight: 1 },
  breaker: { failures: 1, suspects: 0, threshold: 3 },
  failing: [{ node: 'n1', cause: 'deadline', message: '', since: '2026-01-01T00:00:00Z' }],
  halted: { at: '2026-01-01T00:00:00Z', reason: 'Failures', nodes: ['n1'] },
  reservations: [{ node: 'n2', podUID: 'p', rollout: 2, at: '2026-01-01T00:00:00.000Z', carriedOut: false }],
  forgiven: ['n3'],
  conditions: ['Ready', 'Reconciling', 'Stalled', 'Complete', 'Paused', 'Halted'].map((type) => ({
    type,
    status: type === 'Paused' ? 'False' : 'True',
    reason: 'Whatever',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })),
};

describe('the status of a rollout that is no longer managed', () => {
  const now = Date.parse('2026-02-02T00:00:00Z');
  const notManaged = { reason: 'NotManaged', summary: 'Not managed', message: 'It is not managed.' };
  const unmanaged = unmanagedStatus({ metadata: { generation: 1 }, status: managedStatus }, 7, notManaged, now);

  it('keeps what a later manager continues from, and nothing of the present', () => {
    const { conditions: _, summary, observedGeneration, daemonSetGeneration, ...kept } = unmanaged;
    const { target, rollout, updatesStarted, halted, reservations, forgiven, leader, strategy } = managedStatus;
    assert.deepEqual(kept, { target, rollout, updatesStarted, halted, reservations, forgiven, leader, strategy });
    assert.deepEqual([summary, observedGeneration, daemonSetGeneration], ['Not managed', 1, 7]);
  });

  it('says in its conditions that it is not managed, and changes their times only if their status changes', () => {
    const verdicts = Object.fromEntries((unmanaged.conditions ?? []).map(({ type, status: is }) => [type, is]));
    assert.deepEqual(verdicts, {
      Reconciling: 'False',
      Stalled: 'False',
      Complete: 'Unknown',
      Paused: 'False',
      Halted: 'False',
    });
    const time = (type: string) => unmanaged.conditions?.find((each) => each.type === type)?.lastTransitionTime;
    assert.equal(time('Paused'), '2026-01-01T00:00:00Z');
    assert.equal(time('Complete'), '2026-02-02T00:00:00Z');
    assert.ok(
      unmanaged.conditions?.every(({ reason, message }) => reason === 'NotManaged' && message === 'It is not managed.'),
    );
  });

  it('changes once, and its generation never decreases', () => {
    assert.equal(saysManaged(managedStatus), true);
    assert.equal(saysManaged(unmanaged), false);
    assert.equal(saysManaged(undefined), false);
    const again = { metadata: { generation: 1 }, status: unmanaged };
    assert.deepEqual(unmanagedStatus(again, 3, notManaged, now + 1), unmanaged);
  });
});

describe('a DaemonRollout says that its DaemonSet is not managed', () => {
  const ref = { namespace: 'edge', name: 'app' };
  const prepare = (change: DaemonSet['metadata'] = {}) => {
    const clock = createTestClock();
    const api = createTestApi(clock);
    const spec = {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: { spec: { containers: [] } },
    };
    const set = api.objects.create(daemonSets, { metadata: { ...ref, ...change }, spec } as DaemonSet);
    const own = (uid: string): void =>
      void api.objects.create(daemonRollouts, {
        metadata: {
          namespace: 'edge',
          name: 'app.test',
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid, controller: true }],
        },
        status: managedStatus,
      } as KubeObject);
    const run = () => stopManaging(api.client, testKind, ref, 'm1', clock, new AbortController().signal);
    return { api, uid: set.metadata?.uid ?? '', own, run };
  };

  it('if the DaemonSet exists and is not managed, and then never again', async () => {
    const { own, uid, run } = prepare();
    own(uid);
    assert.equal(await run(), true);
    assert.equal(await run(), false);
  });

  it('if the DaemonSet is being deleted, once, unless the garbage collector is about to orphan it', async () => {
    const [going, orphaning] = ['example.com/held', 'orphan'].map((finalizer) => {
      const deleted = prepare({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [finalizer] });
      deleted.own(deleted.uid);
      return deleted;
    });
    assert.deepEqual([await going?.run(), await going?.run(), await orphaning?.run()], [true, false, false]);
    const { conditions = [] }: DaemonRolloutStatus = going?.api.objects.all(daemonRollouts)[0]?.status ?? {};
    assert.ok(conditions.some(({ type, status }) => type === 'Complete' && status === 'Unknown'));
  });

  it('not if the DaemonSet is gone, another one, or managed after all', async () => {
    const gone = prepare();
    gone.own(gone.uid);
    gone.api.objects.remove(daemonSets, ref);
    const another = prepare();
    another.own('of an earlier one');
    const managed = prepare({ annotations: { 'apps.openyurt.io/update-strategy': 'auto' } });
    managed.own(managed.uid);
    for (const { run, api } of [gone, another, managed]) {
      assert.equal(await run(), false);
      assert.deepEqual(api.sent('replace', 'daemonrollouts'), []);
    }
  });

  it('unless the DaemonSet was deleted with --cascade=orphan: what it left behind is removed', async () => {
    const orphaned = (change: Parameters<typeof prepare>[0] = {}) => {
      const prepared = prepare(change);
      prepared.api.objects.create(daemonRollouts, {
        metadata: { ...ref, name: 'app.test', labels: { 'app.kubernetes.io/managed-by': 'edgeset-manager' } },
        status: managedStatus,
      } as KubeObject);
      return prepared;
    };
    const gone = orphaned();
    gone.api.objects.remove(daemonSets, ref);
    const going = orphaned({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    const successor = orphaned();
    for (const { run, api } of [gone, going, successor]) {
      assert.equal(await run(), true);
      assert.equal(api.objects.all(daemonRollouts).length, 0);
      assert.equal(await run(), false);
    }
    const managed = orphaned({ annotations: { 'apps.openyurt.io/update-strategy': 'auto' } });
    assert.equal(await managed.run(), false, 'its reconciler replaces it');
  });

  it('not if there is no DaemonRollout', async () => assert.equal(await prepare().run(), false));
});

const OPT_OUT = { 'apps.openyurt.io/update-strategy': null };
const OPT_IN = { 'apps.openyurt.io/update-strategy': 'auto' };
const app = { namespace: NAMESPACE, name: 'app' };

describe('a DaemonSet that opts out', () => {
  it(
    'is left alone at once, and its DaemonRollout says that it is not managed',
    scenario(async ({ settled, clock, cluster, api, deletes, status, condition, requests, mostDown }) => {
      await settled(3, '1');
      cluster.setImage('v2');
      await clock.advance(500);
      assert.equal(deletes().length, 1);
      const { reservations, lastComplete, rollout } = status();
      assert.equal(reservations?.length, 1);
      cluster.annotate(OPT_OUT);
      await clock.advance(1_000);
      assert.equal(status().summary, 'Not managed');
      assert.equal(condition('Ready'), undefined, 'kstatus waits for it otherwise');
      assert.deepEqual([condition('Complete')?.status, condition('Complete')?.reason], ['Unknown', 'NotManaged']);
      assert.equal(condition('Reconciling')?.status, 'False');
      assert.equal(status().nodes, undefined);
      assert.deepEqual([status().lastComplete, status().rollout], [lastComplete, rollout]);
      assert.equal(status().reservations?.length, 1, 'a later manager knows the slot');
      const since = clock.now();
      await clock.advance(600_000);
      assert.deepEqual(requests(since), [], 'nothing else is written or read');
      assert.equal(deletes().length, 1);
      cluster.annotate(OPT_IN);
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
      assert.equal(mostDown(), 1);
      assert.equal(condition('Complete')?.status, 'True');
      assert.equal(api.sent('delete', 'pods').length, 3);
    }),
  );

  it(
    'aborts writes in flight: they are not sent again, and their slots hold until the outcome is known',
    scenario(async ({ settled, beforeReservation, clock, cluster, api, deletes, open, mostDown }) => {
      await settled(2, '1');
      await beforeReservation('v2');
      const held = api.fault('delete', 'pods', { kind: 'hold' });
      await clock.advance(10);
      assert.equal(held.abandoned, 0);
      cluster.annotate(OPT_OUT);
      await clock.advance(10);
      assert.equal(held.abandoned, 1, 'nothing waits for the response, and nothing further is sent');
      await clock.advance(30_000);
      assert.equal(deletes().length, 1);
      assert.equal(open().length, 1);
      cluster.annotate({ ...OPT_IN, 'edgeset.io/partition': '0' });
      await clock.advance(5);
      held.release();
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(mostDown(), 1);
      assert.deepEqual(open(), []);
    }),
  );

  it(
    'while no manager runs is noticed at the next start',
    scenario(async ({ settled, manage, clock, cluster, status, requests }) => {
      const first = await settled(2, '1');
      await first.stop();
      cluster.annotate(OPT_OUT);
      manage('m2').lead();
      await clock.advance(1_000);
      assert.equal(status().summary, 'Not managed');
      const since = clock.now();
      await clock.advance(600_000);
      assert.deepEqual(requests(since), []);
    }),
  );

  it(
    'is not recorded by a process that does not lead',
    scenario(async ({ settled, manage, clock, cluster, status }) => {
      const first = await settled(2, '1');
      await first.stop();
      manage('m2');
      cluster.annotate(OPT_OUT);
      await clock.advance(60_000);
      assert.notEqual(status().summary, 'Not managed');
    }),
  );

  it(
    'is recorded again if the write fails',
    scenario(async ({ settled, clock, cluster, api, status }) => {
      await settled(2, '1');
      api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'ServiceUnavailable', status: 503 }, { times: 3 });
      cluster.annotate(OPT_OUT);
      await clock.advance(10_000);
      assert.equal(status().summary, 'Not managed');
    }),
  );

  it(
    'by being deleted causes no write',
    scenario(async ({ settled, clock, api, status }) => {
      await settled(2, '1');
      const before = status();
      api.objects.remove(daemonSets, app);
      await clock.advance(60_000);
      assert.deepEqual(status(), before);
      api.objects.remove(daemonRollouts, app);
      await clock.advance(60_000);
      assert.equal(api.sent('create', 'daemonrollouts').length, 1);
    }),
  );
});

const STRATEGY = 'apps.openyurt.io/update-strategy';
const ota = { [STRATEGY]: 'ota' };

describe('PodNeedUpgrade of a DaemonSet whose owners no longer decide', () => {
  it(
    'is removed when the DaemonSet opts out, also if it was still in flight',
    scenario(async (s) => {
      const { settled, cluster, clock, api, status, requests } = s;
      await settled(3, '1', ota);
      const held = api.fault('patch', 'pods', { kind: 'hold' });
      cluster.setImage('v2');
      await clock.advance(2_000);
      cluster.annotate({ [STRATEGY]: null });
      await clock.advance(100);
      // An unrelated event triggers a reconcile meanwhile.
      api.objects.patch(daemonRollouts, { namespace: NAMESPACE, name: 'app' }, { metadata: { labels: { a: 'b' } } });
      await clock.advance(2_000);
      assert.notEqual(status().summary, 'Not managed');
      held.release();
      await clock.advance(5_000);
      assert.deepEqual(announcements(s), onEveryNode('nothing'));
      assert.equal(status().summary, 'Not managed');
      assert.equal(status().owners, undefined);
      const since = clock.now() + 1;
      await clock.advance(60_000);
      assert.deepEqual(requests(since), []);
    }),
  );

  it(
    'is removed when the DaemonSet opted out while no manager ran, and one refusal does not stop the others',
    scenario(async (s) => {
      const { settled, cluster, clock, api, status, manage } = s;
      const first = await settled(3, '1', ota);
      cluster.setImage('v2');
      await clock.advance(5_000);
      await first.stop();
      cluster.annotate({ [STRATEGY]: null });
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      const fault = api.fault(
        'patch',
        'pods',
        { kind: 'refuse', code: 'InternalError', status: 500 },
        { name, times: 3 },
      );
      manage('m2').lead();
      await clock.advance(400);
      assert.deepEqual(announcements(s), { ...onEveryNode('nothing'), n1: 'True NewRevision v2' });
      assert.notEqual(status().summary, 'Not managed');
      await clock.advance(30_000);
      assert.equal(fault.fired, 3);
      assert.deepEqual(announcements(s), onEveryNode('nothing'));
      assert.equal(status().summary, 'Not managed');
    }),
  );

  it(
    'is never written before the DaemonRollout tells a later manager that there is something to take back',
    scenario(async (s) => {
      const { cluster, clock, api, manage } = s;
      cluster.addNode('n1');
      cluster.createSet(ota);
      await clock.advance(10_000);
      api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'Forbidden', status: 403 }, { times: 5 });
      manage().lead();
      await clock.advance(500);
      assert.equal(patches(s), 0);
      await clock.advance(60_000);
      assert.deepEqual(announcements(s), onEveryNode('False UpToDate v1', 1));
    }),
  );
});
