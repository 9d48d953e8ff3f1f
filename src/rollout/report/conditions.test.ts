import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from '../policy/int-or-percent.ts';
import { benchAt, daemonSetName, type Workbench } from '../testing/workbench.ts';
import { conditionsOf, conditionsOnDaemonSet, summaryText } from './conditions.ts';

/** The conditions that kstatus reads, such as `Ready LeftOnOldRevision`: those that are True. */
const trueOnes = (bench: Workbench): string[] =>
  conditionsOf(bench.ledger, bench.decide().summary, daemonSetName)
    .filter(({ type, status }) => status && ['Ready', 'Reconciling', 'Stalled'].includes(type))
    .map(({ type, reason }) => `${type} ${reason}`);

const onDaemonSet = (bench: Workbench, generation = 3) =>
  conditionsOnDaemonSet(bench.ledger, bench.decide().summary, { generation, rollout: 'app', daemonSet: daemonSetName });

const isSubset = (some: readonly string[], all: readonly string[]): boolean => some.every((each) => all.includes(each));

describe('Ready', () => {
  it('is True once all online nodes are updated', () => {
    const bench = benchAt(2);
    assert.deepEqual(trueOnes(bench), ['Reconciling InProgress']);
    bench.target('a');
    assert.deepEqual(trueOnes(bench), ['Ready AllOnlineNodesUpdated']);
  });

  it('is True at the partition, unless a pod that is held there is down', () => {
    const bench = benchAt(2, { partition: count(2) });
    assert.deepEqual(trueOnes(bench), ['Ready LeftOnOldRevision']);
    bench.change('n0', { ready: false });
    assert.deepEqual(trueOnes(bench), []);
    assert.equal(onDaemonSet(bench)[0]?.status, false);
  });

  it('is True while others replace the pods, unless a pod is down', () => {
    const bench = benchAt(2, { strategy: 'manual' });
    assert.deepEqual(trueOnes(bench), ['Ready OnDelete']);
    bench.removePod('n1');
    assert.equal(trueOnes(bench).includes('Ready OnDelete'), false);
  });

  it('is False while the rollout is paused or stuck', () => {
    const bench = benchAt(2, { paused: true });
    assert.deepEqual(trueOnes(bench), ['Reconciling Paused']);
    bench.hold({ kind: 'invalid', errors: [] });
    assert.deepEqual(trueOnes(bench), ['Stalled InvalidPolicy']);
  });

  it('never appears at rest before the template is observed', () => {
    const bench = benchAt(2, { partition: count(2) });
    bench.hold({ kind: 'unobserved' });
    assert.deepEqual(trueOnes(bench), ['Reconciling TemplateNotObserved']);
    const [ready, reconciling] = onDaemonSet(bench);
    assert.deepEqual([ready?.status, reconciling?.status, reconciling?.reason], [false, true, 'InProgress']);
  });
});

describe('a condition about what holds the rollout', () => {
  it('has the reason of that, also after the last update', () => {
    const reasonsOf = (bench: Workbench): string[] =>
      conditionsOf(bench.ledger, bench.decide().summary, daemonSetName).map(
        ({ type, status, reason }) => `${type} ${status} ${reason}`,
      );
    const bench = benchAt(1, { paused: true });
    bench.target('a');
    assert.ok(isSubset(['Ready true AllOnlineNodesUpdated', 'Paused true Paused'], reasonsOf(bench)));
    bench.policy({ paused: false, maxUnavailable: count(0) });
    assert.ok(isSubset(['Complete true AllOnlineNodesUpdated', 'Paused true ZeroBudget'], reasonsOf(bench)));
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: ['n0'] } }, bench.now());
    assert.ok(isSubset(['Ready false Halted', 'Stalled true Halted', 'Paused false NotPaused'], reasonsOf(bench)));
    assert.deepEqual(
      onDaemonSet(bench).map(({ type, reason }) => `${type} ${reason}`),
      ['Ready Halted', 'Reconciling AllOnlineNodesUpdated', 'Stalled Halted', 'Paused NotPaused'],
    );
  });
});

describe('the summary', () => {
  const summaryOf = (bench: Workbench): string => summaryText(bench.ledger, bench.decide().summary);

  it('says what is invalid, if it is not the policy', () => {
    const bench = benchAt(2);
    bench.hold({ kind: 'invalid', errors: [] });
    assert.equal(summaryOf(bench), 'Invalid policy');
    bench.hold({ kind: 'invalid', errors: [], what: 'The DaemonSet is not valid' });
    assert.equal(summaryOf(bench), 'The DaemonSet is not valid');
  });

  it('names the controller of the pods that it waits for', () => {
    const bench = benchAt(2);
    bench.hold({ kind: 'unobserved' });
    assert.equal(summaryOf(bench), 'Waiting for the DaemonSet controller');
    bench.policy({ words: { ...bench.ledger.policy.words, podController: 'manager' } });
    assert.equal(summaryOf(bench), 'Waiting for the manager');
  });

  it('does not count failures of a halt that have recovered', () => {
    const bench = benchAt(2);
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: ['n0'] } }, bench.now());
    assert.equal(summaryOf(bench), 'Halted: failed nodes recovered');
  });
});

describe('the conditions on a DaemonSet', () => {
  it('do not change with the progress of the rollout, and name the generation', () => {
    const bench = benchAt(4);
    const before = onDaemonSet(bench);
    bench.update('b', 'n0');
    assert.deepEqual(onDaemonSet(bench), before);
    assert.equal(before[0]?.message, 'Observed generation 3.');
    assert.equal(before[1]?.message, 'DaemonRollout app shows the progress.');
    assert.notDeepEqual(onDaemonSet(bench, 4), before);
  });
});
