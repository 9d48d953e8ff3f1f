import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSets, nodes, pods } from '../kube/index.ts';
import { daemonRollouts } from './index.ts';
import { NAMESPACE } from './testing/cluster.ts';
import { type Scenario, scenario } from './testing/scenario.ts';

const app = { namespace: NAMESPACE, name: 'app' };
describe('a view that is not fresh', () => {
  for (const plural of ['nodes', 'daemonsets'])
    it(
      `of ${plural} begins no act, and ends by itself`,
      scenario(async ({ settled, clock, cluster, api, deletes, condition }) => {
        const manager = await settled(3, '1', { 'edgeset.io/node-selector': 'go=yes' });
        cluster.setImage('v2');
        await clock.advance(5_000);
        api.silence(plural);
        await clock.advance(150_000);
        // Pods are still heard of: one that restarts wakes us.
        const name = cluster.podOn('n1')?.metadata?.name ?? '';
        cluster.setPodReady(name, false);
        await clock.advance(2_000);
        assert.equal(condition('Ready')?.reason, 'NotSynced');
        if (plural === 'daemonsets') for (const node of ['n1', 'n2']) label(api, node);
        await clock.advance(30_000);
        assert.equal(deletes().length, 0);
        assert.equal(manager.lines.filter((line) => line.includes('has received nothing')).length, 1);
        if (plural === 'nodes') for (const node of ['n1', 'n2']) label(api, node);
        api.silence(plural, false);
        await clock.advance(90_000);
        assert.equal(cluster.tags().n1, 'v2');
        assert.equal(cluster.tags().n2, 'v2');
      }),
    );

  it(
    'is suspected when the clock went back, until the API server is heard of again',
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
    'of pods begins no more acts than the budget has slots',
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
    'is not thought of a cluster in which nothing happens',
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
const label = (api: Scenario['api'], name: string): void =>
  void api.objects.patch(nodes, { name }, { metadata: { labels: { go: 'yes' } } });
describe('a clock that jumps', () => {
  for (const minutes of [-10, 10])
    it(
      `by ${minutes} minutes in the middle of a rollout stops nothing for long`,
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
describe('the cost', () => {
  it(
    'of a heartbeat is no pass over any DaemonSet',
    scenario(async ({ settled, clock, api }) => {
      let passes = 0;
      const manager = await settled(2, '1');
      await Promise.all([manager.resign(), clock.advance(1_000)]);
      manager.onReconcile(() => (passes += 1));
      manager.lead();
      await clock.advance(5_000);
      passes = 0;
      for (let beat = 0; beat < 10; beat += 1) {
        api.objects.patch(nodes, { name: 'n1' }, { metadata: { annotations: { beat: String(beat) } } });
        await clock.advance(100);
      }
      assert.equal(passes, 0);
      label(api, 'n1');
      await clock.advance(100);
      assert.equal(passes, 0, 'a label that the DaemonSet does not ask for');
    }),
  );

  it(
    'of many events within a moment is one pass at once and few after it',
    scenario(async ({ settled, clock, cluster }) => {
      let passes = 0;
      const manager = await settled(2, '1');
      const name = cluster.podOn('n1')?.metadata?.name ?? '';
      manager.onReconcile(() => (passes += 1));
      cluster.setPodReady(name, false);
      await clock.advance(10);
      assert.equal(passes, 1, 'at once');
      for (let count = 0; count < 40; count += 1) {
        cluster.setPodReady(name, count % 2 === 1);
        await clock.advance(5);
      }
      assert.ok(passes <= 6, `${passes} passes in 210 ms`);
      await clock.advance(100);
      assert.ok(passes >= 4, 'the last event is not left without a pass');
    }),
  );

  it(
    'of a DaemonSet that did not opt in is nothing',
    scenario(async ({ settled, clock, cluster, requests }) => {
      const manager = await settled(1, '1');
      const since = clock.now();
      cluster.createSet({}, { name: 'other', optIn: false });
      await clock.advance(30_000);
      assert.deepEqual(requests(since), []);
      assert.equal([...manager.controller.snapshot()].length, 1);
    }),
  );
});
it(
  'serves a DaemonSet that comes back under its old name as a new one',
  scenario(async ({ settled, clock, cluster, api, status, deletes, mostDown }) => {
    const manager = await settled(2, '1');
    cluster.setImage('v2');
    await clock.advance(500);
    api.objects.remove(daemonSets, app);
    for (const pod of api.objects.all(pods))
      api.objects.remove(pods, { namespace: NAMESPACE, name: pod.metadata?.name ?? '' });
    api.objects.remove(daemonRollouts, app);
    cluster.createSet({ 'apps.openyurt.io/max-unavailable': '1' }, { tag: 'v7' });
    await clock.advance(30_000);
    assert.equal(status().target?.hash, 'v7');
    assert.equal(status().rollout, 1);
    assert.deepEqual(cluster.tags(), { n1: 'v7', n2: 'v7' });
    assert.ok(deletes().length <= 2 && mostDown() <= 2);
    assert.equal([...manager.controller.snapshot()].length, 1);
  }),
);
describe('a cluster at rest', () => {
  for (const last of ['nodes', 'daemonsets', 'controllerrevisions', 'pods'])
    it(
      `is looked at as soon as the cache of ${last}, the last one, is filled`,
      scenario(async ({ cluster, api, clock, manage, status }) => {
        cluster.addNode('n1');
        cluster.createSet();
        await clock.advance(10_000);
        api.breakWatch(last);
        manage().lead();
        await clock.advance(3_000);
        assert.deepEqual(api.calls, []);
        api.breakWatch(last, false);
        await clock.advance(5_000);
        assert.equal(status().summary, 'Complete');
      }),
    );

  it(
    'is served although its rollout objects cannot be watched',
    scenario(async ({ cluster, api, clock, manage, status }) => {
      cluster.addNode('n1');
      cluster.createSet();
      await clock.advance(10_000);
      api.breakWatch('daemonrollouts');
      manage().lead();
      await clock.advance(10_000);
      assert.equal(status().summary, 'Complete');
    }),
  );
});

const PAUSE = { 'edgeset.io/paused': 'true' };
/** A leader that has reserved n1's slot and gone away with the delete on its way; `release` lets it arrive. */
const abandoned = async ({ settled, beforeReservation, api, clock, open }: Scenario) => {
  const first = await settled(2, '1');
  await beforeReservation('v2');
  const held = api.fault('delete', 'pods', { kind: 'hold' });
  await clock.advance(10);
  assert.equal(held.fired, 1);
  const resigned = first.resign();
  await clock.advance(1_000);
  await resigned;
  assert.deepEqual(open(), ['n1']);
  return { first, release: held.release };
};
describe('leadership', () => {
  it(
    'that is lost between a reservation and its act lets the act not be sent',
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
      assert.deepEqual(open(), ['n1']);
      assert.equal(deletes().length, 0);
      assert.deepEqual(requests(since), []);
    }),
  );

  it(
    'ends within a second although the API server does not answer',
    scenario(async ({ settled, beforeReservation, api, clock }) => {
      const manager = await settled(2, '1');
      await beforeReservation('v2');
      api.fault('delete', 'pods', { kind: 'hold' });
      await clock.advance(10);
      let ended = false;
      const resigned = manager.resign().then(() => (ended = true));
      await clock.advance(400);
      assert.equal(ended, false, 'an answer that is about to come is waited for');
      await clock.advance(200);
      assert.equal(ended, true);
      await resigned;
    }),
  );

  it(
    'goes over with the slots: what was reserved is carried out under the name of the new leader',
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
    'goes over with the slots: what is not wanted any more is fenced before its slot is free',
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
    'is taken from one who still believes to lead, in the middle of a wave',
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
    'shared by two keeps the budget, and each pod is deleted once',
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
    'tells nothing twice, and writes nothing, over a restart at rest',
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
      assert.deepEqual(second.told, []);
      assert.equal(api.sent('replace', 'daemonrollouts').length, writes);
    }),
  );

  it(
    'that returns tells nothing of what others have told meanwhile',
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
      assert.deepEqual(requests(since), read, 'it reads what others wrote before anything else');
      assert.deepEqual(first.told, []);
      assert.ok(second.reasons().includes('RolloutCompleted'));
    }),
  );

  it(
    'begins once the watch has delivered what the DaemonSet was by then',
    scenario(async ({ settled, clock, cluster, api, deletes }) => {
      const leader = await settled(2, '1');
      await Promise.all([leader.resign(), clock.advance(1_000)]);
      cluster.setImage('v2');
      await clock.advance(2_000);
      api.silence('daemonsets');
      cluster.annotate(PAUSE);
      leader.lead();
      await clock.advance(5_000);
      assert.deepEqual(deletes(), [], 'nothing is known of the pause');
      api.silence('daemonsets', false);
      await clock.advance(5_000);
      assert.deepEqual(deletes(), []);
      cluster.annotate({ 'edgeset.io/paused': null });
      await clock.advance(20_000);
      assert.deepEqual(cluster.tags(), { n1: 'v2', n2: 'v2' });
    }),
  );
});
