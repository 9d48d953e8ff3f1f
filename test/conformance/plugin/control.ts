import assert from 'node:assert/strict';
import { budgetKey, section } from '../kit/index.ts';
import { edgeset } from './run.ts';

interface Planned {
  budget: number;
  actions: { type: string; node: string }[];
}

export const control = section('plan, wait, pause and resume', (rule) => {
  rule(
    'plan predicts what a manager then does, and writes nothing',
    async (c) => {
      await c.create({ annotations: { [budgetKey]: '2', 'edgeset.io/first-wave': '100%' } });
      await c.untilRunning('app:v1');
      await c.setImage('app:v2');
      const plan = async (...args: string[]): Promise<Planned> =>
        JSON.parse((await edgeset(c, 'plan', 'app', '-o', 'json', ...args)).stdout) as Planned;
      await c.until(
        'no node has to settle any more',
        async () => (await plan('--max-unavailable', '100%')).actions.length === 4,
      );
      const before = [await c.daemonSet(), await c.pods()];
      const { budget, actions } = await plan();
      assert.equal(budget, 2);
      assert.deepEqual(
        actions.map(({ type }) => type),
        ['reserve', 'reserve'],
      );
      assert.equal((await plan('--max-unavailable', '75%')).actions.length, 3);
      assert.equal((await plan('--partition', '3')).actions.length, 1);
      assert.deepEqual((await plan('--node-selector', 'ring=first')).actions, []);
      assert.match(
        (await edgeset(c, 'plan', 'app')).stdout,
        /^Nothing is written.*\n[^]*Note: No manager has recorded/,
      );
      assert.deepEqual([await c.daemonSet(), await c.pods()], before);
      assert.equal(await c.rollout(), undefined);

      await c.startManager();
      await c.untilUpdates(2);
      const expected = actions.map(({ node }) => node).toSorted();
      assert.deepEqual((await c.updatedNodes()).slice(0, 2).toSorted(), expected);
      assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '90s')).code, 0);
      assert.match((await edgeset(c, 'plan', 'app')).stdout, /Nothing is left to do\./);
    },
    { nodes: 4, manager: 'none' },
  );

  rule('wait right after an edit waits for that edit, and respects its timeout', async (c) => {
    await c.startRollout('app:v2', { podAnnotations: { 'sim.edgeset.io/start-ms': '1500' } });
    const late = await edgeset(c, 'wait', 'app', '--timeout', '1s');
    assert.deepEqual([late.code, late.stdout], [1, '']);
    assert.match(late.stderr, /^kubectl edgeset: not complete within 1s: .+/m);
    const { code, stdout } = await edgeset(c, 'wait', 'ds/app', '--timeout', '60s');
    assert.equal(code, 0);
    assert.match(stdout, /^3 of 3 online nodes run app-/);
    assert.deepEqual(await c.running('app:v2'), c.nodes);
  });

  rule(
    'status says no more than is known: nobody serves the DaemonSet, and later its manager is stopped',
    async (c) => {
      await c.create();
      await c.untilRunning('app:v1');
      const unserved = await edgeset(c, 'status', 'ds/app');
      assert.deepEqual([unserved.code, unserved.stdout.includes('Not served')], [0, true]);
      assert.match(unserved.stderr, /app opted in, but no manager has recorded a rollout/);
      const manager = await c.startManager();
      await c.untilCondition('Complete');
      assert.match((await edgeset(c, 'status', 'app')).stdout, /^app +Complete +\S+ +2\/2 /m);
      await c.annotate({ 'edgeset.io/paused': 'true' });
      await c.untilCondition('Paused');
      assert.match((await edgeset(c, 'status', 'app')).stdout, /^app +Complete, paused +/m);
      await manager.stop();
      await c.setImage('app:v2');
      const stopped = await edgeset(c, 'status', 'app');
      assert.match(stopped.stdout, /^app +Waiting for the manager +- +- /m);
      assert.match(stopped.stderr, /^Note: the manager has not observed the latest change of \S+\/app: /);
    },
    { nodes: 2, manager: 'none' },
  );

  rule('wait reaches a coverage, and waits for offline nodes if it is told to', async (c) => {
    const [away = '', ...others] = c.nodes;
    await c.rolledOut();
    await c.cluster.offline([away]);
    await c.setImage('app:v2');
    const most = await edgeset(c, 'wait', 'app', '--coverage', '60%', '--include-offline', '--timeout', '60s');
    assert.equal(most.code, 0, most.stderr);
    assert.match(most.stdout, /^2 of 3 nodes have app-\S+ \(2 are enough\)\.\n$/);
    assert.deepEqual(await c.running('app:v2'), others);
    // A busy API server may need longer than a second for its first response.
    const late = await edgeset(c, 'wait', 'app', '--include-offline', '--timeout', '5s');
    assert.deepEqual([late.code, late.stdout], [1, '']);
    assert.match(late.stderr, new RegExp(`2 of 3 nodes have .* Offline, .*: ${away} \\(\\d+s\\)`));
    assert.match(
      (await edgeset(c, 'explain', 'app', '--node', away)).stdout,
      /has been offline for \d+ s \(last seen at 20\S+Z\)/,
    );
    await c.cluster.online([away]);
    const all = await edgeset(c, 'wait', 'app', '--include-offline', '--timeout', '60s');
    assert.deepEqual([all.code, all.stdout.startsWith('3 of 3 nodes have app-')], [0, true]);
  });

  rule('wait ends when only nodes outside of the partition are left, and says so', async (c) => {
    await c.startRollout('app:v2', { annotations: { 'edgeset.io/partition': '2' } });
    const { code, stdout } = await edgeset(c, 'wait', 'app', '--timeout', '90s');
    assert.equal(code, 0);
    assert.match(stdout, /^1 of 3 online nodes run .* left on the old revision/);
    assert.deepEqual(await c.running('app:v2'), c.nodes.slice(2));
  });

  rule('wait exits with 3 at a halt; after resume, wait reports completion', async (c) => {
    await c.rolledOut();
    await c.cluster.behave(c.nodes, { behaviour: 'crash-loop' });
    await c.setImage('app:v2');
    const halted = await edgeset(c, 'wait', 'app', '--timeout', '90s');
    assert.equal(halted.code, 3);
    assert.match(halted.stderr, /The rollout is halted: the target revision failed on/);
    assert.equal(halted.stdout, '');
    await c.cluster.behave(c.nodes, undefined);
    const resumed = await edgeset(c, 'resume', 'app');
    assert.match(resumed.stdout, /^daemonset\.apps\/app resumed at revision \w+\n$/);
    assert.deepEqual([(await edgeset(c, 'wait', 'app', '--timeout', '60s')).code], [0]);
    assert.deepEqual(await c.running('app:v2'), c.nodes);
  });

  rule('resume continues with a revision that was rolled back before', async (c) => {
    await c.startRollout('app:v2--crash-loop', { annotations: { 'edgeset.io/on-failure': 'rollback' } });
    await c.until('it is rolled back', async () => {
      const { metadata } = await c.daemonSet();
      return metadata?.annotations?.['edgeset.io/rolled-back-from'];
    });
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '90s')).code, 0);
    assert.deepEqual(await c.running('app:v1'), c.nodes);
    // The cause of the failure is fixed.
    await c.cluster.behave(c.nodes, { behaviour: 'ready' });
    await c.setImage('app:v2--crash-loop');
    const again = await edgeset(c, 'wait', 'app', '--timeout', '90s');
    assert.equal(again.code, 3);
    assert.match(again.stderr, /was rolled back before/);
    assert.match((await edgeset(c, 'explain', 'app')).stdout, /rolled back before.*resume/);
    assert.match((await edgeset(c, 'resume', 'app')).stdout, /resumed at revision/);
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '90s')).code, 0);
    assert.deepEqual(await c.running('app:v2--crash-loop'), c.nodes);
  });

  rule('pause stops, resume continues, and a dry run changes nothing', async (c) => {
    const paused = async (): Promise<string | undefined> =>
      (await c.daemonSet()).metadata?.annotations?.['edgeset.io/paused'];
    await c.rolledOut();
    assert.match((await edgeset(c, 'resume', 'app')).stdout, /is neither paused nor halted/);
    const dry = await edgeset(c, 'pause', 'app', '--dry-run=server');
    assert.equal(dry.stdout, 'daemonset.apps/app paused (server dry run)\n');
    assert.equal(await paused(), undefined);
    assert.equal((await edgeset(c, 'pause', 'ds/app')).stdout, 'daemonset.apps/app paused\n');
    assert.equal(await paused(), 'true');
    await c.setImage('app:v2');
    await c.untilCondition('Paused');
    await c.expectNoUpdatesFor(2);
    assert.equal(
      (await edgeset(c, 'resume', 'app', '--dry-run=server')).stdout,
      'daemonset.apps/app unpaused (server dry run)\n',
    );
    assert.equal(await paused(), 'true');
    assert.equal((await edgeset(c, 'resume', 'app')).stdout, 'daemonset.apps/app unpaused\n');
    assert.equal((await edgeset(c, 'wait', 'app', '--timeout', '90s')).code, 0);
    assert.deepEqual(await c.running('app:v2'), c.nodes);
  });

  rule(
    'wait exits with 1 when the DaemonSet is deleted meanwhile',
    async (c) => {
      await c.startRollout('app:v2', { annotations: { 'edgeset.io/paused': 'true' } });
      await c.untilCondition('Paused');
      // However long the command takes to start, it finds the DaemonSet.
      await c.change({ metadata: { finalizers: ['example.com/hold'] } });
      const waiting = edgeset(c, 'wait', 'app', '--timeout', '90s');
      await c.api.remove(`/apis/apps/v1/namespaces/${c.namespace}/daemonsets/app`);
      const { code, stderr } = await waiting;
      await c.change({ metadata: { finalizers: null } });
      assert.equal(code, 1);
      assert.match(stderr, /DaemonSet .*\/app is being deleted/);
    },
    { nodes: 1 },
  );
});
