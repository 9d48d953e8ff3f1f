import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRollouts } from '../status/daemon-rollout.ts';
import { NAMESPACE } from '../testing/cluster.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';
import type { Delivery, Notifier } from './outbox.ts';

/** A notifier whose target answers when the test says so. */
const fakeNotifier = ({ status }: Pick<Scenario, 'status'>) => {
  const sent: (Delivery & { settle(): void; signal: AbortSignal })[] = [];
  const unwritten: string[] = [];
  const givenUp: string[] = [];
  let refusals = 0;
  const notifier: Notifier = {
    terms: () => ({ stragglersAfterMs: 3_600_000, targetsOf: () => ['bus'] }),
    send(delivery, settle, signal) {
      refusals -= 1;
      if (refusals >= 0) return undefined;
      const { kind } = delivery.notification;
      if (!status().notifications?.pending.some((each) => each.kind === kind)) unwritten.push(delivery.id);
      sent.push({ ...delivery, settle, signal });
      return () => void givenUp.push(delivery.notification.kind);
    },
  };
  return {
    notifier,
    sent,
    unwritten,
    givenUp,
    kinds: (): string[] => sent.map(({ notification }) => notification.kind),
    refuse: (times: number): void => void (refusals = times),
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
    'gives up what is pending when the DaemonSet is no longer managed',
    scenario(async (scene) => {
      const { givenUp, kinds } = await listening(scene);
      scene.cluster.setImage('v2');
      await scene.clock.advance(30_000);
      scene.cluster.annotate({ 'apps.openyurt.io/update-strategy': null });
      await scene.clock.advance(5_000);
      assert.deepEqual(givenUp, kinds());
    }),
  );

  it(
    'offers again what the notifier had no room for, in order',
    scenario(async (scene) => {
      const { kinds, refuse } = await listening(scene);
      refuse(Number.POSITIVE_INFINITY);
      scene.cluster.setImage('v2');
      await scene.clock.advance(30_000);
      assert.deepEqual(kinds(), []);
      refuse(1);
      await scene.clock.advance(21_000);
      assert.deepEqual(kinds(), ['started', 'completed', 'all-nodes-updated']);
    }),
  );

  it(
    'gives up the oldest once more is pending than the object lists',
    scenario(async (scene) => {
      const { sent, givenUp, manager } = await listening(scene);
      for (let version = 2; version <= 8; version += 1) {
        scene.cluster.setImage(`v${version}`);
        await scene.clock.advance(30_000);
      }
      assert.equal(sent.length, 21);
      assert.equal(scene.status().notifications?.pending.length, 16);
      assert.deepEqual(
        givenUp,
        sent.slice(0, 5).map(({ notification }) => notification.kind),
      );
      await manager.resign();
      const next = fakeNotifier(scene);
      scene.cluster.setImage('v9');
      await scene.clock.advance(2_000);
      scene.manage('m3', next.notifier).lead();
      await scene.clock.advance(30_000);
      assert.equal(next.sent.length, 19, 'the next leader knows of all that were pending');
      assert.equal(next.givenUp.length, 3);
    }),
  );
});
