import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ADVANCED_SETS, createFakeCluster, SETS } from './testing/fake-cluster.ts';

const BUDGET = 'apps.openyurt.io/max-unavailable';
const OTHER_BUDGET = 'edgeset.io/max-unavailable';
const PARTITION = 'edgeset.io/partition';

describe('set', () => {
  const world = createFakeCluster();
  /** What was printed, and what was sent. */
  const run = async (...args: string[]) => {
    const before = world.api.requests.length;
    const { code, stdout, stderr } = await world.run(['set', ...args]);
    const patch = world.api.requests.slice(before).find(({ method }) => method === 'PATCH');
    const sent =
      patch && (JSON.parse(patch.body) as { metadata: { uid: string; annotations?: object }; spec?: object });
    return { code, stdout: stdout.trim(), stderr: stderr.trim(), patch, sent };
  };

  it('writes annotations of a native DaemonSet', async () => {
    world.daemonSet();
    const { stdout, stderr, patch, sent } = await run('ds/web', '--max-unavailable', '25%', '--partition=1');
    assert.equal(stdout, `daemonset.apps/web set: ${BUDGET} 10% -> 25%; ${PARTITION} 0 -> 1`);
    assert.equal(stderr, '');
    assert.equal(patch?.path, `${SETS}/web`);
    assert.equal(patch.query.get('fieldManager'), 'edgeset-cli');
    assert.equal(sent?.metadata.uid, 'uid-web', 'not a DaemonSet that was recreated');
    assert.deepEqual(sent?.metadata.annotations, { [BUDGET]: '25%', [PARTITION]: '1' });
    const again = await run('web', '--max-unavailable=25%');
    assert.deepEqual([again.stdout, again.patch], [`daemonset.apps/web already has ${BUDGET} 25%`, undefined]);
  });

  it('keeps the name under which the budget is set, so that no other tool sets it under a second one', async () => {
    world.daemonSet({ [OTHER_BUDGET]: '1' });
    assert.deepEqual((await run('web', '--max-unavailable=2')).sent?.metadata.annotations, { [OTHER_BUDGET]: '2' });
    world.daemonSet({ [BUDGET]: '1', [OTHER_BUDGET]: '1' });
    assert.deepEqual((await run('web', '--max-unavailable=2')).sent?.metadata.annotations, {
      [BUDGET]: '2',
      [OTHER_BUDGET]: '2',
    });
  });

  it('writes over a value that is invalid, even with the default', async () => {
    world.daemonSet({ [BUDGET]: 'many' });
    assert.deepEqual((await run('web', '--max-unavailable=10%')).sent?.metadata.annotations, { [BUDGET]: '10%' });
  });

  it('writes fields of an Advanced DaemonSet, numbers as numbers', async () => {
    world.advanced({ maxUnavailable: 1 });
    const { stdout, patch, sent } = await run('ads/web', '--max-unavailable=20%', '--partition=2');
    const field = 'spec.updateStrategy.rollingUpdate';
    assert.equal(
      stdout,
      `daemonset.apps.kruise.io/web set: ${field}.maxUnavailable 1 -> 20%; ${field}.partition 0 -> 2`,
    );
    assert.equal(patch?.path, `${ADVANCED_SETS}/web`);
    assert.deepEqual(sent?.spec, { updateStrategy: { rollingUpdate: { maxUnavailable: '20%', partition: 2 } } });
  });

  it('ends a surge, and says so', async () => {
    world.advanced({ maxSurge: 2 });
    const { stdout, stderr, sent } = await run('ads/web', '--max-unavailable=1');
    assert.match(stdout, /set: .*maxSurge 2 -> .*maxUnavailable 1$/);
    assert.match(stderr, /^Note: The surge ends: /);
    assert.deepEqual(sent?.spec, { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } });
  });

  for (const dryRun of ['client', 'server'])
    it(`only prints what would change with --dry-run=${dryRun}`, async () => {
      world.daemonSet();
      const { stdout, patch } = await run('web', '--partition=50%', `--dry-run=${dryRun}`);
      assert.equal(
        stdout.replace('server dry run', 'dry run'),
        `daemonset.apps/web set: ${PARTITION} 0 -> 50% (dry run)`,
      );
      assert.equal(patch?.query.get('dryRun') ?? undefined, dryRun === 'server' ? 'All' : undefined);
      const printed = await run('web', '--partition=50%', `--dry-run=${dryRun}`, '-o', 'json');
      assert.equal(
        (JSON.parse(printed.stdout) as { metadata: { annotations: Record<string, string> } }).metadata.annotations[
          PARTITION
        ],
        '50%',
      );
    });

  for (const [args, error] of [
    [['web'], /--max-unavailable: is missing, and so is --partition: give at least one of them$/],
    [
      ['web', '--max-unavailable=many'],
      /--max-unavailable: "many" is neither a whole number nor a percentage: set how/,
    ],
    [['web', '--partition=120%'], /--partition: "120%" is more than all nodes: set a percentage from 0% to 100%$/],
  ] as const)
    it(`refuses ${args.join(' ')}`, async () => {
      world.daemonSet();
      const { code, stderr, patch } = await run(...args);
      assert.deepEqual([code, patch], [2, undefined]);
      assert.match(stderr, error);
    });

  it('says what else the nodes wait for', async () => {
    world.daemonSet({ 'edgeset.io/paused': 'true' });
    assert.match(
      (await run('web', '--partition=1')).stderr,
      /^Note: The rollout stays paused: run "kubectl edgeset resume ds\/web/,
    );
    world.otaFleet();
    assert.match((await run('web', '--partition=1')).stderr, /^Note: The owner of each device decides/);
    world.advanced({}, 'OnDelete');
    assert.match((await run('ads/web', '--partition=1')).stderr, /^Note: The update strategy is OnDelete/);
  });

  it('refuses a DaemonSet that is not managed', async () => {
    world.api.put(SETS, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'other', namespace: 'shop' },
      spec: { selector: { matchLabels: { app: 'web' } }, template: {} },
    });
    const { code, stderr } = await run('other', '--partition=1');
    assert.equal(code, 1);
    assert.match(stderr, /shop\/other/);
  });
});
