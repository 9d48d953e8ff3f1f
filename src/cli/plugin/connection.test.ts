import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeCluster, observed } from './testing/fake-cluster.ts';

describe('flags of every command', () => {
  const world = createFakeCluster();

  it('may stand before the command', async () => {
    world.daemonSet();
    world.rollout(observed);
    assert.match(await world.output('-n', 'shop', '-o', 'name', 'status', 'web'), /^daemonrollout\.edgeset\.io\/web$/m);
    assert.match((await world.run(['--namespace=other', 'status'])).stderr, /^No rollouts in namespace other\.$/m);
    assert.match(await world.output('-o=name', 'status', '--all-namespaces=true', '--watch=false'), /\/web$/m);
  });

  it('reach a server without a kubeconfig', async () => {
    world.daemonSet();
    world.rollout(observed);
    const flags = ['-s', world.api.url, '--token', 't0ken', '-n', 'shop'];
    const { code, stdout, stderr } = await world.run([...flags, 'status', 'web'], {
      environment: { HOME: '/nonexistent' },
    });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^web /m);
  });

  it('limit the time of each request', { timeout: 20_000 }, async () => {
    world.api.fault = () => 'hang';
    const { code, stderr } = await world.run(['status', '--request-timeout', '200ms']);
    assert.equal(code, 1);
    assert.match(stderr, /is not responding/);
  });

  it('are refused if they are empty, as an unset variable is: another cluster or namespace would be used', async () => {
    for (const flag of ['--namespace', '--context', '--kubeconfig']) {
      const { code, stdout, stderr } = await world.run(['status', flag, '']);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, new RegExp(`: ${flag}: is empty: give a value or leave the flag out\n$`));
    }
  });

  it('are repeated in hints, so that the hint finds the same cluster', async () => {
    const missing = await world.run(['status', 'web', '-n', 'shop', '--context', 'test', '--token', 's3cret']);
    assert.match(missing.stderr, /"kubectl edgeset explain web -n shop --context test" says why/);
    assert.doesNotMatch(missing.stderr, /s3cret/);
  });

  it('do not change how the CRDs are printed, but where they are installed', async () => {
    world.api.fault = (_, path) => (path.includes('daemonrollouts') ? { status: 404, reason: 'NotFound' } : undefined);
    const { stderr } = await world.run(['status', '-n', 'shop']);
    assert.match(stderr, /"kubectl edgeset crds \| kubectl apply -f -"/);
    const elsewhere = await world.run(['status', '-n', 'shop', '--context', 'test']);
    assert.match(elsewhere.stderr, /"kubectl edgeset crds \| kubectl apply -f - --context test"/);
  });
});

describe('the name of the program in hints', () => {
  const world = createFakeCluster();

  for (const [environment, called] of [
    [{}, 'edgeset'],
    [{ npm_command: 'exec' }, 'npx edgeset'],
    [{ npm_command: 'run-script' }, 'npx edgeset'],
  ] as const)
    it(`is "${called}"`, async () => {
      const { stderr } = await world.runAs('edgeset', ['status', 'web'], environment);
      assert.equal(
        stderr,
        `${called}: there is no rollout of a DaemonSet web in namespace shop: "${called} explain web -n shop" says why\n`,
      );
      assert.match(
        (await world.runAs('edgeset', ['status', '--help'], environment)).stdout,
        new RegExp(`^Usage: ${called} status`),
      );
    });
});
