import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeCluster } from './testing/fake-cluster.ts';

interface Planned {
  budget: number;
  complete: boolean;
  actions: { type: string; node?: string; pod?: string }[];
}

describe('plan', () => {
  const world = createFakeCluster();
  const run = async (...args: string[]): Promise<string> => {
    const stdout = await world.output('plan', 'web', ...args);
    assert.ok(
      world.api.requests.every(({ method }) => method === 'GET'),
      'nothing is written',
    );
    return stdout;
  };
  const planned = async (...args: string[]): Promise<Planned> =>
    JSON.parse(await run('-o', 'json', ...args)) as Planned;

  it('shows what the manager would do now, as text and as data', async () => {
    world.daemonSet({ 'apps.openyurt.io/max-unavailable': '2' });
    world.fleet('n1', 'n2', 'n3');
    world.pod('n3', 'old', false);
    world.node('n9', false);
    const text = await run();
    assert.match(text, /^Nothing is written: /);
    assert.match(text, /^Budget 2: 1 in use, 0 of them by updates in flight\.$/m);
    assert.match(text, /; halts the rollout at 3, or once failed nodes hold every slot\.$/m);
    assert.match(
      text,
      /^The manager would now:\n {2}replace the pod on n3: it is not available\n {2}replace the pod on n1: its revision is outdated\nOnline/m,
    );
    assert.match(text, /^Online and waiting for a slot: 1 more\. Offline and skipped until they return: 1\.$/m);
    const { budget, actions } = await planned();
    assert.equal(budget, 2);
    assert.deepEqual(actions, [
      { type: 'reserve', node: 'n3', pod: 'web-n3', because: 'down' },
      { type: 'reserve', node: 'n1', pod: 'web-n1', because: 'outdated' },
    ]);
  });

  it('says that nodes wait for proof of the revision where slots are free', async () => {
    world.daemonSet({ 'apps.openyurt.io/max-unavailable': '100%', 'edgeset.io/first-wave': '2' });
    world.fleet('n1', 'n2', 'n3', 'n4', 'n5', 'n6');
    assert.match(await run(), /^Online and waiting until the revision is available on more nodes: 4 more\.$/m);
    world.daemonSet({ 'apps.openyurt.io/max-unavailable': '2', 'edgeset.io/first-wave': '2' });
    world.fleet('n1', 'n2', 'n3', 'n4', 'n5', 'n6');
    assert.match(await run(), /^Online and waiting for a slot: 4 more\.$/m);
  });

  it('replaces the budget under whichever name it is set', async () => {
    for (const key of ['apps.openyurt.io/max-unavailable', 'edgeset.io/max-unavailable']) {
      world.daemonSet({ [key]: '1' });
      world.fleet('n1', 'n2', 'n3');
      assert.equal((await planned()).budget, 1);
      assert.equal((await planned('--max-unavailable', '3')).budget, 3, key);
    }
  });

  it('keeps an image request of the manager or an agent without an annotation', async () => {
    world.daemonSet();
    world.fleet('n1', 'n2', 'n3');
    world.pod('n2', 'old', true, { asks: 'controllerrevision: new' });
    assert.doesNotMatch(await run(), /cancel the request/);
  });

  it('uses another budget, partition or selector', async () => {
    world.daemonSet();
    world.fleet('n1', 'n2', 'n3', 'n4');
    world.node('n2', true, { labels: { ring: 'first' } });
    const nodes = async (...args: string[]): Promise<(string | undefined)[]> =>
      (await planned(...args)).actions.map(({ node }) => node);
    assert.deepEqual(await nodes(), ['n1']);
    assert.equal((await nodes('--max-unavailable', '75%')).length, 3);
    assert.deepEqual(await nodes('--max-unavailable=0'), []);
    const half = await nodes('--max-unavailable=9', '--partition=50%');
    assert.deepEqual(new Set(half), new Set(['n3', 'n4']));
    assert.deepEqual(await nodes('--max-unavailable=9', '--node-selector', 'ring=first'), ['n2']);
  });

  for (const [flag, value, remedy] of [
    ['--max-unavailable', 'many', 'set how many nodes may be down'],
    ['--max-unavailable', '120%', 'set a percentage from 0% to 100%'],
    ['--partition', '-1', 'set how many nodes to leave'],
    ['--node-selector', 'a in (', ''],
  ] as const)
    it(`rejects ${flag}=${value}`, async () => {
      world.daemonSet();
      world.fleet('n1');
      const { code, stdout, stderr } = await world.run(['plan', 'web', `${flag}=${value}`]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.ok(stderr.startsWith(`kubectl edgeset: ${flag}: "${value}" `), stderr);
      assert.ok(stderr.includes(remedy), stderr);
    });

  it('reports invalid values in the DaemonSet, which are not usage errors', async () => {
    world.daemonSet({ 'edgeset.io/partition': 'half' });
    world.fleet('n1');
    assert.match(
      await run(),
      /policy is not valid\. edgeset\.io\/partition "half" [^\n]+\n[^]*The manager would do nothing now/,
    );
    assert.equal((await planned('--partition', '0')).actions.length, 1, 'a flag overrides it');
  });

  it('shows what a resumed rollout would do', async () => {
    world.daemonSet({ 'edgeset.io/paused': 'true' });
    world.fleet('n1');
    assert.match(await run(), /^The rollout is paused\.[^]*^The manager would do nothing now\.$/m);
    assert.deepEqual((await planned('--unpaused')).actions, [
      { type: 'reserve', node: 'n1', pod: 'web-n1', because: 'outdated' },
    ]);
  });

  it('reports a complete rollout', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.pod('n1', 'new');
    world.rollout({
      daemonSetGeneration: 2,
      rollout: 1,
      target: { revision: 'web-new', hash: 'new', number: 2 },
      finishedAt: '2024-01-01T00:00:00Z',
      lastComplete: { revision: 'web-new', hash: 'new' },
    });
    assert.match(await run(), /^Nothing is left to do\.$/m);
  });

  it('shows the first twenty steps', async () => {
    world.daemonSet({ 'edgeset.io/first-wave': '100%' });
    world.fleet(...Array.from({ length: 25 }, (_, index) => `n${index + 10}`));
    assert.match(
      await run('--max-unavailable=100%'),
      /now:\n(?: {2}replace the pod on n\d\d: [^\n]+\n){20} {2}and 5 more: -o json/,
    );
  });

  it('says how many nodes a version that fails everywhere can break', async () => {
    const nodes = Array.from({ length: 25 }, (_, index) => `n${index + 10}`);
    const said = async (annotations: Record<string, string>, ...args: string[]): Promise<string | undefined> => {
      world.daemonSet(annotations);
      world.fleet(...nodes);
      return /breaks at most .*$/m.exec(await run(...args))?.[0];
    };
    assert.equal(await said({}, '--max-unavailable=100%'), 'breaks at most 3 nodes.');
    assert.equal(await said({}, '--max-unavailable=2'), 'breaks at most 2 nodes: the budget.');
    assert.equal(await said({ 'edgeset.io/first-wave': '30%' }, '--max-unavailable=50%'), 'breaks at most 8 nodes.');
    assert.equal(
      await said({ 'edgeset.io/first-wave': '100%' }, '--max-unavailable=50%'),
      'breaks at most 13 nodes: the budget.',
    );
  });

  it('names the owners that have been asked', async () => {
    world.otaFleet();
    const text = await run();
    assert.match(text, /^No budget: owners decide\.$/m);
    assert.match(
      text,
      /^The owner of each device decides when its pod is replaced\. Condition PodNeedUpgrade of the pods/m,
    );
    assert.match(
      text,
      /^The manager would now:\n {2}update the condition PodNeedUpgrade of 3 pods: they do not show the target$/m,
    );
    assert.match(text, /^Owners asked \(2\): n2, n3\.$/m);
    assert.doesNotMatch(text, /replace the pod|slot/);
  });
});
