import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../../test/support/index.ts';
import { ADVANCED_SETS, createFakeCluster } from '../testing/fake-cluster.ts';

const ROLLOUT = { name: 'web.apps.kruise.io' };
const known = { observedGeneration: 2, target: { revision: 'web-new', hash: 'new', number: 2 }, rollout: 1 };

describe('status of both kinds', () => {
  const world = createFakeCluster();
  const told = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.run(['status', ...args]);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  };
  const rollouts = (): void => {
    world.rollout({ summary: 'Rolling out' });
    world.rollout({ summary: 'Complete' }, ROLLOUT);
  };

  it('tells them apart, by names that can be typed back', async () => {
    rollouts();
    assert.match(await told(), /^NAME +STATUS .*\nweb +Rolling out .*\nads\/web +Complete /);
    assert.match(await told('ads/web'), /^NAME .*\nads\/web +Complete .*\n$/);
    assert.match(await told('ds/web'), /^NAME .*\nweb +Rolling out .*\n$/);
    assert.equal(await told('daemon/web', '-o', 'name'), 'daemonrollout.edgeset.io/web.apps.kruise.io\n');
    const { code, stderr } = await world.run(['status', 'web']);
    assert.equal(code, 1);
    assert.match(stderr, /there are two DaemonSets shop\/web: give ds\/web .*, ads\/web/);
  });

  it('of a bare name is that of the one that has a rollout', async () => {
    world.rollout({ summary: 'Complete' }, ROLLOUT);
    assert.match(await told('web'), /^NAME .*\nads\/web +Complete .*\n$/);
    const { stderr } = await world.run(['status', 'ds/web']);
    assert.match(stderr, /no rollout of a DaemonSet web in namespace shop: "kubectl edgeset explain ds\/web"/);
    const { stderr: other } = await world.run(['status', 'ads/db']);
    assert.match(other, /no rollout of an Advanced DaemonSet db .*"kubectl edgeset explain ads\/db"/);
  });

  it('follows a bare name in whichever kind, and no other', async () => {
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
  const told = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.run(args);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  };
  const plan = async (...args: string[]): Promise<{ budget: number; keptBack: object; actions: { kind?: string }[] }> =>
    JSON.parse(await told('plan', 'ads/web', '-o', 'json', ...args)) as never;
  const fleet = (): void => {
    world.fleet('n1', 'n2', 'n3', 'n4');
    world.rollout(known, ROLLOUT);
  };

  it('is planned by its spec, and by flags in place of it', async () => {
    world.advanced({ maxUnavailable: 1, partition: 3 });
    fleet();
    const steps = async (...args: string[]): Promise<[number, number, object]> => {
      const { budget, actions, keptBack } = await plan(...args);
      return [budget, actions.length, keptBack];
    };
    assert.deepEqual(await steps(), [1, 1, { partition: 3 }]);
    assert.deepEqual(await steps('--partition', '50%'), [1, 1, { partition: 2 }]);
    assert.deepEqual(await steps('--partition=0', '--max-unavailable=75%'), [3, 3, {}]);
    assert.deepEqual(await steps('--partition=0', '--node-selector', 'edge!=yes'), [1, 0, { 'node-selector': 4 }]);
    assert.match(
      await told('plan', 'ads/web'),
      /^Online and kept back: 3 by spec\.updateStrategy\.rollingUpdate\.partition\.$/m,
    );
    const before = world.api.requests.filter(({ method }) => method !== 'GET');
    assert.deepEqual(before, [], 'nothing is written');
  });

  it('tells kinds of acts apart', async () => {
    world.advanced({ maxSurge: 2 });
    fleet();
    assert.match(await told('plan', 'ads/web'), /^ {2}create a new pod beside the one on n1 \(outdated\)$/m);
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
    assert.match(
      await told('plan', 'ads/web'),
      /change the pod on n1 in place .*\n.*n2 in place .*\n {2}replace the pod on n3 /,
    );
    assert.match(
      await told('explain', 'ads/web'),
      /^Note: 2 of the pods were made without the readiness gate InPlaceUpdateReady: they are replaced once/m,
    );
  });

  for (const [flag, words] of [
    [
      '--max-unavailable=many',
      /--max-unavailable: "many" is neither a whole number nor a percentage up to 100%: set one/,
    ],
    ['--partition=-1', /--partition: "-1" is neither/],
    ['--node-selector=a in', /--node-selector: "a in" /],
    ['--node-selector=a>1', /--node-selector: /],
  ] as const)
    it(`is not planned by a slip: ${flag}`, async () => {
      world.advanced();
      fleet();
      const { code, stdout, stderr } = await world.run(['plan', 'ads/web', flag]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, words);
    });

  it('names the field that frees what it holds', async () => {
    world.advanced({ paused: true });
    fleet();
    const text = await told('explain', 'ads/web', '--node', 'n1');
    assert.match(text, /The rollout is paused\. Set spec\.updateStrategy\.rollingUpdate\.paused to false\./);
    world.advanced({ partition: 4 });
    assert.match(
      await told('explain', 'ads/web', '--node', 'n1'),
      /^n1: held \(partition\)\n.*left on the older revision by spec\.updateStrategy\.rollingUpdate\.partition/m,
    );
    world.api.remove('/apis/edgeset.io/v1alpha1/namespaces/shop/daemonrollouts', ROLLOUT.name);
    assert.match(
      await told('explain', 'ads/web'),
      /see whether edgeset-manager runs with "advanced" among its --controllers/,
    );
  });

  it('tells what it waits for while a native one has the same selector', async () => {
    world.advanced();
    fleet();
    world.daemonSet();
    for (const command of ['explain', 'plan'])
      assert.match(await told(command, 'ads/web'), /delete daemonset\.apps web --cascade=orphan/);
  });

  it('passes on what its manager alone knows', async () => {
    world.advanced();
    fleet();
    const message = 'spec.template "web" is refused by the API server: no.';
    const condition = { type: 'Stalled', status: 'True', reason: 'InvalidPolicy', message, lastTransitionTime: '' };
    world.rollout({ ...known, conditions: [condition] }, ROLLOUT);
    assert.match(await told('plan', 'ads/web'), /^Note: The manager says: spec\.template "web" is refused/m);
  });

  it('is paused by a field of its spec, on the condition that it is as it was read', async () => {
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
    assert.equal(await told('pause', 'ads/web'), 'daemonset.apps.kruise.io/web paused\n');
    assert.deepEqual(patch(), {
      metadata: { uid: 'uid-web', resourceVersion },
      spec: { updateStrategy: { rollingUpdate: { paused: true } } },
    });
    assert.equal(await told('pause', 'ads/web'), 'daemonset.apps.kruise.io/web is paused already\n');
    world.rollout({ ...known, halted: { at: '2030-01-01T00:00:00Z', reason: 'Failures', nodes: ['n1'] } }, ROLLOUT);
    resourceVersion = version();
    assert.equal(await told('resume', 'ads/web'), 'daemonset.apps.kruise.io/web resumed at revision new\n');
    assert.deepEqual(patch(), {
      metadata: { uid: 'uid-web', resourceVersion, annotations: { 'edgeset.io/resume': 'new' } },
      spec: { updateStrategy: { rollingUpdate: { paused: false } } },
    });
  });

  it('is judged anew when it was changed meanwhile', async () => {
    world.advanced();
    let refused = 0;
    world.api.fault = (method) => {
      if (method !== 'PATCH' || refused > 0) return undefined;
      refused += 1;
      world.advanced({ paused: true });
      return { status: 409, reason: 'Conflict' };
    };
    assert.equal(await told('pause', 'ads/web'), 'daemonset.apps.kruise.io/web is paused already\n');
    world.advanced();
    world.api.fault = (method) => (method === 'PATCH' ? { status: 409, reason: 'Conflict' } : undefined);
    const { code, stderr } = await world.run(['pause', 'ads/web']);
    assert.equal(code, 1);
    assert.match(stderr, /Advanced DaemonSet shop\/web changes too fast, and nothing was written: try again/);
  });

  it('says that no pause holds those who delete pods by hand', async () => {
    world.advanced({}, 'OnDelete');
    const { stdout, stderr } = await world.run(['pause', 'ads/web']);
    assert.equal(stdout, 'daemonset.apps.kruise.io/web paused\n');
    assert.match(stderr, /^Note: The update strategy is OnDelete/);
  });

  it('is waited for by its generation', async () => {
    world.advanced();
    const complete = { type: 'Complete', status: 'True', reason: 'AllOnlineNodesUpdated', message: 'All of them.' };
    const conditions = [{ ...complete, lastTransitionTime: '' }];
    world.rollout({ ...known, observedGeneration: 1, conditions }, ROLLOUT);
    const early = await world.run(['wait', 'web', '--timeout', '1s']);
    assert.equal(early.code, 1);
    assert.match(early.stderr, /Waiting for the manager to see the present template/);
    world.rollout({ ...known, conditions }, ROLLOUT);
    assert.equal(await told('wait', 'web'), 'All of them.\n');
  });
});
