import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { advanced, native, readName } from '../../../view/index.ts';
import { ADVANCED_SETS, createFakeCluster, SETS } from '../testing/fake-cluster.ts';

describe('the name of a DaemonSet', () => {
  for (const text of [
    'ds/web',
    'daemonset/web',
    'DaemonSets/web',
    'ds.apps/web',
    'daemonset.apps/web',
    'daemonsets.v1.apps/web',
    'dro/web',
    'daemonrollouts.edgeset.io/web',
    'daemonrollout.v1alpha1.edgeset.io/web',
  ])
    it(`is native: ${text}`, () => assert.deepEqual(readName(text), { kind: native, name: 'web' }));

  for (const text of [
    'ads/web',
    'daemon/web',
    'ADS/web',
    'ads.apps.kruise.io/web',
    'daemonset.apps.kruise.io/web',
    'daemonsets.v1beta1.apps.kruise.io/web',
    'daemonsets.v1alpha1.apps.kruise.io/web',
    'dro/web.apps.kruise.io',
  ])
    it(`is Advanced: ${text}`, () => assert.deepEqual(readName(text), { kind: advanced, name: 'web' }));

  it('can be bare, and can contain dots', () => {
    assert.deepEqual(readName('web'), { kind: undefined, name: 'web' });
    assert.deepEqual(readName('web.apps.kruise.io'), { kind: undefined, name: 'web.apps.kruise.io' });
  });

  for (const text of [
    'deploy/web',
    'ds/',
    '/web',
    'ds/web/x',
    'Web',
    'daemonset.batch/web',
    'daemonsets.v1.apps.kruise.io/w',
  ])
    it(`is invalid: ${text}`, () =>
      assert.throws(() => readName(text), {
        code: 'InvalidOption',
        message: /is not the name of a DaemonSet: give NAME or ds\/NAME, or/,
      }));
});

describe('a kind and a name as two words', () => {
  const world = createFakeCluster();

  for (const command of ['get', 'explain', 'plan', 'pause', 'resume', 'history', 'undo'])
    it(`address the DaemonSet in ${command}`, async () => {
      world.daemonSet();
      const path = `${SETS}/web`;
      const before = world.api.requests.length;
      await world.run([command, 'daemonset', 'web']);
      assert.ok(world.api.requests.slice(before).some((request) => request.path === path));
    });

  it('are refused where the first one is no kind', async () => {
    const { code, stderr } = await world.run(['pause', 'web', 'cache']);
    assert.equal(code, 2);
    assert.match(stderr, /"web cache": does not name one DaemonSet: give NAME or ds NAME, or ads NAME for an Advanced/);
  });
});

describe('a bare name', () => {
  const world = createFakeCluster();
  const paused = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await world.run(['pause', ...args, '--dry-run']);
    return stdout || stderr;
  };

  it('is of the kind that has this name', async () => {
    world.daemonSet();
    assert.match(await paused('web'), /^daemonset\.apps\/web paused/);
    world.api.remove(SETS, 'web');
    world.advanced();
    assert.match(await paused('web'), /^daemonset\.apps\.kruise\.io\/web paused/);
  });

  it('is native if the cluster has no Advanced DaemonSets, or forbids reading them', async () => {
    world.daemonSet();
    for (const fault of [
      { status: 404, reason: 'NotFound' },
      { status: 403, reason: 'Forbidden' },
    ]) {
      world.api.fault = (_, path) => (path.startsWith(ADVANCED_SETS) ? fault : undefined);
      assert.match(await paused('web'), /^daemonset\.apps\/web paused/);
    }
  });
});

describe('a cluster without Advanced DaemonSets', () => {
  const world = createFakeCluster();

  it('reports how to install the CRD', async () => {
    world.api.fault = (_, path) => (path.startsWith(ADVANCED_SETS) ? { status: 404, reason: 'NotFound' } : undefined);
    for (const command of ['explain', 'plan', 'wait', 'pause', 'resume', 'history', 'undo']) {
      const { code, stdout, stderr } = await world.run([command, 'ads/web']);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^kubectl edgeset: the cluster has no CRD for Advanced DaemonSets \(apps\.kruise\.io\/v1beta1\): install it with "kubectl edgeset crds \| kubectl apply -f -"\n$/,
      );
    }
  });

  it('gets no request about them when the command names another kind or none', async () => {
    world.daemonSet();
    world.rollout({ summary: 'Complete' });
    for (const args of [
      ['status', 'ds/web'],
      ['explain', 'ds/web'],
      ['plan', 'ds/web'],
      ['pause', 'ds/web'],
      ['history', 'ds/web'],
    ])
      assert.equal((await world.run(args)).code, 0);
    assert.deepEqual(
      world.api.requests.filter(({ path }) => path.includes('kruise')).map(({ path }) => path),
      [],
    );
  });
});
