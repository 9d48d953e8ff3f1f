import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resumeValue } from '../../commands/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import { createFakeCluster, SETS } from './testing/fake-cluster.ts';

const halted = (more: DaemonRolloutStatus = {}): DaemonRolloutStatus => ({
  daemonSetGeneration: 2,
  target: { revision: 'web-new', hash: 'new', number: 2 },
  halted: { at: '2030-01-01T00:00:00Z', reason: 'Failures', nodes: ['n1'] },
  ...more,
});

describe('pause and resume', () => {
  const world = createFakeCluster();
  /** The output, and the annotations that were sent. */
  const run = async (...args: string[]): Promise<[string, unknown]> => {
    const before = world.api.requests.length;
    const { code, stdout, stderr } = await world.run(args);
    assert.deepEqual([code, stderr], [0, '']);
    const patch = world.api.requests.slice(before).find(({ method }) => method === 'PATCH');
    const body = patch && (JSON.parse(patch.body) as { metadata: { uid: string; annotations: unknown } });
    if (patch) {
      assert.equal(patch.path, `${SETS}/web`);
      assert.equal(patch.query.get('fieldManager'), 'edgeset-cli', 'Flux would undo what a kubectl writes');
      assert.equal(patch.query.get('dryRun'), args.includes('--dry-run=server') ? 'All' : null);
      assert.equal(body?.metadata.uid, 'uid-web', 'not a DaemonSet that was recreated');
    }
    return [stdout.trim(), body?.metadata.annotations];
  };
  const PAUSED = 'edgeset.io/paused';
  const STRATEGY = 'apps.openyurt.io/update-strategy';

  for (const dryRun of ['--dry-run=none', '--dry-run=client', '--dry-run=server'])
    it(`prints the DaemonSet with -o and ${dryRun}`, async () => {
      world.daemonSet();
      const [json] = await run('pause', 'web', '-o', 'json', dryRun);
      const { kind, metadata } = JSON.parse(json) as { kind: string; metadata: { annotations: object } };
      assert.deepEqual([kind, metadata.annotations], ['DaemonSet', { [STRATEGY]: 'auto', [PAUSED]: 'true' }]);
      world.daemonSet({ [PAUSED]: 'true' });
      assert.doesNotMatch((await run('resume', 'web', '-o', 'yaml', dryRun))[0], /paused/);
      assert.equal((await run('resume', 'web', '-o=name', dryRun))[0], 'daemonset.apps/web');
    });

  it('prints the DaemonSet as it is if nothing changes', async () => {
    world.daemonSet();
    assert.match((await run('resume', 'web', '-o', 'yaml'))[0], /^apiVersion: apps\/v1\nkind: DaemonSet\n/);
  });

  it('pause writes the annotation once', async () => {
    world.daemonSet();
    assert.deepEqual(await run('pause', 'ds/web', '--dry-run'), ['daemonset.apps/web paused (dry run)', undefined]);
    assert.deepEqual(await run('pause', 'ds/web', '--dry-run=server'), [
      'daemonset.apps/web paused (server dry run)',
      { [PAUSED]: 'true' },
    ]);
    assert.deepEqual(await run('pause', 'web'), ['daemonset.apps/web paused', { [PAUSED]: 'true' }]);
    assert.deepEqual(await run('pause', 'web'), ['daemonset.apps/web is already paused', undefined]);
    assert.deepEqual(await run('resume', 'web'), ['daemonset.apps/web unpaused', { [PAUSED]: null }]);
    assert.deepEqual(await run('resume', 'web'), ['daemonset.apps/web is neither paused nor halted', undefined]);
  });

  it('false is no pause, and resume removes an invalid value', async () => {
    world.daemonSet({ [PAUSED]: 'False' });
    assert.deepEqual(await run('resume', 'web'), ['daemonset.apps/web is neither paused nor halted', undefined]);
    assert.deepEqual(await run('pause', 'web'), ['daemonset.apps/web paused', { [PAUSED]: 'true' }]);
    world.daemonSet({ [PAUSED]: 'yes' });
    assert.deepEqual(await run('resume', 'web'), ['daemonset.apps/web unpaused', { [PAUSED]: null }]);
  });

  it('resume writes a new value for each halt of a revision', async () => {
    world.daemonSet();
    world.rollout(halted());
    const consent = (value: string): Record<string, string> => ({ 'edgeset.io/resume': value });
    assert.deepEqual(await run('resume', 'web'), ['daemonset.apps/web resumed at revision new', consent('new')]);
    world.rollout(halted({ resumed: 'new' }));
    assert.deepEqual((await run('resume', 'web'))[1], consent('new/2'));
    world.rollout(halted({ resumed: 'new/9', halted: { at: '', reason: 'RolledBack', nodes: [] } }));
    assert.deepEqual((await run('resume', 'web'))[1], consent('new/10'));
    world.daemonSet({ [PAUSED]: 'true' });
    assert.deepEqual((await run('resume', 'web', '--dry-run=server'))[1], { [PAUSED]: null, ...consent('new/10') });
  });

  it('resume ignores the halt of another template or DaemonSet', async () => {
    world.daemonSet({}, { generation: 3 });
    world.rollout(halted());
    assert.equal((await run('resume', 'web'))[1], undefined, 'the template was changed since');
    world.daemonSet();
    world.rollout(halted(), { ownerReferences: [] });
    assert.equal((await run('resume', 'web'))[1], undefined, 'of an earlier DaemonSet');
  });

  it('resume mentions a budget of zero', async () => {
    world.daemonSet();
    const lastTransitionTime = '2030-01-01T00:00:00Z';
    const frozen = { type: 'Paused', status: 'True', reason: 'ZeroBudget', message: '', lastTransitionTime };
    world.rollout({ daemonSetGeneration: 2, conditions: [frozen] });
    assert.match((await run('resume', 'web'))[0], /neither paused nor halted; its .*max-unavailable is zero$/);
  });

  it('a resume value never repeats the previous one', () => {
    for (const last of [undefined, 'a', 'a/2', 'a/x', 'b', 'b/7']) assert.notEqual(resumeValue('a', last), last);
  });
});
