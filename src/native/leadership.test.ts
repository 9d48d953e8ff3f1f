import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Scene, scene } from './testing/scene.ts';

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
      assert.deepEqual(made.slice(0, 4), [
        'get daemonrollouts',
        'get daemonsets',
        'replace daemonrollouts',
        'delete pods',
      ]);
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
      assert.deepEqual(made.slice(0, 4), [
        'get daemonrollouts',
        'get daemonsets',
        'replace daemonrollouts',
        'patch pods',
      ]);
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
      const read = ['get daemonrollouts', 'get daemonsets'];
      assert.deepEqual(requests(since), read, 'it reads what others wrote before anything else');
      assert.deepEqual(first.told, []);
      assert.ok(second.reasons().includes('RolloutCompleted'));
    }),
  );

  it(
    'begins once the watch has delivered what the DaemonSet was by then',
    scene(async ({ settled, clock, world, api, deletes }) => {
      const leader = await settled(2, '1');
      await Promise.all([leader.resign(), clock.advance(1_000)]);
      world.setImage('v2');
      await clock.advance(2_000);
      api.silence('daemonsets');
      world.annotate(PAUSE);
      leader.lead();
      await clock.advance(5_000);
      assert.deepEqual(deletes(), [], 'nothing is known of the pause');
      api.silence('daemonsets', false);
      await clock.advance(5_000);
      assert.deepEqual(deletes(), []);
      world.annotate({ 'edgeset.io/paused': null });
      await clock.advance(20_000);
      assert.deepEqual(world.tags(), { n1: 'v2', n2: 'v2' });
    }),
  );
});
