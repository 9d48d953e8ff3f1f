import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count, percent } from '../policy/int-or-percent.ts';
import { benchAt, imagesOf, type Workbench } from '../testing/workbench.ts';
import type { Step } from './action.ts';

const types = (bench: Workbench): Step['type'][] => bench.steps().map(({ type }) => type);
const holdOf = (bench: Workbench): string | undefined => bench.decide().summary.hold?.kind;
const broken = { ready: false, readyChangedAt: 0 };

describe('slots', () => {
  it('are reserved up to the budget, and again as soon as one is free', () => {
    const bench = benchAt(5, { maxUnavailable: count(2) });
    const [first = '', second = ''] = bench.nodesOf('reserve');
    bench.deletePod(first, second);
    assert.deepEqual(types(bench), []);
    bench.start(first, 'b', broken);
    assert.deepEqual(types(bench), []);
    bench.change(first, { ready: true, readyChangedAt: bench.now() });
    assert.equal(bench.nodesOf('reserve').length, 1);
  });

  it('are held until the new pod has been ready for minReadySeconds', () => {
    const bench = benchAt(3, { maxUnavailable: count(1), minReadyMs: 5_000 });
    bench.update('b', 'n0');
    assert.deepEqual(types(bench), []);
    assert.equal(bench.decide().wakeAt, bench.now() + 5_000);
    bench.advance(4_999);
    assert.deepEqual(types(bench), []);
    bench.advance(1);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
  });

  it('count nodes that are down without an update', () => {
    for (const harm of ['no pod', 'not ready', 'terminating', 'two pods', 'new and not ready'] as const) {
      const bench = benchAt(4, { maxUnavailable: count(1) });
      if (harm === 'no pod') bench.removePod('n3');
      if (harm === 'not ready') bench.change('n3', broken);
      if (harm === 'terminating') bench.change('n3', { terminating: true });
      if (harm === 'two pods') bench.pod('n3', 'a', { ...broken, createdAt: 0 });
      if (harm === 'new and not ready') {
        bench.removePod('n3');
        bench.start('n3', 'b', broken);
      }
      assert.deepEqual(bench.nodesOf('reserve'), harm === 'not ready' ? ['n3'] : [], harm);
    }
  });

  it('go to broken nodes first, up to the limit in flight', () => {
    const bench = benchAt(6, { maxUnavailable: count(2) });
    for (const node of ['n3', 'n4', 'n5']) bench.change(node, broken);
    const first = bench.nodesOf('reserve');
    bench.update('b', ...first);
    const second = bench.nodesOf('reserve');
    assert.deepEqual([...first, ...second.slice(0, 1)].toSorted(), ['n3', 'n4', 'n5']);
    assert.equal(second.length, 2);
  });

  it('are not reserved for nodes that are offline, settling, held, or in back-off', () => {
    const bench = benchAt(5, { maxUnavailable: percent(100) });
    bench.offline('n0');
    bench.offline('n1');
    bench.online('n1');
    bench.node('n2', { selected: false });
    bench.ledger.refuse('n3', 'no', bench.now());
    assert.deepEqual(bench.nodesOf('reserve'), ['n4']);
    bench.advance(999);
    assert.deepEqual(bench.nodesOf('reserve'), ['n4']);
    bench.advance(1);
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n3', 'n4']);
    bench.advance(9_000);
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n1', 'n3', 'n4']);
  });

  it('are free as soon as the node goes offline, even with a budget of one', () => {
    const bench = benchAt(3, { maxUnavailable: count(1) });
    bench.deletePod('n0');
    bench.offline('n0');
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    bench.deletePod('n1');
    bench.online('n0');
    assert.equal(bench.ledger.tally.inFlight, 2, 'a returned suspect may exceed the budget');
    bench.start('n1', 'b');
    assert.deepEqual(bench.nodesOf('reserve'), [], 'and nothing starts until then');
    bench.start('n0', 'b');
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
  });

  it('of one decision are limited, and the next decision follows', () => {
    const bench = benchAt(1_200, { maxUnavailable: percent(100) });
    const first = bench.nodesOf('reserve');
    assert.equal(first.length, 500);
    for (const node of first) bench.reserve(node);
    assert.equal(bench.nodesOf('reserve').length, 500);
  });
});

describe('repair by a newer target', () => {
  it('uses the slots that the broken nodes hold, even if that is the whole budget', () => {
    const bench = benchAt(4, { maxUnavailable: count(2) });
    bench.deletePod('n0', 'n1');
    bench.start('n0', 'b', broken);
    bench.start('n1', 'b', broken);
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.target('c');
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n0', 'n1']);
    bench.deletePod('n0');
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    bench.deletePod('n1');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.start('n0', 'c');
    assert.equal(bench.nodesOf('reserve').length, 1);
  });

  it('continues within the budget if more nodes are broken than it allows', () => {
    const bench = benchAt(4, { maxUnavailable: count(3) });
    for (const node of ['n0', 'n1', 'n2']) {
      bench.deletePod(node);
      bench.start(node, 'b', broken);
    }
    bench.policy({ maxUnavailable: count(1) });
    bench.target('c');
    const first = bench.nodesOf('reserve');
    bench.deletePod(...first);
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.start(first.join(), 'c');
    const second = bench.nodesOf('reserve');
    assert.equal(new Set([...first, ...second, 'n3']).size, 3, 'broken nodes come first, one at a time');
  });

  it('leaves a ready pod that is about to be available to the common budget', () => {
    const bench = benchAt(4, { maxUnavailable: count(2), minReadyMs: 5_000 });
    bench.deletePod('n0', 'n1');
    bench.start('n0', 'b', { readyChangedAt: bench.now() });
    bench.start('n1', 'b', broken);
    bench.target('c');
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n0', 'n1']);
    bench.policy({ maxUnavailable: count(1), minReadyMs: 5_000 });
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    bench.reserve('n1');
    assert.deepEqual(bench.nodesOf('delete'), ['n1']);
  });

  it('keeps the older update in its slot when it is released', () => {
    const bench = benchAt(2, { maxUnavailable: count(1) });
    bench.deletePod('n0');
    bench.start('n0', 'b', broken);
    bench.target('c');
    bench.reserve('n0');
    bench.policy({ paused: true });
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: false }]);
    bench.ledger.noteEvent('n0', 'released', bench.now());
    assert.equal(bench.ledger.tally.inFlight, 1);
    assert.equal(bench.phase('n0'), 'broken/broken-by-older-update');
    bench.policy({ paused: false });
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });

  it('can go back from b to a as a new rollout', () => {
    const bench = benchAt(3, { maxUnavailable: count(1) });
    bench.update('b', 'n0');
    bench.deletePod('n1');
    bench.target('a');
    assert.equal(bench.ledger.state.rollout, 3);
    assert.equal(bench.phase('n2'), 'updated/current');
    bench.start('n1', 'b');
    bench.update('a', ...bench.nodesOf('reserve'));
    bench.update('a', ...bench.nodesOf('reserve'));
    assert.deepEqual(types(bench), ['complete']);
  });
});

describe('holds', () => {
  const holds: [string, (bench: Workbench) => void][] = [
    ['paused', (bench) => bench.policy({ paused: true })],
    ['frozen', (bench) => bench.policy({ maxUnavailable: percent(0) })],
    ['owner', (bench) => bench.policy({ strategy: 'ota' })],
    ['unobserved', (bench) => bench.hold({ kind: 'unobserved' })],
    ['invalid', (bench) => bench.hold({ kind: 'invalid', errors: [] })],
    [
      'halted',
      (bench) => bench.ledger.patchState({ halted: { at: 0, reason: 'Failures', nodes: ['x'] } }, bench.now()),
    ],
    [
      'waiting',
      (bench) => {
        bench.policy({ failureThreshold: count(1) });
        bench.deletePod('n3');
        bench.offline('n3');
      },
    ],
  ];
  for (const [kind, begin] of holds)
    it(`${kind}: starts nothing, even on broken nodes, and releases what was not sent`, () => {
      const bench = benchAt(4, { maxUnavailable: count(2) });
      bench.change('n1', broken);
      bench.reserve('n0');
      begin(bench);
      assert.equal(holdOf(bench), kind);
      const actions = bench.steps();
      assert.deepEqual(
        actions.filter(({ type }) => type !== 'announce'),
        [{ type: 'release', node: 'n0', fence: false }],
      );
    });

  it('unsynced: neither starts nor releases updates', () => {
    const bench = benchAt(3, { maxUnavailable: count(2) });
    bench.reserve('n0');
    bench.hold({ kind: 'unsynced' });
    assert.deepEqual(bench.steps(), []);
  });
});

describe('an unconfirmed update', () => {
  const settle = (state: 'inherited' | 'unsure' | 'reserved' | 'sending') => {
    const bench = benchAt(3, { maxUnavailable: count(1) });
    bench.reserve('n0', { state });
    return bench;
  };

  for (const stage of ['inherited', 'unsure', 'reserved'] as const) {
    it(`${stage}: is carried out while it is wanted`, () => {
      assert.deepEqual(settle(stage).steps(), [{ type: 'delete', node: 'n0' }]);
    });
    it(`${stage}: is reserved again if its pod has changed`, () => {
      const bench = settle(stage);
      const pod = bench.change('n0', { detail: 'x' });
      assert.deepEqual(bench.steps(), [{ type: 'reserve', node: 'n0', pod }]);
    });
    it(`${stage}: is released, ${stage === 'reserved' ? 'and its slot reused' : 'with a fence that holds the slot'}`, () => {
      const bench = settle(stage);
      bench.offline('n0');
      bench.online('n0');
      const release = { type: 'release', node: 'n0', fence: stage !== 'reserved' };
      const [first, second] = bench.steps();
      assert.deepEqual(first, release);
      assert.equal(second?.type, stage === 'reserved' ? 'reserve' : undefined);
    });
    it(`${stage}: waits until its back-off ends`, () => {
      const bench = settle(stage);
      bench.ledger.refuse('n0', 'no answer', bench.now());
      assert.deepEqual(bench.steps(), []);
      assert.equal(bench.decide().wakeAt, bench.now() + 1_000);
      bench.advance(1_000);
      assert.deepEqual(bench.nodesOf('delete'), ['n0']);
    });
  }

  it('sending: is not touched', () => assert.deepEqual(settle('sending').steps(), []));

  it('is carried out once its pod is gone, and holds its slot until the new one is available', () => {
    const bench = settle('unsure');
    bench.removePod('n0');
    assert.equal(bench.ledger.get('n0')?.update?.state, 'unproven');
    assert.deepEqual(bench.steps(), []);
    bench.start('n0', 'b');
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
  });

  it('is released when another pod goes down by itself and uses the room', () => {
    const bench = settle('reserved');
    bench.removePod('n2');
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: false }]);
  });

  it('is released while another pod terminates on its node', () => {
    const bench = settle('reserved');
    const pod = bench.last('n0')!;
    bench.ledger.setPod({ ...pod, uid: 'other', terminating: true }, bench.now());
    assert.deepEqual(bench.steps()[0], { type: 'release', node: 'n0', fence: false });
  });

  it('of an older target is released', () => {
    const bench = settle('reserved');
    bench.target('c');
    assert.equal(bench.steps()[0]?.type, 'release');
  });

  it('on a node that is gone is released', () => {
    const bench = settle('inherited');
    bench.ledger.removeNode('n0', bench.now());
    assert.deepEqual(bench.steps()[0], { type: 'release', node: 'n0', fence: true });
    bench.ledger.noteEvent('n0', 'released', bench.now());
    bench.removePod('n0');
    assert.equal(bench.ledger.get('n0'), undefined);
  });
});

describe('a decision', () => {
  it('is the same when made twice, and changes nothing', () => {
    const bench = benchAt(6, { maxUnavailable: count(2) });
    bench.change('n4', broken);
    bench.deletePod('n0');
    const before = structuredClone([...bench.ledger.records()]);
    const first = structuredClone(bench.decide());
    assert.deepEqual(bench.decide(), first);
    assert.deepEqual([...bench.ledger.records()], before);
  });
});

describe('the strategy manual', () => {
  it('starts nothing, whatever is outdated or failing, and completes when a user has deleted the pods', () => {
    const bench = benchAt(3, { strategy: 'manual', maxUnavailable: count(3), failureThreshold: count(1) });
    assert.deepEqual([holdOf(bench), types(bench)], ['manual', []]);
    bench.removePod('n0');
    assert.equal(bench.phase('n0'), 'updating/no-pod-yet');
    bench.start('n0', 'b', { ready: false, trouble: 'crash-loop' });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['failed/crash-loop', []]);
    bench.change('n0', { ready: true, readyChangedAt: bench.now(), trouble: undefined });
    for (const node of ['n1', 'n2']) {
      bench.removePod(node);
      bench.start(node, 'b');
    }
    assert.deepEqual([holdOf(bench), types(bench)], ['manual', ['complete']]);
  });
});

describe('a pod that is prepared for deletion', () => {
  const prepared = (): Workbench => {
    const bench = benchAt(1, { maxUnavailable: count(1) });
    bench.reserve('n0');
    bench.change('n0', { preparingDelete: true });
    return bench;
  };
  it('is down, in its slot, and reserved again and deleted when possible', () => {
    const bench = prepared();
    assert.deepEqual([bench.ledger.tally.down, bench.ledger.tally.occupied], [1, 1]);
    assert.deepEqual(types(bench), ['reserve']);
    bench.reserve('n0');
    assert.deepEqual(bench.nodesOf('delete'), ['n0']);
    bench.change('n0', { terminating: true });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/terminating', []]);
  });
  it('releases its slot when the deletion is no longer wanted, and is a candidate again after the release', () => {
    const bench = prepared();
    bench.policy({ paused: true });
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: false }]);
    bench.ledger.noteEvent('n0', 'released', bench.now());
    assert.equal(bench.phase('n0'), 'updating/preparing');
    bench.policy({ paused: false });
    assert.deepEqual(types(bench), [], 'it counts as down and is no candidate');
    bench.change('n0', { preparingDelete: false });
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });
  it('is not a failure of the revision, however long it takes', () => {
    const bench = benchAt(1, { progressDeadlineMs: 1_000 });
    bench.update('b', 'n0');
    bench.change('n0', { preparingDelete: true });
    bench.advance(60_000);
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.onlineFailures], ['updating/preparing', 0]);
  });
});

describe('required images', () => {
  it('hold every update of their node, even of broken pods, and no other node', () => {
    const bench = benchAt(3, { maxUnavailable: count(3), predownload: 'required' });
    bench.change('n0', broken);
    assert.deepEqual([bench.phase('n0'), bench.nodesOf('reserve')], ['held/image', []]);
    bench.change('n1', imagesOf('a', 'present'));
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.change('n1', imagesOf('b', 'present'));
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    bench.reserve('n1');
    bench.target('c');
    assert.deepEqual(bench.nodesOf('release'), ['n1']);
  });
});

describe('a whole rollout', () => {
  it('updates each node once, and as many at a time as the budget allows', () => {
    const bench = benchAt(40, { maxUnavailable: count(10) });
    const waves: number[] = [];
    for (let nodes = bench.nodesOf('reserve'); nodes.length > 0; nodes = bench.nodesOf('reserve')) {
      waves.push(nodes.length);
      bench.update('b', ...nodes);
    }
    assert.deepEqual(waves, [10, 10, 10, 10]);
    assert.equal(bench.ledger.state.updatesStarted, 40);
    assert.deepEqual(types(bench), ['complete']);
  });

  it('that surges takes no node down', () => {
    const bench = benchAt(40, { maxUnavailable: count(0), maxSurge: count(10) });
    for (let wave = 0; wave < 4; wave += 1) {
      const nodes = bench.nodesOf('reserve');
      assert.equal(nodes.length, 10);
      for (const node of nodes) {
        bench.surge(node);
        bench.change(node, { ready: true, readyChangedAt: bench.now() });
      }
      assert.equal(bench.ledger.tally.down, 0);
      assert.deepEqual(bench.nodesOf('reserve'), []);
      for (const action of bench.steps())
        if (action.type === 'delete-old') bench.ledger.removePod(action.pod.uid, bench.now());
    }
    assert.equal(bench.ledger.tally.phases.updated, 40);
  });
});
