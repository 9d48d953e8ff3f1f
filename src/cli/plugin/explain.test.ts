import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeCluster } from './testing/fake-cluster.ts';

describe('explain', () => {
  const world = createFakeCluster();
  const told = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.run(['explain', 'ds/web', ...args]);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  };
  const known = { observedGeneration: 2, target: { revision: 'web-new', hash: 'new', number: 2 }, rollout: 1 };

  it('names each cause with its nodes, the budget, and the hazards of the policy', async () => {
    world.daemonSet({ 'apps.openyurt.io/max-unavailable': '2' });
    world.fleet('n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7');
    world.pod('n1', 'new');
    world.node('n9', false);
    world.rollout(known);
    const text = await told();
    assert.match(
      text,
      /^shop\/web: 1 of 7 online nodes run web-new; 1 offline\.\n0 of 2 slots of the budget are in use\.\n/,
    );
    assert.match(text, /^outdated \(available\): n2, n3, n4, n5, n6 and 1 more$/m);
    assert.match(text, /^updated \(current\): n1$/m);
    assert.match(text, /^offline \(offline-outdated\): n9\n {2}n9 has been offline for \d+ h; it is skipped/m);
    assert.match(text, /^Note: minReadySeconds \(0 s\) is shorter/m);
    assert.ok(text.indexOf('updated (') < text.indexOf('outdated (available)'), 'in the order of the phases');
  });

  it('tells of each shown node where its story is its own', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.node('n8', false);
    world.node('n9', false);
    const text = await told();
    assert.match(text, / {2}n8 has been offline[^\n]+\n {2}n9 has been offline/);
  });

  it('says when no manager has looked, and when it has not seen the present template', async () => {
    world.daemonSet();
    world.fleet('n1');
    assert.match(await told('--node', 'n1'), /^Note: No manager has recorded anything/m);
    world.rollout({ ...known, observedGeneration: 1 });
    assert.match(await told('--node', 'n1'), /^Note: The manager has not seen the present template/m);
    world.rollout(known);
    assert.doesNotMatch(await told('--node', 'n1'), /Note/);
    world.rollout({ ...known, causes: [{ phase: 'held', cause: 'refused', count: 2 }] });
    assert.match(await told(), /^Note: The API server refused the manager's act on 2 of the nodes: see Events/m);
  });

  it('does not believe the rollout object of an earlier DaemonSet', async () => {
    world.daemonSet({}, { uid: 'another' });
    world.fleet('n1');
    world.rollout(known);
    assert.match(await told(), /No manager has recorded anything/);
  });

  it('tells what holds all nodes, and what would free them', async () => {
    world.daemonSet({ 'edgeset.io/paused': 'true' });
    world.fleet('n1');
    world.rollout(known);
    assert.match(await told('--node', 'n1'), /^n1: outdated \(available\)\n.*paused\. Remove the annotation/);
    world.daemonSet({ 'apps.openyurt.io/max-unavailable': 'many' });
    assert.match(
      await told(),
      /policy is not valid\. apps\.openyurt\.io\/max-unavailable "many" is neither .*: set how/,
    );
    world.daemonSet({}, { generation: 3 });
    assert.match(await told(), /DaemonSet controller has not recorded the current template.*kube-controller-manager/);
  });

  it('tells why the DaemonSet does not run on a node', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.node('n2', true, { labels: { edge: 'no' } });
    world.node('n3', true, { taints: [{ key: 'gpu', value: 'only', effect: 'NoSchedule' }] });
    assert.match(await told('--node', 'n2'), /^n2: not-eligible\n {2}The node lacks the label edge=yes/);
    assert.match(await told('--node', 'n3'), /does not tolerate the node's taint gpu=only:NoSchedule/);
    const { code, stderr } = await world.run(['explain', 'web', '--node', 'n4']);
    assert.equal(code, 1);
    assert.match(stderr, /there is no node "n4": see "kubectl get nodes"/);
  });

  it('tells of a pod whose node is gone', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.pod('ghost', 'old');
    assert.match(await told('--node', 'ghost'), /^ghost: not-eligible\n {2}There is no Node ghost any more, and a pod/);
  });

  it('tells of a slot that was reserved long ago and not used', async () => {
    world.daemonSet();
    world.fleet('n1');
    const act = { node: 'n1', podName: 'web-n1', podUID: 'uid-pod-n1', podResourceVersion: '1', carriedOut: false };
    world.rollout({ ...known, reservations: [{ ...act, rollout: 1, at: '2024-01-01T00:00:00.000Z' }] });
    assert.match(
      await told('--node', 'n1'),
      /^n1: updating \(reserved\)\n.*reserved for \d+ s: see whether the manager runs/,
    );
  });

  it('gives data to scripts, times as dates', async () => {
    world.daemonSet();
    world.fleet('n2', 'n1');
    world.pod('n1', 'new', false);
    const data = JSON.parse(await told('-o', 'json')) as {
      complete: boolean;
      budget: number;
      nodes: { node: string; phase: string; cause: string; lookedAtAgain?: string }[];
    };
    assert.deepEqual([data.complete, data.budget], [false, 1]);
    assert.deepEqual(
      data.nodes.map(({ node, phase, cause }) => [node, phase, cause]),
      [
        ['n1', 'failed', 'deadline'],
        ['n2', 'outdated', 'available'],
      ],
    );
    const one = JSON.parse(await told('--node', 'n2', '-o', 'json')) as { node: string; what: string };
    assert.equal(one.node, 'n2');
    assert.match(await told('--node', 'n2', '-o', 'yaml'), /^node: n2\n/);
  });
});
