import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { restore, save } from '../ledger/persist.ts';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import type { UpdateKind } from '../record/update.ts';
import { createWorkbench, type Workbench } from '../testing/workbench.ts';
import type { Action } from './decide.ts';

const down = { ready: false, readyChangedAt: 0 };
const types = (bench: Workbench): Action['type'][] => bench.decide().actions.map(({ type }) => type);
const kinds = (bench: Workbench) =>
  bench
    .decide()
    .actions.flatMap((action) =>
      action.type === 'reserve' ? [[action.node, action.kind] as [string, UpdateKind | undefined]] : [],
    );

/** `nodes` that run `a` in pods with the gate; the target is `b`, which they can become in place. */
const gatedBench = (nodes: number, change: Partial<Policy> = {}): Workbench => {
  const bench = createWorkbench({ inPlace: true, maxUnavailable: count(1), progressDeadlineMs: 60_000, ...change });
  bench.target('a');
  for (let index = 0; index < nodes; index += 1) {
    bench.node(`n${index}`);
    bench.pod(`n${index}`, 'a', { hasInPlaceGate: true });
  }
  bench.ledger.finishInitialSync();
  bench.pass(0);
  bench.target('b', 'a');
  return bench;
};

describe('a change in place', () => {
  it('is chosen where policy, revisions and the gate of the pod allow it', () => {
    const bench = gatedBench(6, { maxUnavailable: count(6) });
    bench.change('n1', { revision: 'z' });
    bench.change('n2', { finished: 'Failed', ...down });
    bench.gone('n3');
    bench.pod('n3', 'a');
    bench.change('n4', down);
    assert.deepEqual(Object.fromEntries(kinds(bench)), {
      n0: 'in-place',
      n1: undefined,
      n2: undefined,
      n3: undefined,
      n4: 'in-place',
      n5: 'in-place',
    });
    bench.policy({ inPlace: false });
    assert.deepEqual(new Set(kinds(bench).map(([, kind]) => kind)), new Set([undefined]));
  });

  it('is reserved, sent, under way once the pod is of the new revision, and healed by the same pod', () => {
    const bench = gatedBench(2);
    bench.reserve('n0', { kind: 'in-place' });
    assert.deepEqual(bench.decide().actions, [{ type: 'change', node: 'n0' }]);
    bench.ledger.setStage('n0', 'sending', bench.now());
    bench.change('n0', { updatingInPlace: true, ...down });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/reserved', []]);
    bench.change('n0', { revision: 'b' });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/changing', []]);
    assert.equal(bench.ledger.get('n0')?.update?.stage, 'done');
    assert.deepEqual([bench.ledger.tally.down, bench.ledger.tally.inFlight, bench.ledger.tally.occupied], [1, 1, 1]);
    bench.arrived('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.get('n0')?.update], ['updated/current', undefined]);
    assert.deepEqual(kinds(bench), [['n1', 'in-place']]);
  });

  it('that the pod need not be down for is healed at once', () => {
    const bench = gatedBench(2);
    bench.reserve('n0', { kind: 'in-place' });
    bench.change('n0', { revision: 'b' });
    assert.equal(bench.phase('n0'), 'updated/current');
    assert.deepEqual(kinds(bench), [['n1', 'in-place']]);
  });

  it('is reserved anew on the pod as it is, when it stopped between its two writes', () => {
    const bench = gatedBench(1);
    bench.reserve('n0', { kind: 'in-place', stage: 'inherited' });
    bench.change('n0', { updatingInPlace: true, ...down });
    assert.deepEqual(kinds(bench), [['n0', 'in-place']]);
    bench.policy({ paused: true });
    assert.deepEqual(bench.decide().actions, [{ type: 'release', node: 'n0', fence: true }]);
    bench.ledger.release('n0', bench.now());
    assert.equal(bench.phase('n0'), 'broken/broken-by-older-update');
    bench.policy({ paused: false });
    assert.deepEqual(kinds(bench), [['n0', 'in-place']], 'in the slot that it holds still');
  });

  it('holds its slot after it was taken back between its two writes, until the pod is available again', () => {
    const bench = gatedBench(3);
    bench.policy({ minReadyMs: 5_000 });
    bench.reserve('n0', { kind: 'in-place' });
    const pod = bench.change('n0', { updatingInPlace: true, ...down });
    bench.ledger.release('n0', bench.now());
    const { inFlight, occupied, trying } = bench.ledger.tally;
    assert.deepEqual([inFlight, occupied, trying], [1, 1, 0]);
    bench.ledger.refuse('n0', 'no', bench.now());
    assert.deepEqual([bench.phase('n0'), bench.decide().actions], ['held/refused', []], 'no other node takes it');
    bench.pass(1_000);
    assert.deepEqual(bench.decide().actions, [{ type: 'reserve', node: 'n0', pod, kind: 'in-place' }]);
    assert.equal(save(bench.ledger).reservations?.length, 1, 'a successor knows');
    bench.change('n0', { updatingInPlace: false, ready: true, readyChangedAt: bench.now() });
    assert.deepEqual([bench.ledger.tally.inFlight, bench.ledger.tally.down], [1, 1]);
    bench.pass(5_000);
    assert.equal(bench.ledger.tally.inFlight, 0);
  });

  it('that gives its slot back in a decision leaves none free while its pod is out of service', () => {
    const bench = gatedBench(3);
    bench.reserve('n0', { kind: 'in-place', rollout: 0 });
    bench.change('n0', { updatingInPlace: true, ...down });
    assert.deepEqual(bench.decide().actions, [{ type: 'release', node: 'n0', fence: false }]);
  });

  it('becomes a deletion when the policy asks for that before it is sent', () => {
    const bench = gatedBench(1);
    bench.reserve('n0', { kind: 'in-place' });
    bench.policy({ inPlace: false });
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
    bench.reserve('n0');
    assert.deepEqual(types(bench), ['delete']);
  });

  it('is followed by the next one in its own slot when the target changes under way', () => {
    const bench = gatedBench(3);
    bench.changeInPlace('n0');
    bench.target('c', 'a', 'b');
    assert.equal(bench.phase('n0'), 'broken/broken-by-older-update');
    assert.deepEqual(kinds(bench), [['n0', 'in-place']]);
    bench.changeInPlace('n0');
    assert.equal(bench.ledger.get('n0')?.update?.stage, 'done');
    assert.deepEqual(types(bench), []);
    bench.arrived('n0');
    assert.deepEqual(kinds(bench), [['n1', 'in-place']]);
  });

  it('heals also when its target is one of the past, and when the template was put back', () => {
    const bench = gatedBench(1);
    bench.changeInPlace('n0');
    bench.target('c', 'b');
    bench.policy({ paused: true });
    bench.arrived('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.inFlight], ['outdated/available', 0]);
    bench.target('b');
    assert.equal(bench.phase('n0'), 'updated/current');
  });

  it('of another process, which a watch does not show yet, leaves its node in flight', () => {
    const bench = gatedBench(2);
    const first = gatedBench(2);
    first.changeInPlace('n0');
    const saved = restore(save(first.ledger));
    bench.ledger.restore(saved.state, saved.updates, saved.forgiven, bench.now());
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.occupied], ['updating/changing', 1]);
    assert.deepEqual(types(bench), []);
    bench.change('n0', { revision: 'b' });
    assert.equal(bench.phase('n0'), 'updated/current');
  });

  it('that somebody took back to where it began is seen for what it is', () => {
    const bench = gatedBench(1);
    bench.changeInPlace('n0');
    bench.target('a', 'b');
    bench.change('n0', { revision: 'a' });
    bench.arrived('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.occupied], ['updated/current', 0]);
  });

  it('makes its node a suspect, after a restart too', () => {
    const bench = gatedBench(2);
    bench.changeInPlace('n0');
    bench.arrived('n0');
    const saved = restore(structuredClone(save(bench.ledger)));
    const next = createWorkbench({ inPlace: true });
    for (const name of ['n0', 'n1']) {
      next.node(name);
      next.pod(name, 'b', { hasInPlaceGate: true, gateChangedAt: name === 'n0' ? next.now() : 1 });
    }
    next.ledger.finishInitialSync();
    next.ledger.restore(saved.state, saved.updates, saved.forgiven, next.now());
    next.offline('n0', 'n1');
    assert.deepEqual([next.cause('n0'), next.cause('n1')], ['suspect', 'offline-current']);
  });

  it('is not taken to be done when another write has changed the revision that it was reserved on', () => {
    const bench = gatedBench(1);
    bench.target('c', 'a', 'b');
    bench.reserve('n0', { kind: 'in-place' });
    bench.change('n0', { revision: 'b' });
    assert.equal(bench.ledger.get('n0')?.update?.stage, 'reserved');
    assert.deepEqual(kinds(bench), [['n0', 'in-place']]);
  });

  it('that someone took back by hand is a failure', () => {
    const bench = gatedBench(1);
    bench.changeInPlace('n0');
    bench.change('n0', { revision: 'x' });
    assert.equal(bench.phase('n0'), 'failed/came-back-old');
  });
});

describe('a change in place that does not come to its end', () => {
  const late = (change: Partial<Policy> = {}): Workbench => {
    const bench = gatedBench(3, change);
    bench.changeInPlace('n0');
    bench.pass(59_999);
    assert.equal(bench.phase('n0'), 'updating/changing');
    bench.pass(1);
    return bench;
  };

  it('is followed by a new pod once the deadline has passed, in its own slot, and counts as a failure only then', () => {
    const bench = late();
    assert.equal(bench.phase('n0'), 'broken/not-changed-in-time');
    assert.deepEqual([bench.ledger.tally.onlineFailures, kinds(bench)], [0, [['n0', undefined]]]);
    bench.reserve('n0');
    assert.deepEqual(bench.decide().actions, [{ type: 'delete', node: 'n0' }]);
    assert.equal(bench.ledger.state.acted, 1);
    bench.ledger.setStage('n0', 'done', bench.now());
    bench.gone('n0');
    assert.deepEqual(types(bench), []);
    bench.start('n0', 'b', down);
    bench.pass(60_000);
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.onlineFailures], ['failed/deadline', 1]);
  });

  it('is left alone once it works after all', () => {
    const bench = late();
    bench.reserve('n0');
    bench.arrived('n0');
    assert.deepEqual(bench.nodesOf('release'), ['n0']);
    bench.ledger.release('n0', bench.now());
    assert.deepEqual([bench.phase('n0'), bench.ledger.state.acted], ['updated/current', 1]);
  });

  it('is a candidate again when its deletion was taken back', () => {
    const bench = late();
    bench.reserve('n0');
    bench.policy({ paused: true });
    bench.ledger.release('n0', bench.now());
    assert.equal(bench.phase('n0'), 'broken/not-changed-in-time');
    assert.deepEqual([bench.ledger.tally.occupied, types(bench)], [1, []]);
    bench.policy({ paused: false });
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
  });

  it('is not said of a pod that was made anew by others', () => {
    const bench = late();
    bench.reserve('n0');
    bench.policy({ paused: true });
    bench.ledger.release('n0', bench.now());
    bench.gone('n0');
    bench.start('n0', 'b', down);
    bench.pass(60_000);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });

  it('counts its trouble at once, and is no deletion of a pod that is ready', () => {
    const bench = gatedBench(2, { minReadyMs: 120_000 });
    bench.changeInPlace('n0');
    bench.change('n0', { trouble: 'image-pull' });
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.onlineFailures], ['failed/image-pull', 1]);
    bench.change('n0', { trouble: undefined, updatingInPlace: false, ready: true, readyChangedAt: bench.now() });
    bench.pass(61_000);
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/ready-too-short', []]);
  });

  it('counts from the act, not from when the old pod went down', () => {
    const bench = gatedBench(1);
    bench.change('n0', down);
    bench.pass(600_000);
    bench.changeInPlace('n0');
    bench.pass(59_000);
    assert.equal(bench.phase('n0'), 'updating/changing');
  });

  it('is not acted on while it is not selected, or only just back', () => {
    const bench = late();
    bench.node('n0', { selected: false });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/changing', []]);
    bench.node('n0', { selected: true });
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
    bench.policy({ settleMs: 90_000 });
    bench.offline('n0');
    bench.online('n0');
    bench.pass(60_000);
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/changing', []]);
    bench.pass(30_000);
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
  });
});

describe('a reservation of a change in place', () => {
  it('is written with its kind and the revision that it began from, and read back', () => {
    const bench = gatedBench(2, { maxUnavailable: count(2) });
    bench.reserve('n0', { kind: 'in-place' });
    bench.changeInPlace('n1');
    bench.pass(60_000);
    bench.reserve('n1');
    const saved = save(bench.ledger);
    assert.deepEqual(
      saved.reservations?.map(({ kind, podRevision, repairs }) => [kind, podRevision, repairs?.kind]),
      [
        ['in-place', 'a', undefined],
        [undefined, undefined, 'in-place'],
      ],
    );
    const { updates } = restore(structuredClone(saved));
    for (const name of ['n0', 'n1'])
      assert.deepEqual(updates.get(name), { ...bench.ledger.get(name)?.update, stage: 'inherited' });
  });
});
