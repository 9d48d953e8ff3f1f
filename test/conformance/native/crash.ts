import assert from 'node:assert/strict';
import type { DaemonRollout } from '../../../src/words/index.ts';
import {
  type Case,
  leaderElectionArgs,
  leaderElectionArgsFor,
  leaderOf,
  leadershipLossLogs,
  section,
} from '../kit/index.ts';

const shape = {
  annotations: { 'apps.openyurt.io/max-unavailable': '2' },
  podAnnotations: { 'sim.edgeset.io/start-ms': '700' },
};

const untilReserved = (c: Case) =>
  c.until(
    'a slot is reserved',
    async () =>
      (await c.calls()).some(({ resource, response }) => {
        const { status } = (response ?? {}) as DaemonRollout;
        return resource === 'daemonrollouts/status' && status?.reservations?.some(({ carriedOut }) => !carriedOut);
      }),
    60_000,
    10,
  );

/** Every node is updated, and none was acted on twice. */
const untilDone = async (c: Case): Promise<void> => {
  await c.untilComplete('app:v2');
  const acted = await c.updatedNodes();
  assert.deepEqual(acted.toSorted(), c.nodes, 'one act a node');
};

export const crash = section('Crash and failover', (rule) => {
  rule(
    'a manager that is killed after reserving slots is replaced without harm',
    async (c) => {
      await c.startRollout('app:v2', shape);
      await untilReserved(c);
      c.manager.kill('SIGKILL');
      await c.startManager();
      await untilDone(c);
    },
    { nodes: 6 },
  );

  rule(
    'so is one that is killed right after its first update',
    async (c) => {
      await c.startRollout('app:v2', shape);
      await c.untilUpdates(1);
      c.manager.kill('SIGKILL');
      await c.startManager();
      await untilDone(c);
    },
    { nodes: 6 },
  );

  rule(
    'and one that is killed repeatedly',
    async (c) => {
      await c.startRollout('app:v2', shape);
      let manager = c.manager;
      for (const count of [1, 3, 4, 6, 7]) {
        await c.untilUpdates(count);
        manager.kill('SIGKILL');
        manager = await c.startManager();
      }
      await untilDone(c);
    },
    { nodes: 10 },
  );

  rule(
    'a rollout that no manager served is continued, even if the template changed meanwhile',
    async (c) => {
      await c.startRollout('app:bad--crash-loop', shape);
      await c.untilUpdates(2);
      c.manager.kill('SIGKILL');
      await c.setImage('app:v2');
      await c.startManager();
      await c.untilComplete('app:v2');
      assert.ok((await c.updates()).length <= 8);
    },
    { nodes: 6 },
  );

  rule(
    'a leader that is stopped past its lease and continues beside its successor exceeds no budget and updates no node twice',
    async (c) => {
      await c.rolledOut(shape);
      const first = await leaderOf(c);
      await c.startManager({ args: leaderElectionArgs });
      await c.setImage('app:v2');
      await c.untilUpdates(3);
      c.manager.pause();
      const before = (await c.updates()).length;
      await c.until('the other leads', async () => (await leaderOf(c)) !== first);
      await c.untilUpdates(Math.min(before + 2, 10));
      c.manager.resume();
      await untilDone(c);
      assert.notEqual(await leaderOf(c), first);
    },
    {
      nodes: 10,
      manager: leaderElectionArgs,
      expected: leadershipLossLogs,
    },
  );

  rule(
    'a leader that is asked to stop hands over immediately',
    async (c) => {
      await c.rolledOut(shape);
      const first = await leaderOf(c);
      await c.startManager({ args: leaderElectionArgsFor(15) });
      await c.setImage('app:v2');
      await c.untilUpdates(2);
      const asked = Date.now();
      await c.manager.stop();
      assert.equal(await c.manager.exit, 0);
      await c.until('the other leads', async () => ![first, ''].includes(await leaderOf(c)));
      const took = Date.now() - asked;
      assert.ok(took < 12_000, `it took ${took} ms, nearly as long as the lease`);
      await untilDone(c);
    },
    { nodes: 8, manager: leaderElectionArgsFor(15) },
  );

  rule(
    'a DaemonSet that is recreated under the same name starts over',
    async (c) => {
      await c.startRollout('app:v2--crash-loop', shape);
      await c.untilCondition('Halted');
      const old = (await c.rollout())?.metadata.uid;
      await c.kubectl(['delete', 'daemonset', 'app', '--wait=true']);
      await c.create({ ...shape, image: 'app:v3' });
      await c.untilComplete('app:v3');
      assert.notEqual((await c.rollout())?.metadata.uid, old);
      await c.bringTo('app:v4');
    },
    { expected: /StaleRollout|about to be collected/ },
  );
});
