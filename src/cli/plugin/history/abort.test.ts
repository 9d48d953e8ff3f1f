import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonRolloutHistory } from '../../../words/index.ts';
import { createEmbeddedTestCluster } from '../testing/embedded-cluster.ts';

describe('abort', () => {
  const world = createEmbeddedTestCluster(Math.random);
  const { create, image } = world;
  const refused = async (name: string): Promise<string> => {
    const { code, stdout, stderr } = await world.run('abort', name);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^kubectl edgeset: .*\n$/, 'one sentence');
    return stderr;
  };

  it('goes back to the last complete revision, however many came after it', async () => {
    await create('web', ['app:1', 'app:2', 'app:3']);
    await world.status('web', { plan: 'rings', stages: [] }, 3, 1);
    const { stdout } = await world.run('abort', 'ds/web', '--dry-run');
    assert.match(stdout, /rolled back to revision 1 \(app:1\) \(dry run\)\n/);
    assert.equal(await image('web'), 'app:3');
    const { code, stderr } = await world.run('abort', 'ds/web');
    assert.equal(code, 0);
    assert.match(
      stderr,
      /^Note: Revision 1 was last complete: the stages of plan rings don't hold it back, and neither do its windows and freezes unless it sets windowsOnRollback\.$/m,
    );
    assert.equal(await image('web'), 'app:1');
  });

  it('marks a revision that was halted, as undo does', async () => {
    await create('bad', ['app:1', 'app:2']);
    await world.status('bad', { halted: { at: '2030-01-01T00:00:00Z', reason: 'Failures', nodes: ['node-1'] } }, 2, 1);
    const { stderr } = await world.run('abort', 'bad');
    assert.match(stderr, /^Note: The halt of revision 2 ends;/);
    assert.doesNotMatch(stderr, /plan/, 'it has none');
    const [, second] = await world.revisions('bad');
    assert.equal(
      (await world.get('bad')).metadata?.annotations?.['edgeset.io/rolled-back-from'],
      second?.metadata?.labels?.['controller-revision-hash'],
    );
  });

  it('prints the DaemonSet', async () => {
    await create('data', ['app:1', 'app:2']);
    await world.status('data', {}, 2, 1);
    assert.equal((await world.run('abort', 'data', '--dry-run=server', '-o', 'name')).stdout, 'daemonset.apps/data\n');
    assert.match((await world.run('abort', 'data', '-o', 'yaml')).stdout, /^apiVersion: apps\/v1\n[^]*image: app:1$/m);
  });

  it('is refused where there is nothing to go back to', async () => {
    await create('first', ['app:1', 'app:2']);
    assert.match(
      await refused('first'),
      /no rollout of DaemonSet default\/first has been complete yet: "kubectl edgeset undo ds\/first --to-revision" rolls back to one that you choose; the kept revisions are 1 \(app:1\); 2 \(app:2\), the current one/,
    );
    await create('done', ['app:1', 'app:2']);
    await world.status('done', {}, 2, 2);
    assert.match(
      await refused('done'),
      /the current revision 2 \(app:2\) of DaemonSet default\/done is the last complete one, so there is no rollout to abort: /,
    );
    await create('lost', ['app:1', 'app:2']);
    await world.status('lost', { lastComplete: { revision: 'lost-gone', hash: 'gone' } }, 2);
    assert.match(
      await refused('lost'),
      /the last complete revision of DaemonSet default\/lost, lost-gone, is no longer kept: "kubectl edgeset undo/,
    );
    await create('forgotten', ['app:1', 'app:2']);
    const entryOf = (number: number): Pick<DaemonRolloutHistory, 'rollout' | 'to' | 'nodes' | 'failures'> => ({
      rollout: number,
      to: { revision: `forgotten-${number}x`, hash: `${number}x`, number, images: [] },
      nodes: 1,
      failures: 0,
    });
    const history: DaemonRolloutHistory[] = [
      { ...entryOf(2), result: 'Halted' },
      { ...entryOf(1), result: 'Complete', finishedAt: '2030-01-01T00:00:00Z' },
    ];
    await world.status('forgotten', { history }, 2);
    assert.match(await refused('forgotten'), /the last complete revision of .*, forgotten-1x, is no longer kept: /);
    await create('wild', ['app:1', 'app:2']);
    await world.change('wild', { metadata: { annotations: null } }, 'merge');
    assert.match(await refused('wild'), /default\/wild .*apps\.openyurt\.io\/update-strategy/);
  });
});
