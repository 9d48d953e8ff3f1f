import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';

export const events = section('Events', (rule) => {
  rule(
    'report each step of a rollout once: started, number of offline nodes skipped, each delete, completed',
    async (c) => {
      await c.rolledOut();
      assert.deepEqual(await c.events(), [], 'nothing was rolled out yet');
      await c.cluster.offline(c.nodes.slice(2));
      await c.setImage('app:v2');
      await c.untilRunning('app:v2', c.nodes.slice(0, 2));
      await c.untilEvent('RolloutCompleted');
      const told = (await c.events()).map(({ reason }) => reason ?? '').toSorted((a, b) => a.localeCompare(b));
      assert.deepEqual(told, [
        'OfflineNodesSkipped',
        'RolloutCompleted',
        'RolloutStarted',
        'SuccessfulDelete',
        'SuccessfulDelete',
      ]);
      assert.match((await c.events('OfflineNodesSkipped'))[0]?.note ?? '', /\b2\b/);
      const deleted = (await c.updates()).map(({ name }) => name);
      for (const event of await c.events('SuccessfulDelete'))
        assert.ok(
          deleted.some((name) => event.note?.includes(name)),
          `told of ${event.note}`,
        );

      c.manager.kill('SIGKILL');
      await c.startManager();
      await c.expectNoUpdatesFor(3);
      assert.equal((await c.events()).length, 5, 'a restart repeats nothing');
    },
    { nodes: 4 },
  );

  rule(
    'kubectl describe lists them in the order in which they happened, with their ages',
    async (c) => {
      await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '2000' } });
      await c.untilEvent('RolloutCompleted');
      const described = await c.kubectl(['describe', 'daemonset', 'app']);
      const ours = [...described.matchAll(/^ +(?:Normal|Warning) +(\w+) +(\S+) .*edgeset\.io\/manager/gm)];
      assert.deepEqual(
        ours.map(([, reason]) => reason),
        ['RolloutStarted', 'SuccessfulDelete', 'RolloutCompleted'],
        described,
      );
      for (const [, , age] of ours) assert.match(age ?? '', /^\d+[sm]/);
    },
    { nodes: 1 },
  );
});
