import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../test/support/index.ts';
import { type ParsedPolicy, parsePolicy, withPlan } from '../../rollout/index.ts';
import { planWith } from '../../view/testing/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import { terminal } from '../testing/terminal.ts';
import { createFakeCluster, SETS } from './testing/fake-cluster.ts';
import { paceOf } from './wait-goal.ts';

const strategy = { 'apps.openyurt.io/update-strategy': 'auto' };

const policyOf = (annotations: Record<string, string>): Exclude<ParsedPolicy, { kind: 'off' }> => {
  const policy = parsePolicy({
    annotations: { ...strategy, ...annotations },
    updateStrategyType: 'OnDelete',
    minReadySeconds: 0,
  });
  assert.ok(policy.kind !== 'off');
  return policy;
};

/** What a manager writes that has seen these annotations. */
const hashOf = (annotations: Record<string, string> = {}): string => {
  const policy = policyOf(annotations);
  return policy.kind === 'on' ? policy.hash : '';
};

const condition = (type: string, status: boolean, message: string, reason = 'Because') => ({
  type,
  status: status ? 'True' : 'False',
  reason,
  message,
  lastTransitionTime: '2030-01-01T00:00:00Z',
});

const complete = (more: DaemonRolloutStatus = {}): DaemonRolloutStatus => ({
  daemonSetGeneration: 2,
  policyHash: hashOf(),
  conditions: [condition('Complete', true, '3 of 3 online nodes run web-new.')],
  ...more,
});
const going = (message = '1 of 3 online nodes run web-new.'): DaemonRolloutStatus =>
  complete({ conditions: [condition('Complete', false, message), condition('Ready', false, message)] });
const stalled = (more: DaemonRolloutStatus = {}): DaemonRolloutStatus =>
  complete({
    conditions: [condition('Complete', false, ''), condition('Stalled', true, 'The rollout is halted.')],
    ...more,
  });

describe('wait', () => {
  const world = createFakeCluster();

  it('exits with 0 when the rollout is complete', async () => {
    world.daemonSet();
    world.rollout(complete());
    const ran = await world.run(['wait', 'web']);
    assert.deepEqual(ran, { code: 0, stdout: '3 of 3 online nodes run web-new.\n', stderr: '' });
  });

  it('ignores the policy of a complete rollout', async () => {
    world.daemonSet({ 'edgeset.io/partition': '0' });
    world.rollout(complete({ policyHash: 'another' }));
    assert.equal((await world.run(['wait', 'web'])).code, 0);
  });

  it('compares the policy with its plan, if the user may read that', async () => {
    const plans = '/apis/edgeset.io/v1alpha1/namespaces/shop/rolloutplans';
    const plan = planWith('RolloutPlan', { name: 'rings', namespace: 'shop' }, [{ name: 'lab' }]);
    const annotations = { 'edgeset.io/rollout-plan': 'rings' };
    const withIt = withPlan(policyOf(annotations), () => plan);
    const policyHash = withIt.kind === 'on' ? withIt.hash : '';
    const wait = (hash: string) => {
      world.daemonSet(annotations);
      world.rollout(stalled({ policyHash: hash }));
      return world.run(['wait', 'web', '--timeout=1s']);
    };
    assert.equal((await wait('')).code, 3, 'there is no such plan');
    world.api.put(plans, plan);
    assert.equal((await wait(policyHash)).code, 3);
    assert.equal((await wait('another')).code, 1, 'the plan was changed since');
    assert.equal((await wait('')).code, 1, 'it was created since');
    world.api.put(plans, { ...plan, spec: { after: [{ name: 'driver' }] } });
    assert.equal((await wait('')).code, 3, 'it may be in a cycle');
    world.api.fault = (_, path) => (path.startsWith(plans) ? { status: 403, reason: 'Forbidden' } : undefined);
    assert.equal((await wait('another')).code, 3);
  });

  it('exits with 3 when the rollout is stalled', async () => {
    world.daemonSet();
    world.rollout(stalled());
    const ran = await world.run(['wait', 'web']);
    assert.deepEqual(ran, { code: 3, stdout: '', stderr: 'The rollout is halted.\n' });
  });

  it('exits with 3 for an internal error only if that is about the current template', async () => {
    const failed = { conditions: [condition('Stalled', true, 'The manager cannot process Node n1.', 'InternalError')] };
    const wait = async (about: DaemonRolloutStatus, ready?: object): Promise<number> => {
      world.daemonSet({}, {}, { conditions: ready ? [{ type: 'Ready', reason: 'InternalError', ...ready }] : [] });
      world.rollout(complete({ ...failed, ...about }));
      return (await world.run(['wait', 'web', '--timeout=600ms'])).code;
    };
    assert.equal(await wait({}), 3);
    const before = { daemonSetGeneration: 1 };
    assert.equal(await wait(before), 1);
    assert.equal(await wait(before, { message: 'Observed generation 1.' }), 1);
    assert.equal(await wait(before, { message: 'Observed generation 2.' }), 3);
    assert.equal(await wait(before, { message: 'Why.', observedGeneration: 2 }), 3);
  });

  for (const [what, status, metadata] of [
    ['an earlier template', complete({ daemonSetGeneration: 1 }), {}],
    ['an earlier DaemonSet of the same name', complete(), { ownerReferences: [] }],
    ['an earlier policy that stalled it', stalled({ policyHash: 'before' }), {}],
  ] as const)
    it(`ignores a status about ${what}`, async () => {
      world.daemonSet();
      world.rollout(status, metadata);
      const { code, stderr } = await world.run(['wait', 'web', '--timeout', '700ms']);
      assert.equal(code, 1);
      assert.match(stderr, /^Waiting for the manager to observe the current (template|policy)\.\n/);
      assert.match(stderr, /^kubectl edgeset: not complete within 700ms: Waiting for the manager/m);
    });

  it('prints each change once on stderr, and the result on stdout', async () => {
    world.daemonSet();
    world.rollout(going());
    const output: string[] = [];
    const waiting = world.run(['wait', 'web'], { stderr: (text) => output.push(text) });
    await eventually('the first', () => output.length === 1);
    const asked = world.api.requests.length;
    await eventually('two more looks', () => world.api.requests.length >= asked + 4);
    world.rollout(going('2 of 3 online nodes run web-new.'));
    await eventually('the second', () => output.length === 2);
    world.rollout(complete());
    assert.deepEqual(await waiting, { code: 0, stdout: '3 of 3 online nodes run web-new.\n', stderr: '' });
    assert.deepEqual(output, ['1 of 3 online nodes run web-new.\n', '2 of 3 online nodes run web-new.\n']);
  });

  it('says how fast it goes and how long it takes, by the estimate of status', async () => {
    world.daemonSet();
    const estimatedFinishAt = new Date(Date.now() + 10 * 60_000).toISOString();
    const nodes = { online: 90, updated: 10, outdated: 70, broken: 0, updating: 10 } as NonNullable<
      DaemonRolloutStatus['nodes']
    >;
    world.rollout({ ...going(), nodes, estimatedFinishAt });
    const output: string[] = [];
    const waiting = world.run(['wait', 'web'], { stderr: (text) => output.push(text) });
    await eventually('the first', () => output.length === 1);
    const asked = world.api.requests.length;
    await eventually('two more looks', () => world.api.requests.length >= asked + 4);
    world.rollout(complete());
    await waiting;
    assert.deepEqual(output, ['1 of 3 online nodes run web-new. 8 nodes a minute, 10m left.\n'], 'once');
    for (const [left, minutes, pace] of [
      [1, 120, '1 node an hour, 2h left'],
      [30, 120, '15 nodes an hour, 2h left'],
      [10, 0.5, '20 nodes a minute, 30s left'],
      [10, 0.25, '15s left'],
      [0, 10, ''],
      [5, -1, ''],
    ] as const) {
      const status = {
        nodes: { ...nodes, outdated: left, updating: 0 },
        estimatedFinishAt: new Date(minutes * 60_000).toISOString(),
      };
      assert.equal(paceOf(status, 0), pace);
    }
  });

  it('redraws its line on a terminal', async () => {
    world.daemonSet();
    world.rollout(going());
    const output: string[] = [];
    const waiting = world.run(['wait', 'web'], { terminal: true, stderr: (text) => output.push(text) });
    await eventually('the first', () => output.length === 1);
    world.rollout(going('2 of 3.'));
    await eventually('the second', () => output.length === 2);
    const tty = terminal(80, 24);
    tty.write(output.join(''));
    assert.deepEqual(tty.lines(), ['2 of 3.']);
    world.rollout(complete());
    assert.equal((await waiting).code, 0);
    tty.write(output.slice(2).join(''));
    assert.deepEqual(tty.lines(), [''], 'the result takes its place');
    assert.equal(tty.isRestored(), true);
  });

  it('exits with 0 if a partition holds the other nodes, but not if an error does', async () => {
    const message = '1 of 3 online nodes run web-new.';
    const left = (cause: string): DaemonRolloutStatus =>
      complete({
        conditions: [condition('Complete', false, message), condition('Ready', false, message, 'LeftOnOldRevision')],
        causes: [{ phase: 'held', cause, count: 2 }],
      });
    world.daemonSet();
    world.rollout(left('partition'));
    const { code, stdout } = await world.run(['wait', 'web']);
    assert.equal(code, 0);
    assert.match(stdout, /^1 of 3 .* left on the old revision by the policy\.\n$/);
    world.rollout(left('refused'));
    assert.equal((await world.run(['wait', 'web', '--timeout', '600ms'])).code, 1);
  });

  it('survives an outage of the API server', async () => {
    world.daemonSet();
    world.rollout(going());
    const output: string[] = [];
    const waiting = world.run(['wait', 'web'], { stderr: (text) => output.push(text) });
    await eventually('the first look', () => output.length === 1);
    world.api.fault = () => 'reset';
    await eventually('the message', () => output.at(-1)?.startsWith('The API server is not responding'));
    world.rollout(complete());
    world.api.fault = () => undefined;
    assert.equal((await waiting).code, 0);
  });

  it('times out if the API server never responds', async () => {
    world.daemonSet();
    world.api.fault = () => 'hang';
    const { code, stderr } = await world.run(['wait', 'web', '--timeout', '300ms']);
    assert.equal(code, 1);
    assert.equal(stderr, 'kubectl edgeset: not complete within 300ms: no response\n');
  });

  it('exits with 1 when the DaemonSet is deleted', async () => {
    world.daemonSet();
    world.rollout(going());
    let output = '';
    const waiting = world.run(['wait', 'web'], { stderr: (text) => (output += text) });
    await eventually('the first look', () => output !== '');
    world.api.remove(SETS, 'web');
    assert.equal((await waiting).code, 1);
    assert.match(output, /DaemonSet shop\/web was deleted\n$/);
  });

  it('exits with 1 when it is interrupted', async () => {
    world.daemonSet();
    world.rollout(going());
    let output = '';
    const waiting = world.run(['wait', 'web'], { stderr: (text) => (output += text) });
    await eventually('the first look', () => output !== '');
    process.emit('SIGINT');
    assert.equal((await waiting).code, 1);
    assert.equal(process.listenerCount('SIGINT'), 0);
  });
});

describe('wait for a share of the nodes', () => {
  const world = createFakeCluster();
  const counts = (updated: number, offlineCurrent: number, more: DaemonRolloutStatus = {}): DaemonRolloutStatus => ({
    ...going('The rollout continues.'),
    target: { revision: 'web-new', hash: 'new', number: 2 },
    nodes: { eligible: 100, online: 90, updated } as NonNullable<DaemonRolloutStatus['nodes']>,
    causes: [
      { phase: 'offline', cause: 'offline-current', count: offlineCurrent },
      { phase: 'offline', cause: 'suspect', count: 1 },
    ],
    stragglers: [{ node: 'shop-17', lastSeen: '2020-01-01T00:00:00Z' }],
    ...more,
  });
  const wait = (...flags: string[]) => world.run(['wait', 'web', '--timeout', '10s', ...flags]);

  for (const [flags, status, code, says] of [
    [['--coverage', '99%'], counts(90, 0), 0, /^90 of 90 online nodes have web-new\.$/m],
    [['--coverage', '50%'], counts(45, 0), 0, /^45 of 90 online nodes have web-new \(45 are enough\)\.$/m],
    [['--coverage', '50%'], counts(44, 9), 1, /44 of 90 online nodes have web-new \(45 are enough\)/],
    [['--coverage', '46'], counts(46, 0), 0, /^46 of 90 online nodes have web-new \(46 are enough\)\.$/m],
    [
      ['--coverage', '99%', '--include-offline'],
      counts(90, 9),
      0,
      /^99 of 100 nodes have web-new \(99 are enough\)\.$/m,
    ],
    [['--coverage', '99%', '--include-offline'], counts(90, 8), 1, /98 of 100 nodes have web-new/],
    [
      ['--include-offline'],
      counts(90, 9, { stragglers: [{ node: 'shop-18', lastSeen: '1970-01-01T00:00:00Z' }] }),
      1,
      /with the time since: shop-18 \(never reported\)\./,
    ],
    [['--include-offline'], counts(90, 10), 0, /^100 of 100 nodes have web-new\.$/m],
    [
      ['--include-offline'],
      counts(90, 9, { conditions: complete().conditions ?? [] }),
      1,
      /Offline, with the time since: shop-17 \(\d+d\)/,
    ],
    [
      ['--coverage', '50%'],
      counts(90, 10, { conditions: [condition('Ready', false, 'Not observed.', 'TemplateNotObserved')] }),
      1,
      /Not observed\./,
    ],
  ] as const)
    it(`${flags.join(' ')}: exits with ${code} when ${says.source}`, async () => {
      world.daemonSet();
      world.rollout(status);
      const ran = await wait(...flags, ...(code === 1 ? ['--timeout', '700ms'] : []));
      assert.equal(ran.code, code);
      assert.match(ran.stdout + ran.stderr, says);
    });

  it('ends when the rollout is stalled before, and not when it is halted after', async () => {
    world.daemonSet();
    world.rollout({ ...counts(10, 0), ...stalled() });
    assert.equal((await wait('--coverage', '50%')).code, 3);
    world.rollout({ ...counts(80, 0), ...stalled() });
    assert.equal((await wait('--coverage', '50%')).code, 0);
  });

  for (const share of ['0', '0%', '101%', 'most', '-1'])
    it(`refuses --coverage=${share}`, async () => {
      const { code, stderr } = await wait(`--coverage=${share}`);
      assert.equal(code, 2);
      assert.match(
        stderr,
        /--coverage: ".*" is not a share of the nodes: give a percentage such as 99%, or a number of nodes/,
      );
    });
});
