import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeCluster, EVENTS, observed } from './testing/fake-cluster.ts';

describe('explain', () => {
  const world = createFakeCluster();
  const run = (...args: string[]): Promise<string> => world.output('explain', 'ds/web', ...args);

  it('lists each cause with its nodes, the budget, and warnings about the policy', async () => {
    world.daemonSet({ 'apps.openyurt.io/max-unavailable': '2' });
    world.fleet('n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7');
    world.pod('n1', 'new');
    world.node('n9', false);
    world.rollout(observed);
    const text = await run();
    assert.match(
      text,
      /^shop\/web: 1 of 7 online nodes run web-new; 1 offline\.\n0 of 2 slots of the budget are in use\.\n/,
    );
    assert.match(text, /^outdated \(available\): n2, n3, n4, n5, n6 and 1 more$/m);
    assert.match(text, /^updated \(current\): n1$/m);
    assert.match(
      text,
      /^offline \(offline-outdated\): n9\n {2}n9 has been offline for \d+ d \(last seen at 2020-01-01T00:00:00Z\); it is skipped/m,
    );
    assert.doesNotMatch(text, /minReadySeconds/, 'plan says it, where the policy is shown');
    assert.match(await world.output('plan', 'ds/web'), /^Note: minReadySeconds \(0 s\) is shorter/m);
    const sections = [...text.matchAll(/^(\w+) \(/gm)].map(([, phase]) => phase);
    assert.deepEqual(sections, ['offline', 'outdated', 'updated'], 'the most urgent first');
  });

  it('groups nodes with the same explanation, and says once what all of them need', async () => {
    world.daemonSet();
    world.fleet('n0');
    for (const name of ['n1', 'n2', 'n3']) world.node(name, false);
    assert.match(
      await run(),
      /^offline \(offline-outdated\): n1, n2, n3\n {2}Each has been offline for \d+ d \(last seen at 2020-01-01T00:00:00Z\); [^\n]+ Bring the node back[^\n]+\n\n/m,
    );
    world.nodeSince('n3', '');
    assert.match(await run(), /\n {2}n3 has never reported; it is skipped, and updated once it is back\./);
    world.nodeSince('n3', new Date(Date.now() - 3 * 3_600_000).toISOString());
    assert.match(
      await run(),
      /\n {2}Each was last seen 3 h to \d+ d ago; it is skipped, and updated once it is back\. Bring the node back;[^\n]+\n\n/,
    );
  });

  it('names all nodes and causes with --all', async () => {
    world.daemonSet();
    world.fleet('n0');
    const names = Array.from({ length: 8 }, (_, index) => `n${index + 1}`);
    for (const [index, name] of names.entries()) {
      world.node(name, false);
      world.nodeSince(name, new Date(Date.now() - (index + 3) * 3_600_000).toISOString());
    }
    const short = await run();
    assert.match(short, /^offline \(offline-outdated\): n1, n2, n3, n4, n5 and 3 more$/m);
    assert.match(short, /^ {2}Each was last seen 3 h to 10 h ago; it is skipped/m);
    const all = await run('--all');
    assert.match(all, /: n1, n2, n3, n4, n5, n6, n7, n8$/m);
    assert.doesNotMatch(all, /\d more/);
  });

  it('shows only the nodes of the wanted phases', async () => {
    world.daemonSet();
    world.fleet('n1', 'n2');
    world.pod('n1', 'new', false);
    world.node('n9', false);
    const failed = await run('--phase', 'failed');
    assert.match(failed, /^failed \(deadline\): n1$/m);
    assert.doesNotMatch(failed, /^(outdated|offline)/m);
    assert.match(await run('--phase', 'failed,offline', '--phase=outdated'), /^failed[^]*^offline[^]*^outdated/m);
    assert.match(await run('--phase', 'missing,broken'), /\n\nNo node is missing or broken\.\n$/);
    const { nodes } = JSON.parse(await run('--phase', 'offline', '-o', 'json')) as { nodes: { node: string }[] };
    assert.deepEqual(
      nodes.map(({ node }) => node),
      ['n9'],
    );
    for (const [args, words] of [
      [['--phase', 'late'], /--phase: "late" is not valid: give failed, broken, .* or updated\n$/],
      [['--phase', 'failed', '--node', 'n1'], /: --node conflicts with --phase: give one of them\n$/],
      [['--all', '--node', 'n1'], /: --node conflicts with --all: give one of them\n$/],
    ] as const) {
      const { code, stderr } = await world.run(['explain', 'web', ...args]);
      assert.equal(code, 2);
      assert.match(stderr, words);
    }
  });

  it('quotes why the DaemonSet controller could create no pod, if it said so lately', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.node('n2');
    world.rollout(observed);
    const uid = 'uid-web';
    const event = (name: string, lastTimestamp: string, message: string): void =>
      world.api.put(EVENTS, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace: 'shop' },
        involvedObject: { kind: 'DaemonSet', name: 'web', uid },
        reason: 'FailedCreate',
        message,
        lastTimestamp,
      });
    event('old', '2020-01-01T00:00:00Z', 'Error creating: long ago');
    assert.doesNotMatch(await run(), /DaemonSet controller reports/);
    event('new', new Date().toISOString(), 'Error creating: exceeded quota');
    assert.match(await run(), /^Note: The DaemonSet controller reports: Error creating: exceeded quota$/m);
    world.pod('n2', 'new', true);
    assert.doesNotMatch(await run(), /DaemonSet controller reports/);
  });

  it('is in color on a terminal: phases, what holds, and notes', async () => {
    world.daemonSet({ 'edgeset.io/paused': 'true' });
    world.fleet('n1', 'n2', 'n3');
    world.pod('n1', 'new', false);
    world.node('n3', false);
    world.rollout(observed);
    const screen = () => ({ columns: 400, rows: 24 });
    const shown = async (environment: Record<string, string> = {}): Promise<string> => {
      const io = { screen, environment: { KUBECONFIG: world.kubeconfig, ...environment } };
      return (await world.run(['explain', 'web'], io)).stdout.replaceAll('\u001B[', '^');
    };
    const text = await shown();
    assert.match(text, /^\^1mshop\/web:\^0m 0 of 2 online/);
    assert.match(text, /^\^33mThe rollout is paused\.\^0m Run "kubectl edgeset resume ds\/web -n shop"\.$/m);
    assert.match(text, /^\^1;31mfailed \(deadline\):\^0m n1$/m);
    assert.match(text, /^\^2moffline \(offline-outdated\):\^0m n3$/m);
    assert.equal(await shown({ NO_COLOR: '1' }), await run());
    assert.equal(await shown({ TERM: 'dumb' }), await run());
  });

  it('is wrapped on a terminal only', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.node('n9', false);
    const { stdout } = await world.run(['explain', 'web'], {
      screen: () => ({ columns: 60, rows: 24 }),
      environment: { KUBECONFIG: world.kubeconfig, NO_COLOR: '1' },
    });
    assert.ok(stdout.split('\n').every((line) => line.length <= 60));
    assert.match(stdout, /^ {2}n9 has been offline[^\n]+\n {4}\w/m);
    assert.equal(
      stdout.replaceAll(/\n {2}(?! {2}|n\d)| *\n {4}/g, ' '),
      (await run()).replaceAll(/\n {2}(?!n\d)/g, ' '),
    );
  });

  it('notes that no manager has recorded a status, or has not observed the current template', async () => {
    world.daemonSet();
    world.fleet('n1');
    assert.match(await run('--node', 'n1'), /^Note: No manager has recorded a status/m);
    world.rollout({ ...observed, daemonSetGeneration: 1 });
    assert.match(await run('--node', 'n1'), /^Note: The manager has not observed the current template/m);
    world.rollout(observed);
    assert.doesNotMatch(await run('--node', 'n1'), /Note/);
    world.rollout({ ...observed, causes: [{ phase: 'held', cause: 'refused', count: 2 }] });
    assert.match(
      await run(),
      /^Note: The API server rejected the manager's updates of 2 of the nodes: see the FailedDelete Events/m,
    );
  });

  it('says what the Lease tells of a manager that seems to do nothing, and asks only then', async () => {
    const released = 'No manager holds the Lease edgeset-system/edgeset-manager: it was stopped, unless one runs with';
    const held = '(manager-1 holds the Lease edgeset-system/edgeset-manager)';
    world.daemonSet();
    world.fleet('n1');
    const both = async (prepare: () => void): Promise<[stopped: string, running: string]> => {
      prepare();
      world.lease('released');
      const stopped = await run('--node', 'n1');
      world.lease('held');
      return [stopped, await run('--node', 'n1')];
    };
    const [noneStopped, noneRunning] = await both(() => undefined);
    assert.ok(noneStopped.includes(`recorded a status for this DaemonSet yet, so nothing happens. ${released}`));
    assert.ok(noneRunning.includes(`so nothing happens. One is running ${held}: check that it serves this namespace.`));
    const [behindStopped, behindRunning] = await both(() => world.rollout({ ...observed, daemonSetGeneration: 1 }));
    assert.ok(behindStopped.includes(`has not observed the current template yet. ${released}`));
    assert.ok(behindRunning.includes(`current template yet. It is running ${held}: if this lasts, see its log.`));
    const reservation = { node: 'n1', podName: 'web-n1', podUID: 'uid-pod-n1', podResourceVersion: '1' };
    const at = '2024-01-01T00:00:00.000Z';
    const [slowStopped, slowRunning] = await both(() =>
      world.rollout({ ...observed, reservations: [{ ...reservation, carriedOut: false, rollout: 1, at }] }),
    );
    assert.match(slowStopped, /has been reserved for \d+ s\. No manager holds the Lease/);
    assert.match(
      slowRunning,
      /has been reserved for \d+ s although the manager is running .*: see the FailedDelete Events/,
    );
    world.rollout(observed);
    world.lease('released');
    assert.doesNotMatch(await run(), /Lease/, 'all is well');
  });

  it('quotes what the manager reports of a template, and does not suspect that it is not running', async () => {
    world.advanced({}, 'RollingUpdate', { generation: 3 });
    world.fleet('n1');
    const explained = (): Promise<string> => world.output('explain', 'ads/web');
    const named = { name: 'web.apps.kruise.io' };
    const message = 'The DaemonSet is not valid. spec.template "web" is refused: no such thing.';
    const lastTransitionTime = '2030-01-01T00:00:00Z';
    const conditions = [{ type: 'Stalled', status: 'True', reason: 'InvalidPolicy', message, lastTransitionTime }];
    world.rollout({ ...observed, conditions, daemonSetGeneration: 3 }, named);
    const invalid = await explained();
    assert.ok(invalid.split('\n').includes(message));
    assert.doesNotMatch(invalid, /has not recorded|is running|The manager reports/);
    // An earlier revision may look like the target, and all nodes may run it.
    world.advanced();
    world.pod('n1', 'new');
    world.rollout({ ...observed, conditions, policyHash: 'hash' }, named);
    assert.ok((await explained()).split('\n').includes(message));
    world.pod('n1', 'old');
    world.rollout({ ...observed, conditions, policyHash: '' }, named);
    assert.match(await explained(), /^Note: The manager reports: The DaemonSet is not valid/m);
    // It has not seen the latest change.
    world.advanced({}, 'RollingUpdate', { generation: 3 });
    world.rollout({ ...observed, conditions, daemonSetGeneration: 2 }, named);
    assert.match(
      await explained(),
      /^The manager has not recorded the current template yet\. If this lasts, check that/m,
    );
    world.lease('released');
    assert.match(
      await explained(),
      /^The manager has not recorded the current template yet\. No manager holds the Lease/m,
    );
    world.lease('held');
    assert.match(
      await explained(),
      /^The manager has not recorded the current template yet\. It is running \(manager-1/m,
    );
  });

  it('says that it lacks the revision which the manager rolls out', async () => {
    world.daemonSet();
    world.node('n1');
    world.rollout(observed);
    assert.match(await run(), /^ControllerRevision web-new, which the manager rolls out, is not among those that/m);
    const waiting = { type: 'Ready', status: 'False' as const, reason: 'TemplateNotObserved', message: '' };
    world.rollout({ ...observed, conditions: [{ ...waiting, lastTransitionTime: '2030-01-01T00:00:00Z' }] });
    assert.match(await run(), /^The DaemonSet controller has not recorded the current template yet\./m);
  });

  it('does not call a rollout done that is halted, or whose nodes are all offline', async () => {
    world.daemonSet();
    world.revision('old', 1);
    world.revision('new', 2);
    for (const name of ['n1', 'n2']) world.node(name, false);
    world.pod('n1', 'old');
    world.pod('n2', 'new');
    world.rollout(observed);
    assert.match(await run(), /^No node is online: 1 offline node has yet to get the target\.$/m);
    assert.match(
      await world.output('plan', 'ds/web'),
      /^No node is online: 1 offline node has yet to get the target\.$/m,
    );
    const halted = { at: '2030-01-01T00:00:00Z', reason: 'Failures' as const, nodes: ['n2'] };
    world.rollout({ ...observed, halted });
    for (const text of [await run(), await world.output('plan', 'ds/web')]) {
      assert.match(text, /^The rollout is halted: .* failed on 1 node: n2\./m);
      assert.doesNotMatch(text, /Nothing is left to do|has yet to get/);
    }
    world.rollout(observed);
    world.node('n3');
    world.pod('n3', 'new');
    assert.match(await run(), /^Nothing is left to do on online nodes; 1 offline node has yet to get the target\.$/m);
    world.pod('n1', 'new');
    assert.match(await run(), /^Nothing is left to do\.$/m);
  });

  it('ignores the DaemonRollout of an earlier DaemonSet', async () => {
    world.daemonSet({}, { uid: 'another' });
    world.fleet('n1');
    world.rollout(observed);
    assert.match(await run(), /No manager has recorded a status/);
  });

  it('explains what holds all nodes, and what would release them', async () => {
    world.daemonSet({ 'edgeset.io/paused': 'true' });
    world.fleet('n1');
    world.rollout(observed);
    assert.match(
      await run('--node', 'n1'),
      /^n1: outdated \(available\)\n.*paused\. Run "kubectl edgeset resume ds\/web -n shop"\./,
    );
    const whole = await run();
    assert.match(whole, /^ {2}n1 runs an older revision, and is held as said above\.$/m);
    assert.equal(whole.split('kubectl edgeset resume').length, 2, 'once');
    world.daemonSet({ 'apps.openyurt.io/max-unavailable': 'many' });
    assert.match(
      await run(),
      /policy is not valid\. apps\.openyurt\.io\/max-unavailable "many" is neither .*: set how/,
    );
    world.daemonSet({}, { generation: 3 });
    assert.match(await run(), /DaemonSet controller has not recorded the current template.*kube-controller-manager/);
  });

  it('explains why the DaemonSet does not run on a node', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.node('n2', true, { labels: { edge: 'no' } });
    world.node('n3', true, { taints: [{ key: 'gpu', value: 'only', effect: 'NoSchedule' }] });
    assert.match(await run('--node', 'n2'), /^n2: not-eligible\n {2}The node lacks the label edge=yes/);
    assert.match(await run('--node', 'n3'), /does not tolerate the node's taint gpu=only:NoSchedule/);
    const { code, stderr } = await world.run(['explain', 'web', '--node', 'n4']);
    assert.equal(code, 1);
    assert.match(stderr, /there is no node "n4": run "kubectl get nodes"/);
    for (const odd of ['', 'nöde']) {
      const refused = await world.run(['explain', 'web', '--node', odd]);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /: --node: ".*" cannot be a name: use lower-case letters, digits and dashes\n$/);
    }
  });

  it('reports a pod whose node no longer exists', async () => {
    world.daemonSet();
    world.fleet('n1');
    world.pod('ghost', 'old');
    assert.match(await run('--node', 'ghost'), /^ghost: not-eligible\n {2}Node ghost no longer exists, but its pod/);
  });

  it('reports a slot that was reserved long ago and not used', async () => {
    world.daemonSet();
    world.fleet('n1');
    const reservation = {
      node: 'n1',
      podName: 'web-n1',
      podUID: 'uid-pod-n1',
      podResourceVersion: '1',
      carriedOut: false,
    };
    world.rollout({ ...observed, reservations: [{ ...reservation, rollout: 1, at: '2024-01-01T00:00:00.000Z' }] });
    assert.match(
      await run('--node', 'n1'),
      /^n1: updating \(reserved\)\n.*reserved for \d+ s: check that the manager is running/,
    );
  });

  it('prints data for scripts, with times as dates', async () => {
    world.daemonSet();
    world.fleet('n2', 'n1');
    world.pod('n1', 'new', false);
    const data = JSON.parse(await run('-o', 'json')) as {
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
    const one = JSON.parse(await run('--node', 'n2', '-o', 'json')) as { node: string; what: string };
    assert.equal(one.node, 'n2');
    assert.match(await run('--node', 'n2', '-o', 'yaml'), /^node: n2\n/);
  });

  it('explains whose owners have been asked, or why they have not', async () => {
    world.otaFleet({ 'edgeset.io/ota-deadline': '2040-01-01T00:00:00Z', 'edgeset.io/ota-deadline-spread': '90m' });
    assert.match(await run(), /^2 owners have been asked\.$/m);
    assert.match(
      await run('--node', 'n2'),
      /runs an older revision, and the condition of its pod is not up to date yet\. The owner of each device decides .* until 2040-01-01T00:00:00\.000Z: within 90 min/,
    );
    world.otaFleet({ 'edgeset.io/paused': 'true' });
    assert.match(await run('--node', 'n2'), /The rollout is paused/);
    world.otaFleet({ 'edgeset.io/partition': '2' });
    assert.match(await run('--node', 'n2'), /kept on the older revision by edgeset\.io\/partition/);
    world.otaFleet();
    world.node('n3', false);
    assert.match(await run('--node', 'n3'), /whatever its owner decides there in the meantime takes effect/);
  });
});
