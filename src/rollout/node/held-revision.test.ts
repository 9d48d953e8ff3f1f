import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openedStage } from '../plan/stage-state.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { benchAt, planOf, START, type Workbench } from '../testing/workbench.ts';

const stages = planOf({
  stages: [{ name: 'lab', nodes: { selector: { matchLabels: { ring: 'lab' } } }, promote: { soak: '1h' } }],
});
const named = { rolloutPlan: { name: 'plan', cluster: false } };

/** Nodes n0 to n3 run `a`, which is complete; the target is `b`. With a plan, n0 is in the open stage. */
const benchOf = (policy: Partial<Policy>): Workbench => {
  const bench = benchAt(4, { recreate: 'newest', maxUnavailable: percent(100), ...policy });
  bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
  for (let index = 0; index < 4; index += 1) bench.node(`n${index}`, { stages: index === 0 ? 3 : 2 });
  return bench;
};
/** What a new pod gets in place of the target, by node. */
const held = ({ ledger }: Workbench): string =>
  ['n0', 'n1', 'n2', 'n3'].map((name) => ledger.get(name)?.status.heldRevision ?? '-').join(' ');
const closed = (): Workbench => benchOf({ ...named, plan: stages });

describe('a pod that is created on a node that the plan keeps from the target', () => {
  it('is of the revision that was last complete', () => {
    const bench = closed();
    assert.equal(held(bench), '- a a a');
    bench.removePod('n0');
    bench.removePod('n1');
    assert.equal(held(bench), '- a a a', 'also without a pod');
    bench.node('n4', { stages: 2 });
    assert.equal(bench.ledger.get('n4')?.status.heldRevision, 'a', 'on a node that joins');
    const passed = {
      ...openedStage('lab', START, undefined),
      promoted: { at: START, how: 'ByHand', by: 'me' },
    } as const;
    bench.ledger.patchState({ stages: [passed] }, START);
    assert.equal(held(bench), '- - - -', 'until its stage opens');
  });

  it('is of the target where none was complete, or it is complete itself', () => {
    const bench = closed();
    bench.ledger.patchState({ lastComplete: undefined }, bench.now());
    assert.equal(held(bench), '- - - -');
    bench.ledger.patchState({ lastComplete: { name: 'set-b', hash: 'b' } }, bench.now());
    assert.equal(held(bench), '- - - -');
  });

  it('is of the target where that has run, or an update has begun: no node goes back', () => {
    const bench = closed();
    bench.removePod('n1');
    bench.start('n1', 'b');
    bench.removePod('n1');
    bench.change('n2', { revision: 'b', terminating: true });
    bench.deletePod('n3');
    assert.equal(held(bench), '- - - -');
  });

  it('is of that revision where an update has only been reserved, or was of another rollout', () => {
    const bench = closed();
    bench.reserve('n1');
    bench.deletePod('n2');
    bench.target('c');
    assert.equal(held(bench), '- a a a');
  });

  it('is of that revision in windows that are closed, and while the plan is missing or invalid', () => {
    const windows = planOf({ windows: [{ from: '03:00', to: '04:00' }] });
    assert.equal(held(benchOf({ ...named, plan: windows })), 'a a a a');
    assert.equal(held(benchOf({ ...named, plan: undefined })), 'a a a a');
    assert.equal(held(benchOf({ plan: undefined })), '- - - -', 'without a plan nothing is held back');
  });

  it('is of that revision before another DaemonSet, and on a node that is busy', () => {
    const bench = benchOf({ ...named, plan: planOf({ after: [{ name: 'driver' }] }) });
    bench.ledger.setWaitsFor('n1', 'driver', bench.now());
    bench.node('n2', { busy: 'label a=b' });
    assert.equal(held(bench), '- a a -');
  });

  it('is none of ours where another controller creates pods', () =>
    assert.equal(held(benchOf({ ...named, plan: stages, recreate: undefined })), '- - - -'));
});

describe('partition and node selector without a plan', () => {
  it('hold the newest revision back only where that is asked for', () => {
    assert.equal(held(benchOf({ partition: count(2) })), '- - - -');
    assert.equal(held(benchOf({ partition: count(2), recreate: 'held-revision' })), 'a a - -');
    const bench = benchOf({ recreate: 'held-revision' });
    bench.node('n3', { selected: false });
    assert.equal(held(bench), '- - - a');
  });

  it('a node that lost its pod takes a place of the partition only where its next pod is of the target', () => {
    for (const [recreate, expected] of [
      ['newest', ['n3']],
      ['held-revision', ['n3', 'n2']],
    ] as const) {
      const bench = benchOf({ partition: count(2), recreate });
      bench.removePod('n0');
      assert.deepEqual(bench.nodesOf('reserve').toSorted(), expected.toSorted(), recreate);
    }
    const bench = benchOf({ partition: count(2), recreate: 'held-revision' });
    bench.removePod('n3');
    assert.equal(held(bench), 'a a - -', 'which the partition permits');
    bench.start('n3', 'b');
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
  });

  it('a partition that is raised takes nothing back', () => {
    const bench = benchOf({ partition: count(2), recreate: 'held-revision' });
    bench.update('b', 'n3');
    bench.policy({ partition: count(4) });
    bench.removePod('n3');
    assert.equal(held(bench), 'a a a -');
  });
});
