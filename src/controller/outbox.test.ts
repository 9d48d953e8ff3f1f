import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRollouts } from './daemon-rollout.ts';
import type { Delivery, Notifier } from './outbox.ts';
import { NAMESPACE } from './testing/cluster.ts';
import { type Scenario, scenario } from './testing/scenario.ts';

/** A notifier whose target answers when the test says so. */
const fakeNotifier = ({ status }: Pick<Scenario, 'status'>) => {
  const sent: (Delivery & { settle(): void; signal: AbortSignal })[] = [];
  const unwritten: string[] = [];
  let room = true;
  const notifier: Notifier = {
    terms: () => ({ stragglersAfterMs: 3_600_000, targetsOf: () => ['bus'] }),
    send(delivery, settle, signal) {
      if (!room) return false;
      const { kind } = delivery.notification;
      if (!status().notifications?.pending.some((each) => each.kind === kind)) unwritten.push(delivery.id);
      sent.push({ ...delivery, settle, signal });
      return true;
    },
  };
  return {
    notifier,
    sent,
    unwritten,
    kinds: (): string[] => sent.map(({ notification }) => notification.kind),
    setRoom: (has: boolean): void => void (room = has),
  };
};

/** A complete rollout, led by a manager that notifies. */
const listening = async (scene: Scenario, nodes = 2) => {
  const first = await scene.settled(nodes, '1', { 'edgeset.io/progress-deadline-seconds': '10' });
  await first.resign();
  const fake = fakeNotifier(scene);
  const manager = scene.manage('m2', fake.notifier);
  manager.lead();
  await scene.clock.advance(2_000);
  assert.deepEqual(fake.sent, [], 'how it stands is no news');
  return { ...fake, manager };
};

describe('the outbox', () => {
  it(
    'sends each notification once, after it was written, and takes it out when the target has it',
    scenario(async (scene) => {
      const { sent, unwritten, kinds } = await listening(scene);
      scene.cluster.setImage('v2');
      await scene.clock.advance(30_000);
      assert.deepEqual(kinds(), ['started', 'completed', 'all-nodes-updated']);
      assert.deepEqual(unwritten, []);
      assert.deepEqual(
        scene.status().notifications?.pending.map(({ kind }) => kind),
        kinds(),
      );
      sent[1]?.settle();
      await scene.clock.advance(2_000);
      assert.deepEqual(
        scene.status().notifications?.pending.map(({ kind }) => kind),
        ['started', 'all-nodes-updated'],
      );
      for (const each of sent) each.settle();
      await scene.clock.advance(2_000);
      assert.deepEqual(scene.status().notifications?.pending, []);
      assert.equal(sent.length, 3);
    }),
  );

  it(
    'delays no rollout while its target is silent',
    scenario(async (scene) => {
      await listening(scene, 3);
      scene.cluster.setImage('v2');
      await scene.clock.advance(30_000);
      assert.equal(scene.condition('Complete')?.status, 'True');
    }),
  );

  it(
    'of the next leader sends what the last one did not deliver, with the same id, and nothing else',
    scenario(async (scene) => {
      const { sent, manager } = await listening(scene);
      scene.cluster.setImage('v2');
      await scene.clock.advance(30_000);
      sent[0]?.settle();
      await scene.clock.advance(2_000);
      await manager.resign();
      assert.ok(sent.every(({ signal }) => signal.aborted));
      const other = fakeNotifier(scene);
      scene.manage('m3', other.notifier).lead();
      await scene.clock.advance(2_000);
      assert.deepEqual(
        other.sent.map(({ id }) => id),
        sent.slice(1).map(({ id }) => id),
      );
    }),
  );

  it(
    'sends nothing twice when the response to the write of the status is lost',
    scenario(async (scene) => {
      const { sent, kinds } = await listening(scene);
      scene.api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: true });
      scene.cluster.setImage('v2');
      await scene.clock.advance(60_000);
      assert.deepEqual(kinds(), ['started', 'completed', 'all-nodes-updated']);
      assert.equal(new Set(sent.map(({ id }) => id)).size, 3);
    }),
  );

  it(
    'tells of a halt once, also when its object is deleted',
    scenario(async (scene) => {
      const { sent, kinds } = await listening(scene);
      scene.cluster.setImage('bad2');
      await scene.clock.advance(60_000);
      assert.deepEqual(kinds(), ['started', 'halted']);
      for (const each of sent) each.settle();
      await scene.clock.advance(2_000);
      scene.api.objects.remove(daemonRollouts, { namespace: NAMESPACE, name: 'app' });
      await scene.clock.advance(5_000);
      assert.equal(scene.condition('Halted')?.status, 'True');
      assert.equal(sent.length, 2);
    }),
  );

  it(
    'offers again what the notifier had no room for',
    scenario(async (scene) => {
      const { kinds, setRoom } = await listening(scene);
      setRoom(false);
      scene.cluster.setImage('v2');
      await scene.clock.advance(30_000);
      assert.deepEqual(kinds(), []);
      setRoom(true);
      await scene.clock.advance(11_000);
      assert.deepEqual(kinds(), ['started', 'completed', 'all-nodes-updated']);
    }),
  );
});
