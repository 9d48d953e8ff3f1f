import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../test/support/index.ts';
import { type DaemonRolloutStatus, parsePolicy } from '../../rollout/index.ts';
import { createFakeCluster, SETS } from './testing/fake-cluster.ts';

const strategy = { 'apps.openyurt.io/update-strategy': 'auto' };

/** What a manager writes that has seen these annotations. */
const hashOf = (annotations: Record<string, string> = {}): string => {
  const policy = parsePolicy({
    annotations: { ...strategy, ...annotations },
    updateStrategyType: 'OnDelete',
    minReadySeconds: 0,
  });
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
  observedGeneration: 2,
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

  it('exits with 3 when the rollout is stalled', async () => {
    world.daemonSet();
    world.rollout(stalled());
    const ran = await world.run(['wait', 'web']);
    assert.deepEqual(ran, { code: 3, stdout: '', stderr: 'The rollout is halted.\n' });
  });

  for (const [what, status, metadata] of [
    ['an earlier template', complete({ observedGeneration: 1 }), {}],
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

  it('redraws its line on a terminal', async () => {
    world.daemonSet();
    world.rollout(going());
    const output: string[] = [];
    const waiting = world.run(['wait', 'web'], { terminal: true, stderr: (text) => output.push(text) });
    await eventually('the first', () => output.length === 1);
    world.rollout(going('2 of 3.'));
    await eventually('the second', () => output.length === 2);
    assert.equal(output[1], '\u001B[1A\u001B[0J2 of 3.\n');
    world.rollout(complete());
    assert.equal((await waiting).code, 0);
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
