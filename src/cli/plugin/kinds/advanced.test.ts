import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../../test/support/index.ts';
import { ADVANCED_SETS, createFakeCluster, observed } from '../testing/fake-cluster.ts';

const ROLLOUT = { name: 'web.apps.kruise.io' };

describe('status of both kinds', () => {
  const world = createFakeCluster();
  const output = (...args: string[]): Promise<string> => world.output('status', ...args);
  const rollouts = (): void => {
    world.daemonSet();
    world.rollout({ summary: 'Rolling out' });
    world.advanced();
    world.rollout({ summary: 'Complete' }, ROLLOUT);
  };

  it('prints names that commands accept', async () => {
    rollouts();
    assert.match(await output(), /^NAME +STATUS .*\nweb +Rolling out .*\nads\/web +Complete /);
    assert.match(await output('ads/web'), /^NAME .*\nads\/web +Complete .*\n$/);
    assert.match(await output('ds/web'), /^NAME .*\nweb +Rolling out .*\n$/);
    assert.equal(await output('daemon/web', '-o', 'name'), 'daemonrollout.edgeset.io/web.apps.kruise.io\n');
    const { code, stderr } = await world.run(['status', 'web']);
    assert.equal(code, 1);
    assert.match(stderr, /there are two DaemonSets shop\/web: give ds\/web .*, or ads\/web/);
  });

  it('shows the kind that has a rollout for a bare name', async () => {
    world.advanced();
    world.rollout({ summary: 'Complete' }, ROLLOUT);
    assert.match(await output('web'), /^NAME .*\nads\/web +Complete .*\n$/);
    const { stderr } = await world.run(['status', 'ds/web']);
    assert.match(stderr, /no rollout of a DaemonSet web in namespace shop: "kubectl edgeset explain ds\/web -n shop"/);
    const { stderr: other } = await world.run(['status', 'ads/db']);
    assert.match(other, /no rollout of an Advanced DaemonSet db .*"kubectl edgeset explain ads\/db -n shop"/);
  });

  it('watches a bare name in both kinds, and no other name', async () => {
    let stdout = '';
    const running = world.run(['status', 'web', '-w'], { stdout: (text) => (stdout += text) });
    await eventually('the watch', () => world.api.requests.some(({ query }) => query.has('watch')));
    world.rollout({ summary: 'Complete' }, { name: 'db' });
    world.rollout({ summary: 'Rolling out' }, ROLLOUT);
    await eventually('its row', () => stdout.includes('ads/web'));
    process.emit('SIGINT');
    assert.equal((await running).code, 0);
    assert.doesNotMatch(stdout, /^db/m);
  });
});

describe('an Advanced DaemonSet', () => {
  const world = createFakeCluster();
  const output = (...args: string[]): Promise<string> => world.output(...args);
  const plan = async (...args: string[]): Promise<{ budget: number; keptBack: object; actions: { kind?: string }[] }> =>
    JSON.parse(await output('plan', 'ads/web', '-o', 'json', ...args)) as never;
  const fleet = (): void => {
    world.fleet('n1', 'n2', 'n3', 'n4');
    world.rollout(observed, ROLLOUT);
  };

  it('distinguishes the kinds of updates', async () => {
    world.advanced({ maxSurge: 2 });
    fleet();
    assert.match(
      await output('plan', 'ads/web'),
      /^ {2}create a new pod on n1 next to the old one: its revision is outdated$/m,
    );
    assert.deepEqual(
      (await plan()).actions.map(({ kind }) => kind),
      ['surge', 'surge'],
    );
    // One of the two bounds is in force: who names the other gives this one up.
    assert.deepEqual(
      (await plan('--max-unavailable', '1')).actions.map(({ kind }) => kind),
      [undefined],
    );
    world.advanced({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 4 });
    for (const name of ['n1', 'n2']) world.pod(name, 'old', true, { gated: true });
    const steps = (await output('plan', 'ads/web')).matchAll(/^ {2}(.* n\d)( in place)?: /gm);
    assert.deepEqual(
      new Set(steps.map(([, step = '', how = '']) => step + how)),
      new Set(['update the pod on n1 in place', 'replace the pod on n3', 'replace the pod on n4']),
      'the first wave',
    );
    assert.match(
      await output('explain', 'ads/web'),
      /^Note: 2 of the pods were created without the readiness gate InPlaceUpdateReady: they are replaced once/m,
    );
  });

  it('names the field that releases a node', async () => {
    world.advanced({ paused: true });
    fleet();
    const text = await output('explain', 'ads/web', '--node', 'n1');
    assert.match(text, /The rollout is paused\. Run "kubectl edgeset resume ads\/web -n shop"\./);
    world.advanced({ partition: 4 });
    assert.match(
      await output('explain', 'ads/web', '--node', 'n1'),
      /^n1: held \(partition\)\n.*kept on the older revision by spec\.updateStrategy\.rollingUpdate\.partition/m,
    );
    world.api.remove('/apis/edgeset.io/v1alpha1/namespaces/shop/daemonrollouts', ROLLOUT.name);
    assert.match(
      await output('explain', 'ads/web'),
      /check that edgeset-manager is running and that it has "advanced" in its --controllers/,
    );
  });

  it('reports what only the manager knows', async () => {
    world.advanced();
    fleet();
    const message = 'spec.template "web" is refused by the API server: no.';
    for (const reason of ['InvalidPolicy', 'FailedCreate']) {
      const condition = { type: 'Stalled', status: 'True', reason, message, lastTransitionTime: '' };
      world.rollout({ ...observed, conditions: [condition] }, ROLLOUT);
      assert.match(await output('plan', 'ads/web'), /^Note: The manager reports: spec\.template "web" is refused/m);
    }
  });

  it('is paused by a field of its spec, unless it has changed since it was read', async () => {
    world.advanced();
    const patch = (): unknown => {
      const sent = world.api.requests.findLast(({ method }) => method === 'PATCH');
      assert.equal(sent?.path, `${ADVANCED_SETS}/web`);
      return JSON.parse(sent.body);
    };
    const version = (): unknown =>
      (JSON.parse(world.api.text(`${ADVANCED_SETS}/web`)) as { metadata: { resourceVersion: string } }).metadata
        .resourceVersion;
    let resourceVersion = version();
    assert.equal(await output('pause', 'ads/web'), 'daemonset.apps.kruise.io/web paused\n');
    assert.deepEqual(patch(), {
      metadata: { uid: 'uid-web', resourceVersion },
      spec: { updateStrategy: { rollingUpdate: { paused: true } } },
    });
    assert.equal(await output('pause', 'ads/web'), 'daemonset.apps.kruise.io/web is already paused\n');
    world.rollout({ ...observed, halted: { at: '2030-01-01T00:00:00Z', reason: 'Failures', nodes: ['n1'] } }, ROLLOUT);
    resourceVersion = version();
    assert.equal(await output('resume', 'ads/web'), 'daemonset.apps.kruise.io/web resumed at revision new\n');
    assert.deepEqual(patch(), {
      metadata: { uid: 'uid-web', resourceVersion, annotations: { 'edgeset.io/resume': 'new' } },
      spec: { updateStrategy: { rollingUpdate: { paused: false } } },
    });
  });

  it('is read again when it has changed', async () => {
    world.advanced();
    let refused = 0;
    world.api.fault = (method) => {
      if (method !== 'PATCH' || refused > 0) return undefined;
      refused += 1;
      world.advanced({ paused: true });
      return { status: 409, reason: 'Conflict' };
    };
    assert.equal(await output('pause', 'ads/web'), 'daemonset.apps.kruise.io/web is already paused\n');
    world.advanced();
    world.api.fault = (method) => (method === 'PATCH' ? { status: 409, reason: 'Conflict' } : undefined);
    const { code, stderr } = await world.run(['pause', 'ads/web']);
    assert.equal(code, 1);
    assert.match(stderr, /Advanced DaemonSet shop\/web is changing too fast, so nothing was written: try again/);
  });

  it('notes that a pause does not affect pods that a user deletes', async () => {
    world.advanced({}, 'OnDelete');
    const { stdout, stderr } = await world.run(['pause', 'ads/web']);
    assert.equal(stdout, 'daemonset.apps.kruise.io/web paused\n');
    assert.match(stderr, /^Note: The update strategy is OnDelete/);
  });

  it('goes back to the newest revision from a template that the API server refuses, which has none', async () => {
    world.advanced();
    world.revision('old', 1);
    world.revision('new', 2);
    const chosen = async (reason: string, observedGeneration: number): Promise<string> => {
      const daemonSet = JSON.parse(world.api.text(`${ADVANCED_SETS}/web`)) as object;
      const stalled = { type: 'Stalled', status: 'True', reason, observedGeneration };
      world.api.put(ADVANCED_SETS, { ...daemonSet, status: { observedGeneration: 2, conditions: [stalled] } });
      const { stderr } = await world.run(['undo', 'web']);
      return /ControllerRevision (\S+) contains no pod template/.exec(stderr)?.[1] ?? stderr;
    };
    assert.equal(await chosen('InvalidTemplate', 2), 'web-new');
    assert.equal(await chosen('InvalidTemplate', 1), 'web-old', 'the template has changed since');
    assert.equal(await chosen('FailedCreate', 2), 'web-old');
  });

  it('compares the generation in wait', async () => {
    world.advanced();
    const complete = { type: 'Complete', status: 'True', reason: 'AllOnlineNodesUpdated', message: 'All of them.' };
    const conditions = [{ ...complete, lastTransitionTime: '' }];
    world.rollout({ ...observed, daemonSetGeneration: 1, conditions }, ROLLOUT);
    const early = await world.run(['wait', 'web', '--timeout', '1s']);
    assert.equal(early.code, 1);
    assert.match(early.stderr, /Waiting for the manager to observe the current template/);
    world.rollout({ ...observed, conditions }, ROLLOUT);
    assert.equal(await output('wait', 'web'), 'All of them.\n');
  });
});
