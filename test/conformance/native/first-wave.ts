import assert from 'node:assert/strict';
import { budgetKey, type Case, section } from '../kit/index.ts';
import { edgeset, succeeds, untilSaid } from '../plugin/run.ts';

const key = 'edgeset.io/first-wave';
const deadline = (seconds: number) => ({ 'edgeset.io/progress-deadline-seconds': String(seconds) });
const fleet = { nodes: 12, budget: 12 };

/** This many nodes try a version that never becomes ready, and no others. */
const onlyTriedBy = async (c: Case, count: number): Promise<void> => {
  await c.untilUpdates(count);
  await c.expectNoUpdatesFor(2);
  assert.equal((await c.updatedNodes()).length, count);
};

export const firstWave = section('First wave', (rule) => {
  rule(
    'a version that fails everywhere breaks three of twelve nodes, which plan, status and explain say',
    async (c) => {
      await c.rolledOut({ annotations: { [budgetKey]: '100%', ...deadline(15) } });
      await c.annotate({ 'edgeset.io/paused': 'true' });
      await c.setImage('app:v2--never-ready');
      await c.until('the target is known', async () => (await c.status()).nodes?.outdated === 12);
      assert.deepEqual((await c.status()).budget?.trial, { limit: 3, nodes: 0, proven: 0 });
      const [planned] = succeeds(await edgeset(c, 'plan', 'app', '--unpaused'));
      assert.match(planned, /^First wave: 3, .* breaks at most 3 nodes\.$/m);
      assert.equal(planned.match(/replace the pod on /g)?.length, 3);
      await c.annotate({ 'edgeset.io/paused': null });
      await c.untilUpdates(3);
      await c.until('they are on trial', async () => (await c.status()).budget?.trial?.nodes === 3);
      assert.match((await c.condition('Ready'))?.message ?? '', /once the target is available on one of the first 3/);
      const tried = new Set(await c.updatedNodes());
      const waiting = c.nodes.find((node) => !tried.has(node)) ?? '';
      await untilSaid(
        c,
        /waits until the target is available on more nodes: 3 are trying it/,
        'explain',
        'app',
        '--node',
        waiting,
      );
      await c.untilCondition('Halted');
      await c.expectNoUpdatesFor(1);
      assert.equal((await c.updates()).length, 3);
    },
    fleet,
  );

  for (const [value, size] of [
    ['100%', 12],
    ['50%', 6],
    ['2', 2],
  ] as const)
    rule(
      `${value} lets ${size} of 12 nodes try a version`,
      async (c) => {
        await c.rolledOut({ annotations: { [budgetKey]: '100%', [key]: value, ...deadline(10) } });
        await c.setImage('app:v2--never-ready');
        await onlyTriedBy(c, size);
        // Also where that is less than the failure threshold: nothing else could happen.
        await c.untilCondition('Halted');
        assert.equal((await c.updates()).length, size);
      },
      fleet,
    );

  rule(
    'a version that works takes all nodes, after the first of three is available',
    async (c) => {
      const startMs = 1_500;
      await c.rolledOut({
        annotations: { [budgetKey]: '100%' },
        podAnnotations: { 'sim.edgeset.io/start-ms': String(startMs) },
      });
      await c.setImage('app:v2');
      await c.untilRunning('app:v2');
      await c.untilCondition('Complete');
      const sent = (await c.updates()).map(({ receivedAt }) => receivedAt).toSorted((a, b) => a - b);
      assert.equal(sent.length, 12);
      assert.ok((sent[3] ?? 0) - (sent[0] ?? 0) >= startMs, 'the fourth waits for the first');
      assert.equal((await c.status()).budget?.trial, undefined);
    },
    fleet,
  );

  rule(
    'a new leader continues it where the old one was',
    async (c) => {
      await c.rolledOut({ annotations: { [budgetKey]: '100%', ...deadline(120) } });
      await c.setImage('app:v2--never-ready');
      await c.untilUpdates(3);
      c.manager.kill('SIGKILL');
      await c.startManager();
      await onlyTriedBy(c, 3);
      await c.setImage('app:v3');
      await c.untilRunning('app:v3');
      await c.untilCondition('Complete');
      const acted = await c.updatedNodes();
      assert.deepEqual(acted.slice(0, 3).toSorted(), acted.slice(3, 6).toSorted(), 'the broken ones come first');
      assert.deepEqual(acted.slice(3).toSorted(), c.nodes, 'one update a node');
    },
    fleet,
  );

  rule(
    'is what the manager is told for those that do not say',
    async (c) => {
      await c.startManager({ args: ['--first-wave=2'] });
      await c.create({ annotations: { [budgetKey]: '100%', ...deadline(120) } });
      await c.untilRunning('app:v1');
      await c.untilCondition('Complete');
      await c.setImage('app:v2--never-ready');
      await onlyTriedBy(c, 2);
      assert.equal((await c.status()).budget?.firstWave, '2');
      assert.match(succeeds(await edgeset(c, 'plan', 'app'))[0], /breaks at most 2 nodes\.$/m);
      await c.annotate({ [key]: '5' });
      await onlyTriedBy(c, 5);
    },
    { ...fleet, manager: 'none' },
  );
});
