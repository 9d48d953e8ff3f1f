import assert from 'node:assert/strict';
import { budgetKey, type Case, section } from '../kit/index.ts';

interface LogLine {
  msg: string;
  version?: string;
  namespace?: string;
}

/** What the log of a manager says about rollouts, in its order. */
const storyOf = async (manager: Case['manager']): Promise<LogLine[]> =>
  (await manager.log())
    .split('\n')
    .filter((line) => /"msg":"(rollout|half|the first wave|every node)/.test(line))
    .map((line) => JSON.parse(line) as LogLine);

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

  rule(
    'the log of the manager tells a rollout in a few lines, and that of the next manager repeats none',
    async (c) => {
      // The last node is reserved, and written, once half of them are updated.
      const annotations = { [budgetKey]: '50%' };
      await c.rolledOut({ annotations, podAnnotations: { 'sim.edgeset.io/start-ms': '700' } });
      await c.setImage('app:v2');
      await c.untilRunning('app:v2');
      const {
        firstWaveUpdatedAt = '',
        halfUpdatedAt = '',
        finishedAt = '',
      } = await c.until('it has completed', async () => {
        const status = await c.status();
        return status.finishedAt !== undefined && status.rollout === 2 ? status : undefined;
      });
      assert.ok(
        firstWaveUpdatedAt !== '' && firstWaveUpdatedAt <= halfUpdatedAt && halfUpdatedAt <= finishedAt,
        `${firstWaveUpdatedAt}, ${halfUpdatedAt}, ${finishedAt}`,
      );
      const first = c.manager;
      const story = await c.until('the log says so', async () => {
        const lines = await storyOf(first);
        return lines.some(({ msg }) => msg === 'every node is updated' || msg === 'rollout completed')
          ? lines
          : undefined;
      });
      assert.deepEqual(
        story.map(({ msg, version, namespace }) => `${msg}: ${version} in ${namespace === c.namespace}`),
        ['rollout started', 'the first wave is updated', 'half of the nodes are updated', 'rollout completed'].map(
          (msg) => `${msg}: app:v2 in true`,
        ),
      );
      first.kill('SIGKILL');
      const next = await c.startManager();
      await c.annotate({ 'edgeset.io/paused': 'true' });
      await c.untilCondition('Paused');
      assert.deepEqual(await storyOf(next), []);
    },
    { nodes: 12, budget: 6 },
  );
});
