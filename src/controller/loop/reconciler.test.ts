import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodes } from '../../kube/index.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';
import { rolloutPlans } from '../watches/plans.ts';

const updated = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index + 1}`, 'v2']));

const PAUSE = { 'edgeset.io/paused': 'true' };

const label = (api: Scenario['api'], name: string): void =>
  void api.objects.patch(nodes, { name }, { metadata: { labels: { go: 'yes' } } });

describe('the target', () => {
  it(
    'is not known from the status alone: the revision may arrive later',
    scenario(async ({ settled, cluster, clock, deletes }) => {
      await settled(1, '1');
      cluster.nativeController.observes = false;
      cluster.setImage('v2');
      cluster.acknowledge();
      await clock.advance(500);
      assert.equal(deletes().length, 0);
      cluster.record();
      await clock.advance(10);
      assert.equal(deletes().length, 1);
    }),
  );

  it(
    'is read from the API server if the watch withholds the revision',
    scenario(async ({ settled, cluster, api, clock, deletes }) => {
      await settled(1, '1');
      api.silence('controllerrevisions');
      cluster.setImage('v2');
      await clock.advance(900);
      assert.equal(deletes().length, 0);
      await clock.advance(1_000);
      assert.equal(deletes().length, 1);
      assert.equal(api.sent('list', 'controllerrevisions').length, 1);
      await clock.advance(60_000);
      assert.equal(api.sent('list', 'controllerrevisions').length, 1);
      assert.deepEqual(cluster.tags(), updated(1));
    }),
  );

  it(
    'is not used if the template changed again while it was read',
    scenario(async ({ settled, cluster, api, clock, deletes, status }) => {
      await settled(1, '1');
      api.silence('controllerrevisions');
      const read = api.fault('list', 'controllerrevisions', { kind: 'hold' });
      cluster.setImage('v2');
      await clock.advance(2_000);
      assert.equal(read.fired, 1);
      cluster.nativeController.observes = false;
      cluster.setImage('v3');
      await clock.advance(10);
      read.release();
      await clock.advance(20_000);
      assert.equal(deletes().length, 0);
      assert.equal(status().target?.hash, 'v1', 'no wave was reserved for it either');
    }),
  );

  it(
    'is the newest revision also if its template never equals that of the DaemonSet',
    scenario(async ({ settled, cluster, api, clock }) => {
      await settled(2, '1');
      cluster.nativeController.defaults = true;
      cluster.setImage('v2');
      await clock.advance(30_000);
      assert.deepEqual(cluster.tags(), updated(2));
      assert.equal(api.sent('list', 'controllerrevisions').length, 1);
    }),
  );
});

describe('a stale watch', () => {
  for (const plural of ['nodes', 'daemonsets'])
    it(
      `of ${plural} starts no update, and recovers by itself`,
      scenario(async ({ settled, clock, cluster, api, deletes, condition }) => {
        const manager = await settled(3, '1', { 'edgeset.io/node-selector': 'go=yes' });
        cluster.setImage('v2');
        await clock.advance(5_000);
        api.silence(plural);
        await clock.advance(150_000);
        // The watch of pods still works: a pod that restarts triggers a reconcile.
        const name = cluster.podOn('n1')?.metadata?.name ?? '';
        cluster.setPodReady(name, false);
        await clock.advance(2_000);
        assert.equal(condition('Ready')?.reason, 'NotSynced');
        if (plural === 'daemonsets') for (const node of ['n1', 'n2']) label(api, node);
        await clock.advance(30_000);
        assert.equal(deletes().length, 0);
        assert.equal(manager.lines.filter((line) => line.includes('a watch is down')).length, 1);
        if (plural === 'nodes') for (const node of ['n1', 'n2']) label(api, node);
        api.silence(plural, false);
        await clock.advance(90_000);
        assert.equal(cluster.tags().n1, 'v2');
        assert.equal(cluster.tags().n2, 'v2');
      }),
    );

  for (const plural of ['rolloutplans', 'clusterrolloutplans', 'rolloutapprovals'])
    it(
      `of ${plural} starts no update of a DaemonSet that names a plan, says so, and recovers by itself`,
      scenario(async ({ settled, clock, cluster, api, deletes, condition }) => {
        const plan = { apiVersion: 'edgeset.io/v1alpha1', kind: 'RolloutPlan' };
        api.objects.create(rolloutPlans, {
          ...plan,
          metadata: { namespace: 'edge', name: 'rings' },
          spec: { stages: [{ name: 'lab', nodes: { percent: 100 } }] },
        } as Parameters<typeof api.objects.create>[1]);
        await settled(2, '1', { 'edgeset.io/rollout-plan': 'rings' });
        api.silence(plural);
        await clock.advance(150_000);
        cluster.setImage('v2');
        await clock.advance(5_000);
        for (let waited = 0; waited < 2; waited += 1) {
          assert.equal(condition('Ready')?.reason, 'NotSynced');
          await clock.advance(30_000);
        }
        assert.equal(deletes().length, 0);
        api.silence(plural, false);
        await clock.advance(90_000);
        assert.deepEqual(cluster.tags(), updated(2));
      }),
    );

  it(
    'of plans that never syncs is named, once a DaemonSet needs one',
    scenario(async ({ settled, clock, cluster, api, condition }) => {
      await settled(1, '1');
      api.breakWatch('rolloutplans');
      cluster.annotate({ 'edgeset.io/rollout-plan': 'rings' });
      await clock.advance(30_000);
      assert.match(condition('Ready')?.message ?? '', /rollout plans of the cluster cannot be read/);
    }),
  );

  it(
    'is suspected when the clock was set back, until the API server sends something again',
    scenario(async ({ settled, clock, cluster, api, deletes }) => {
      await settled(2, '1');
      api.silence('nodes');
      clock.jump(-600_000);
      cluster.setImage('v2');
      await clock.advance(300_000);
      assert.equal(deletes().length, 0);
      api.silence('nodes', false);
      await clock.advance(90_000);
      assert.equal(deletes().length, 2);
    }),
  );

  it(
    'of pods starts no more updates than the budget allows',
    scenario(async ({ settled, clock, cluster, api, deletes }) => {
      await settled(4, '1');
      api.silence('pods');
      cluster.setImage('v2');
      await clock.advance(300_000);
      assert.equal(deletes().length, 1);
      api.silence('pods', false);
      await clock.advance(30_000);
      assert.equal(deletes().length, 4);
    }),
  );

  it(
    'is not suspected in a cluster where nothing happens',
    scenario(async ({ settled, clock, cluster, deletes, manage }) => {
      await settled(2, '1');
      manage('m2');
      await clock.advance(3_600_000);
      cluster.setImage('v2');
      await clock.advance(100);
      assert.equal(deletes().length, 1);
    }),
  );
});

describe('a clock that jumps', () => {
  for (const minutes of [-10, 10])
    it(
      `by ${minutes} minutes during a rollout does not stop it for long`,
      scenario(async ({ settled, clock, cluster, deletes, mostDown, condition }) => {
        await settled(3, '1');
        cluster.setImage('v2');
        await clock.advance(500);
        assert.equal(deletes().length, 1);
        clock.jump(minutes * 60_000);
        await clock.advance(90_000);
        assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
        assert.equal(mostDown(), 1);
        assert.equal(condition('Complete')?.status, 'True');
      }),
    );
});

/** A leader that reserves n1's slot and loses leadership with the delete in flight; `release` lets it arrive. */
const abandoned = async ({ settled, beforeReservation, api, clock, open }: Scenario) => {
  const first = await settled(2, '1');
  await beforeReservation('v2');
  const held = api.fault('delete', 'pods', { kind: 'hold' });
  await clock.advance(10);
  assert.equal(held.fired, 1);
  const resigned = first.resign();
  await clock.advance(1_000);
  await resigned;
  assert.equal(open().length, 1);
  return { first, release: held.release };
};

describe('leadership', () => {
  it(
    'that is lost between a reservation and its update prevents the update',
    scenario(async ({ settled, beforeReservation, api, clock, deletes, open, requests }) => {
      const manager = await settled(2, '1');
      await beforeReservation('v2');
      const write = api.fault('replace', 'daemonrollouts', { kind: 'hold' });
      await clock.advance(10);
      const resigned = manager.resign();
      write.release();
      await clock.advance(1_000);
      await resigned;
      const since = clock.now();
      await clock.advance(60_000);
      assert.equal(open().length, 1);
      assert.equal(deletes().length, 0);
      assert.deepEqual(requests(since), []);
    }),
  );

  it(
    'ends within a second even if the API server does not respond',
    scenario(async ({ settled, beforeReservation, api, clock }) => {
      const manager = await settled(2, '1');
      await beforeReservation('v2');
      api.fault('delete', 'pods', { kind: 'hold' });
      await clock.advance(10);
      let ended = false;
      const resigned = manager.resign().then(() => (ended = true));
      await clock.advance(400);
      assert.equal(ended, false, 'it waits for a response that may still come');
      await clock.advance(200);
      assert.equal(ended, true);
      await resigned;
    }),
  );

  it(
    'passes on the slots: what was reserved is executed under the name of the new leader',
    scenario(async (parts) => {
      const { manage, clock, cluster, api, deletes, mostDown } = parts;
      const { release } = await abandoned(parts);
      const since = clock.now();
      manage('m2').lead();
      await clock.advance(100);
      const made = parts.requests(since);
      assert.deepEqual(made.slice(0, 4), [
        'get daemonrollouts',
        'get daemonsets',
        'replace daemonrollouts',
        'delete pods',
      ]);
      assert.equal(cluster.rollout()?.status?.leader, 'm2');
      const [theirs, ours] = deletes();
      assert.deepEqual(ours?.body, theirs?.body);
      await clock.advance(500);
      release();
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(mostDown(), 1);
      assert.equal(api.sent('patch', 'pods').length, 0);
    }),
  );

  it(
    'passes on the slots: what is no longer wanted is fenced before its slot is free',
    scenario(async (parts) => {
      const { manage, clock, cluster, api, open, mostDown } = parts;
      const { release } = await abandoned(parts);
      cluster.annotate(PAUSE);
      const since = clock.now();
      manage('m2').lead();
      await clock.advance(5_000);
      assert.equal(api.sent('patch', 'pods').length, 1);
      const made = parts.requests(since);
      assert.deepEqual(made.slice(0, 4), [
        'get daemonrollouts',
        'get daemonsets',
        'replace daemonrollouts',
        'patch pods',
      ]);
      assert.deepEqual(open(), []);
      release();
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v1', n2: 'v1' });
      assert.equal(mostDown(), 0);
    }),
  );

  it(
    'moves to another process while the old one still believes to lead, during a reservation',
    scenario(async (parts) => {
      const { manage, clock, cluster, api, mostDown } = parts;
      const first = await parts.settled(2, '1');
      await parts.beforeReservation('v2');
      const answer = api.fault('replace', 'daemonrollouts', { kind: 'hold' });
      await clock.advance(10);
      answer.release();
      const second = manage('m2');
      second.lead();
      await clock.advance(40_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(mostDown(), 1);
      await Promise.all([first.resign(), second.resign(), clock.advance(1_000)]);
    }),
  );

  it(
    'of two processes at once keeps the budget, and each pod is deleted once',
    scenario(async ({ settled, manage, clock, cluster, api, mostDown }) => {
      await settled(6, '2');
      manage('m2').lead();
      cluster.setImage('v2');
      await clock.advance(240_000);
      assert.deepEqual([...new Set(Object.values(cluster.tags()))], ['v2']);
      assert.ok(mostDown() <= 2, `${mostDown()} down at once`);
      const terminated = api.objects.history.filter(
        ({ plural, type, object }) => plural === 'pods' && type === 'DELETED' && object.metadata?.uid,
      );
      assert.equal(terminated.length, 6);
    }),
  );

  it(
    'repeats no Event and writes nothing after a restart at rest',
    scenario(async ({ settled, manage, clock, cluster, api }) => {
      const first = await settled(2, '1');
      cluster.setImage('v2');
      await clock.advance(20_000);
      assert.deepEqual(first.reasons(), ['RolloutStarted', 'SuccessfulDelete', 'SuccessfulDelete', 'RolloutCompleted']);
      await first.stop();
      const writes = api.sent('replace', 'daemonrollouts').length;
      const second = manage('m2');
      second.lead();
      await clock.advance(60_000);
      assert.deepEqual(second.recorded, []);
      assert.equal(api.sent('replace', 'daemonrollouts').length, writes);
    }),
  );

  it(
    'that returns repeats no Event of another leader',
    scenario(async ({ settled, manage, clock, cluster, requests }) => {
      const first = await settled(2, '1');
      await Promise.all([first.resign(), clock.advance(1_000)]);
      const second = manage('m2');
      second.lead();
      cluster.setImage('v2');
      await clock.advance(20_000);
      await Promise.all([second.resign(), clock.advance(1_000)]);
      const since = clock.now();
      first.lead();
      await clock.advance(20_000);
      const read = ['get daemonrollouts', 'get daemonsets'];
      assert.deepEqual(requests(since), read, 'it reads what other leaders wrote before anything else');
      assert.deepEqual(first.recorded, []);
      assert.ok(second.reasons().includes('RolloutCompleted'));
    }),
  );

  it(
    'starts nothing until the watch has delivered the current DaemonSet',
    scenario(async ({ settled, clock, cluster, api, deletes }) => {
      const leader = await settled(2, '1');
      await Promise.all([leader.resign(), clock.advance(1_000)]);
      cluster.setImage('v2');
      await clock.advance(2_000);
      api.silence('daemonsets');
      cluster.annotate(PAUSE);
      leader.lead();
      await clock.advance(5_000);
      assert.deepEqual(deletes(), [], 'the pause is not known yet');
      api.silence('daemonsets', false);
      await clock.advance(5_000);
      assert.deepEqual(deletes(), []);
      cluster.annotate({ 'edgeset.io/paused': null });
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
    }),
  );
});
