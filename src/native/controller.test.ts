import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRollouts, daemonSets, nodes, pods } from './resources.ts';
import { type Scene, scene } from './testing/scene.ts';
import { NAMESPACE } from './testing/world.ts';

const app = { namespace: NAMESPACE, name: 'app' };
const OPT_OUT = { 'apps.openyurt.io/update-strategy': null };
const OPT_IN = { 'apps.openyurt.io/update-strategy': 'auto' };
const PAUSE = { 'edgeset.io/paused': 'true' };

/** A leader that has reserved n1's slot and gone away with the delete on its way; `release` lets it arrive. */
const abandoned = async ({ settled, beforeWave, api, clock, open }: Scene) => {
  const first = await settled(2, '1');
  await beforeWave('v2');
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
    scene(async ({ settled, beforeWave, api, clock, deletes, open, requests }) => {
      const manager = await settled(2, '1');
      await beforeWave('v2');
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
    scene(async ({ settled, beforeWave, api, clock }) => {
      const manager = await settled(2, '1');
      await beforeWave('v2');
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
    scene(async (parts) => {
      const { manage, clock, world, api, deletes, mostDown } = parts;
      const { release } = await abandoned(parts);
      const since = clock.now();
      manage('m2').lead();
      await clock.advance(100);
      const made = parts.requests(since);
      assert.deepEqual(made.slice(0, 3), ['get daemonrollouts', 'replace daemonrollouts', 'delete pods']);
      assert.equal(world.rollout()?.status?.leader, 'm2');
      const [theirs, ours] = deletes();
      assert.deepEqual(ours?.body, theirs?.body);
      await clock.advance(500);
      release();
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(mostDown(), 1);
      assert.equal(api.sent('patch', 'pods').length, 0);
    }),
  );

  it(
    'goes over with the slots: what is not wanted any more is fenced before its slot is free',
    scene(async (parts) => {
      const { manage, clock, world, api, open, mostDown } = parts;
      const { release } = await abandoned(parts);
      world.annotate(PAUSE);
      const since = clock.now();
      manage('m2').lead();
      await clock.advance(5_000);
      assert.equal(api.sent('patch', 'pods').length, 1);
      const made = parts.requests(since);
      assert.deepEqual(made.slice(0, 3), ['get daemonrollouts', 'replace daemonrollouts', 'patch pods']);
      assert.deepEqual(open(), []);
      release();
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v1', n2: 'v1' });
      assert.equal(mostDown(), 0);
    }),
  );

  it(
    'is taken from one who still believes to lead, in the middle of a wave',
    scene(async (parts) => {
      const { manage, clock, world, api, mostDown } = parts;
      const first = await parts.settled(2, '1');
      await parts.beforeWave('v2');
      const answer = api.fault('replace', 'daemonrollouts', { kind: 'hold' });
      await clock.advance(10);
      answer.release();
      const second = manage('m2');
      second.lead();
      await clock.advance(40_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(mostDown(), 1);
      await Promise.all([first.resign(), second.resign(), clock.advance(1_000)]);
    }),
  );

  it(
    'shared by two keeps the budget, and each pod is deleted once',
    scene(async ({ settled, manage, clock, world, api, mostDown }) => {
      await settled(6, '2');
      manage('m2').lead();
      world.setImage('v2');
      await clock.advance(240_000);
      assert.deepEqual([...new Set(Object.values(world.tags()))], ['v2']);
      assert.ok(mostDown() <= 2, `${mostDown()} down at once`);
      const terminated = api.objects.history.filter(
        ({ plural, type, object }) => plural === 'pods' && type === 'DELETED' && object.metadata?.uid,
      );
      assert.equal(terminated.length, 6);
    }),
  );

  it(
    'tells nothing twice, and writes nothing, over a restart at rest',
    scene(async ({ settled, manage, clock, world, api }) => {
      const first = await settled(2, '1');
      world.setImage('v2');
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
    scene(async ({ settled, manage, clock, world, requests }) => {
      const first = await settled(2, '1');
      await Promise.all([first.resign(), clock.advance(1_000)]);
      const second = manage('m2');
      second.lead();
      world.setImage('v2');
      await clock.advance(20_000);
      await Promise.all([second.resign(), clock.advance(1_000)]);
      const since = clock.now();
      first.lead();
      await clock.advance(20_000);
      assert.deepEqual(requests(since), ['get daemonrollouts'], 'it reads what others wrote before anything else');
      assert.deepEqual(first.told, []);
      assert.ok(second.reasons().includes('RolloutCompleted'));
    }),
  );
});

describe('a DaemonSet that opts out', () => {
  it(
    'is left alone at once, and its rollout object says that nobody looks after it',
    scene(async ({ settled, clock, world, api, deletes, status, condition, requests, mostDown }) => {
      await settled(3, '1');
      world.setImage('v2');
      await clock.advance(500);
      assert.equal(deletes().length, 1);
      const { reservations, lastComplete, rollout } = status();
      assert.equal(reservations?.length, 1);
      world.annotate(OPT_OUT);
      await clock.advance(1_000);
      assert.equal(status().summary, 'Not managed');
      assert.equal(condition('Ready')?.status, 'Unknown');
      assert.equal(condition('Ready')?.reason, 'NotManaged');
      assert.equal(condition('Reconciling')?.status, 'False');
      assert.equal(status().nodes, undefined);
      assert.deepEqual([status().lastComplete, status().rollout], [lastComplete, rollout]);
      assert.equal(status().reservations?.length, 1, 'the slot is known to whoever comes next');
      const since = clock.now();
      await clock.advance(600_000);
      assert.deepEqual(requests(since), [], 'nothing else is written or asked');
      assert.equal(deletes().length, 1);
      world.annotate(OPT_IN);
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
      assert.equal(mostDown(), 1);
      assert.equal(condition('Complete')?.status, 'True');
      assert.equal(api.sent('delete', 'pods').length, 3);
    }),
  );

  it(
    'gives up what is in the air: it is not sent again, and its slot holds until its fate is known',
    scene(async ({ settled, beforeWave, clock, world, api, deletes, open, mostDown }) => {
      await settled(2, '1');
      await beforeWave('v2');
      const held = api.fault('delete', 'pods', { kind: 'hold' });
      await clock.advance(10);
      assert.equal(held.abandoned, 0);
      world.annotate(OPT_OUT);
      await clock.advance(10);
      assert.equal(held.abandoned, 1, 'nobody waits for an answer, and what waits to be sent is not');
      await clock.advance(30_000);
      assert.equal(deletes().length, 1);
      assert.deepEqual(open(), ['n1']);
      world.annotate({ ...OPT_IN, 'edgeset.io/partition': '0' });
      await clock.advance(5);
      held.release();
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2' });
      assert.equal(mostDown(), 1);
      assert.deepEqual(open(), []);
    }),
  );

  it(
    'while nobody runs is found at the start',
    scene(async ({ settled, manage, clock, world, status, requests }) => {
      const first = await settled(2, '1');
      await first.stop();
      world.annotate(OPT_OUT);
      manage('m2').lead();
      await clock.advance(1_000);
      assert.equal(status().summary, 'Not managed');
      const since = clock.now();
      await clock.advance(600_000);
      assert.deepEqual(requests(since), []);
    }),
  );

  it(
    'is not written about by a process that does not lead',
    scene(async ({ settled, manage, clock, world, status }) => {
      const first = await settled(2, '1');
      await first.stop();
      manage('m2');
      world.annotate(OPT_OUT);
      await clock.advance(60_000);
      assert.notEqual(status().summary, 'Not managed');
    }),
  );

  it(
    'is told again when the write about it fails',
    scene(async ({ settled, clock, world, api, status }) => {
      await settled(2, '1');
      api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'ServiceUnavailable', status: 503 }, { times: 3 });
      world.annotate(OPT_OUT);
      await clock.advance(10_000);
      assert.equal(status().summary, 'Not managed');
    }),
  );

  it(
    'by being deleted has nothing written any more',
    scene(async ({ settled, clock, api, status }) => {
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

describe('a view that is not fresh', () => {
  for (const plural of ['nodes', 'daemonsets'])
    it(
      `of ${plural} begins no act, and ends by itself`,
      scene(async ({ settled, clock, world, api, deletes, condition }) => {
        const manager = await settled(3, '1', { 'edgeset.io/node-selector': 'go=yes' });
        world.setImage('v2');
        await clock.advance(5_000);
        api.silence(plural);
        await clock.advance(150_000);
        // Pods are still heard of: one that restarts wakes us.
        const name = world.podOn('n1')?.metadata?.name ?? '';
        world.setPodReady(name, false);
        await clock.advance(2_000);
        assert.equal(condition('Ready')?.reason, 'NotSynced');
        if (plural === 'daemonsets') for (const node of ['n1', 'n2']) label(api, node);
        await clock.advance(30_000);
        assert.equal(deletes().length, 0);
        assert.equal(manager.lines.filter((line) => line.includes('has not been heard of')).length, 1);
        if (plural === 'nodes') for (const node of ['n1', 'n2']) label(api, node);
        api.silence(plural, false);
        await clock.advance(90_000);
        assert.equal(world.tags().n1, 'v2');
        assert.equal(world.tags().n2, 'v2');
      }),
    );

  it(
    'is suspected when the clock went back, until the API server is heard of again',
    scene(async ({ settled, clock, world, api, deletes }) => {
      await settled(2, '1');
      api.silence('nodes');
      clock.jump(-600_000);
      world.setImage('v2');
      await clock.advance(300_000);
      assert.equal(deletes().length, 0);
      api.silence('nodes', false);
      await clock.advance(90_000);
      assert.equal(deletes().length, 2);
    }),
  );

  it(
    'of pods begins no more acts than the budget has slots',
    scene(async ({ settled, clock, world, api, deletes }) => {
      await settled(4, '1');
      api.silence('pods');
      world.setImage('v2');
      await clock.advance(300_000);
      assert.equal(deletes().length, 1);
      api.silence('pods', false);
      await clock.advance(30_000);
      assert.equal(deletes().length, 4);
    }),
  );

  it(
    'is not thought of a cluster in which nothing happens',
    scene(async ({ settled, clock, world, deletes, manage }) => {
      await settled(2, '1');
      manage('m2');
      await clock.advance(3_600_000);
      world.setImage('v2');
      await clock.advance(100);
      assert.equal(deletes().length, 1);
    }),
  );
});

const label = (api: Scene['api'], name: string): void =>
  void api.objects.patch(nodes, { name }, { metadata: { labels: { go: 'yes' } } });

describe('a clock that jumps', () => {
  for (const minutes of [-10, 10])
    it(
      `by ${minutes} minutes in the middle of a rollout stops nothing for long`,
      scene(async ({ settled, clock, world, deletes, mostDown, condition }) => {
        await settled(3, '1');
        world.setImage('v2');
        await clock.advance(500);
        assert.equal(deletes().length, 1);
        clock.jump(minutes * 60_000);
        await clock.advance(90_000);
        assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2', n3: 'v2' });
        assert.equal(mostDown(), 1);
        assert.equal(condition('Complete')?.status, 'True');
      }),
    );
});

describe('the cost', () => {
  it(
    'of a heartbeat is no pass over any DaemonSet',
    scene(async ({ settled, clock, api }) => {
      let passes = 0;
      const manager = await settled(2, '1');
      await Promise.all([manager.resign(), clock.advance(1_000)]);
      manager.onPass(() => (passes += 1));
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
    'of a DaemonSet that did not opt in is nothing',
    scene(async ({ settled, clock, world, requests }) => {
      const manager = await settled(1, '1');
      const since = clock.now();
      world.createSet({}, { name: 'other', optIn: false });
      await clock.advance(30_000);
      assert.deepEqual(requests(since), []);
      assert.equal([...manager.controller.snapshot()].length, 1);
    }),
  );
});

it(
  'serves a DaemonSet that comes back under its old name as a new one',
  scene(async ({ settled, clock, world, api, status, deletes, mostDown }) => {
    const manager = await settled(2, '1');
    world.setImage('v2');
    await clock.advance(500);
    api.objects.remove(daemonSets, app);
    for (const pod of api.objects.all(pods))
      api.objects.remove(pods, { namespace: NAMESPACE, name: pod.metadata?.name ?? '' });
    api.objects.remove(daemonRollouts, app);
    world.createSet({ 'apps.openyurt.io/max-unavailable': '1' }, { tag: 'v7' });
    await clock.advance(30_000);
    assert.equal(status().target?.hash, 'v7');
    assert.equal(status().rollout, 1);
    assert.deepEqual(world.tags(), { n1: 'v7', n2: 'v7' });
    assert.ok(deletes().length <= 2 && mostDown() <= 2);
    assert.equal([...manager.controller.snapshot()].length, 1);
  }),
);

describe('a cluster at rest', () => {
  for (const last of ['nodes', 'daemonsets', 'controllerrevisions', 'pods'])
    it(
      `is looked at as soon as the cache of ${last}, the last one, is filled`,
      scene(async ({ world, api, clock, manage, status }) => {
        world.addNode('n1');
        world.createSet();
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
    scene(async ({ world, api, clock, manage, status }) => {
      world.addNode('n1');
      world.createSet();
      await clock.advance(10_000);
      api.breakWatch('daemonrollouts');
      manage().lead();
      await clock.advance(10_000);
      assert.equal(status().summary, 'Complete');
    }),
  );
});
