import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../test/support/index.ts';
import { planWith, stage } from '../../view/testing/index.ts';
import { createFakeCluster, observed } from './testing/fake-cluster.ts';
import { createFollow } from './testing/follow.ts';

const PLANS = '/apis/edgeset.io/v1alpha1/namespaces/shop/rolloutplans';
const CLUSTER_PLANS = '/apis/edgeset.io/v1alpha1/clusterrolloutplans';
const PLURALS = ['rolloutplans', 'clusterrolloutplans', 'rolloutapprovals'];

describe('a rollout whose plan', () => {
  const world = createFakeCluster();
  const follow = createFollow(world.run, 'get', '-w');
  const forbidden = new Set<string>();
  const fleet = (plan: string): void => {
    world.daemonSet({ 'edgeset.io/rollout-plan': plan });
    world.fleet('n1', 'n2');
    world.rollout({
      ...observed,
      plan,
      stages: [stage('lab', 'Open', { awaits: { reason: 'Soak', message: 'soaks until noon' } })],
    });
  };
  const refuse = (...plurals: string[]): void => {
    forbidden.clear();
    for (const plural of plurals) forbidden.add(plural);
    for (const plural of PLURALS) world.api.plurals.add(plural);
    world.api.fault = (_method, path) => {
      const plural = PLURALS.find((each) => path.split('/').includes(each)) ?? '';
      return forbidden.has(plural)
        ? { status: 403, reason: 'Forbidden', message: `User "eve" cannot list resource "${plural}"` }
        : undefined;
    };
  };
  const rings = (kind: 'RolloutPlan' | 'ClusterRolloutPlan', namespace = {}) =>
    planWith(kind, { name: 'rings', ...namespace }, [{ name: 'lab' }]);
  const count = (text: string, part: string): number => text.split(part).length - 1;

  it('may not be read shows everything else in explain, and says once what is missing', async () => {
    fleet('rings');
    refuse('rolloutplans', 'rolloutapprovals');
    const { code, stdout, stderr } = await world.run(['explain', 'web']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /0 of 2 online nodes run web-new/);
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      /Note: This does not show what the stages, windows and groups of the rollout plan hold back, because you may not read rolloutplans\.edgeset\.io and rolloutapprovals\.edgeset\.io: ask your cluster administrator for the ClusterRole edgeset-view in namespace shop\./,
    );
    assert.equal(count(stdout, 'edgeset-view'), 1);
    const get = await world.run(['get', 'web']);
    assert.match(get.stdout, /^n1 +/m);
    assert.equal(count(get.stderr, 'edgeset-view'), 1);
    const { code: refused, stderr: why } = await world.run(['plan', 'web']);
    assert.equal(refused, 1);
    assert.match(
      why,
      /you may not read rolloutplans\.edgeset\.io .*on which the decisions of the manager depend: ask /,
    );
  });

  it('may not be read is followed by get -w', async () => {
    fleet('rings');
    refuse(...PLURALS);
    const { stderr } = await follow(['web'], {}, async (output) => {
      await eventually('the nodes', () => output.stdout.includes('n2'));
      world.pod('n1', 'new');
      await eventually('the change', () => /n1 +updated/.test(output.stdout));
    });
    assert.equal(count(stderr, 'edgeset-view'), 1);
  });

  it('is of the cluster needs the right there, and a plan of the namespace does not', async () => {
    fleet('cluster/rings');
    refuse('clusterrolloutplans');
    world.api.put(PLANS, rings('RolloutPlan', { namespace: 'shop' }));
    const said = await world.output('explain', 'web');
    assert.match(
      said.replaceAll(/\s+/g, ' '),
      /clusterrolloutplans\.edgeset\.io: ask .* edgeset-view in the whole cluster\./,
    );
    fleet('rings');
    assert.doesNotMatch(await world.output('explain', 'web'), /edgeset-view/);
    const { stderr } = await follow(['web'], {}, (output) =>
      eventually('the nodes', () => output.stdout.includes('n2')),
    );
    assert.equal(stderr, '');
  });

  it('can be read without its approvals still shows its stages', async () => {
    fleet('cluster/rings');
    refuse('rolloutapprovals');
    world.api.put(CLUSTER_PLANS, rings('ClusterRolloutPlan'));
    const { code, stdout } = await world.run(['plan', 'web']);
    assert.equal(code, 0);
    assert.match(stdout, /Stages of the rollout plan:\n/);
    assert.match(stdout, /approvals that the manager has not seen yet, because you may not read rolloutapprovals/);
  });

  it('is in a cluster without the CRDs is missing', async () => {
    fleet('rings');
    const { stdout } = await world.run(['explain', 'web']);
    assert.match(stdout.replaceAll(/\s+/g, ' '), /names a plan that does not exist: create the RolloutPlan rings/);
    const { stderr } = await follow(['web'], {}, (output) =>
      eventually('the nodes', () => output.stdout.includes('n2')),
    );
    assert.equal(stderr, '');
  });
});
