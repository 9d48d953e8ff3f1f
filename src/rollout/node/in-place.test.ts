import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UpdateKind } from '../../words/index.ts';
import type { Step } from '../decision/action.ts';
import { restore, save } from '../fleet/persist.ts';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { createWorkbench, type Workbench } from '../testing/workbench.ts';

const down = { ready: false, readyChangedAt: 0 };
const types = (bench: Workbench): Step['type'][] => bench.steps().map(({ type }) => type);
const kinds = (bench: Workbench) =>
  bench

    .steps()
    .flatMap((action) =>
      action.type === 'reserve' ? [[action.node, action.kind] as [string, UpdateKind | undefined]] : [],
    );

/** `nodes` nodes that run `a` in pods with the gate; the target is `b`, to which they can be updated in place. */
const gatedBench = (nodes: number, change: Partial<Policy> = {}): Workbench => {
  const bench = createWorkbench({ inPlace: true, maxUnavailable: count(1), progressDeadlineMs: 60_000, ...change });
  bench.target('a');
  for (let index = 0; index < nodes; index += 1) {
    bench.node(`n${index}`);
    bench.pod(`n${index}`, 'a', { hasInPlaceGate: true });
  }
  bench.ledger.finishInitialSync();
  bench.advance(0);
  bench.target('b', 'a');
  return bench;
};

describe('an in-place update', () => {
  it('is chosen where policy, revisions and the gate of the pod allow it', () => {
    const bench = gatedBench(6, { maxUnavailable: count(6) });
    bench.change('n1', { revision: 'z' });
    bench.change('n2', { finished: 'Failed', ...down });
    bench.removePod('n3');
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

  it('is reserved, sent, under way once the pod is of the new revision, and completed by the same pod', () => {
    const bench = gatedBench(2);
    bench.reserve('n0', { kind: 'in-place' });
    assert.deepEqual(bench.steps(), [{ type: 'update-in-place', node: 'n0' }]);
    bench.ledger.noteEvent('n0', 'sent', bench.now());
    bench.change('n0', { updatingInPlace: true, ...down });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/reserved', []]);
    bench.change('n0', { revision: 'b' });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/changing', []]);
    assert.equal(bench.ledger.get('n0')?.update?.state, 'done');
    assert.deepEqual([bench.ledger.tally.down, bench.ledger.tally.inFlight, bench.ledger.tally.occupied], [1, 1, 1]);
    bench.finishInPlace('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.get('n0')?.update], ['updated/current', undefined]);
    assert.deepEqual(kinds(bench), [['n1', 'in-place']]);
  });

  it('that does not take the pod down completes at once', () => {
    const bench = gatedBench(2);
    bench.reserve('n0', { kind: 'in-place' });
    bench.change('n0', { revision: 'b' });
    assert.equal(bench.phase('n0'), 'updated/current');
    assert.deepEqual(kinds(bench), [['n1', 'in-place']]);
  });

  it('is reserved again on the current pod if it stopped between its two writes', () => {
    const bench = gatedBench(1);
    bench.reserve('n0', { kind: 'in-place', state: 'inherited' });
    bench.change('n0', { updatingInPlace: true, ...down });
    assert.deepEqual(kinds(bench), [['n0', 'in-place']]);
    bench.policy({ paused: true });
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: true }]);
    bench.ledger.noteEvent('n0', 'released', bench.now());
    assert.equal(bench.phase('n0'), 'broken/broken-by-older-update');
    bench.policy({ paused: false });
    assert.deepEqual(kinds(bench), [['n0', 'in-place']], 'in the slot that it still holds');
  });

  it('continues after its first write in whatever version the pod has, without another reservation', () => {
    const bench = gatedBench(1);
    bench.reserve('n0', { kind: 'in-place' });
    const begin = (): void => {
      bench.ledger.noteEvent('n0', 'sent', bench.now());
      bench.ledger.noteEvent('n0', 'outdated', bench.now(), { begunAt: bench.now() });
    };
    begin();
    bench.change('n0', { updatingInPlace: true });
    const change: Step[] = [{ type: 'update-in-place', node: 'n0' }];
    assert.deepEqual(bench.steps(), change);
    bench.advance(1_000);
    bench.change('n0', down);
    assert.deepEqual(bench.steps(), change, 'the kubelet has reported');
    bench.policy({ paused: true });
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: false }]);
    bench.policy({ paused: false });
    bench.advance(4_001);
    assert.deepEqual(kinds(bench), [['n0', 'in-place']], 'another process may lead by now');
    begin();
    bench.change('n0', { updatingInPlace: false });
    assert.deepEqual(kinds(bench), [['n0', 'in-place']], 'somebody has put the pod back into service');
  });

  it('holds its slot after its release between its two writes, until the pod is available again', () => {
    const bench = gatedBench(3);
    bench.policy({ minReadyMs: 5_000 });
    bench.reserve('n0', { kind: 'in-place' });
    const pod = bench.change('n0', { updatingInPlace: true, ...down });
    bench.ledger.noteEvent('n0', 'released', bench.now());
    const { inFlight, occupied, active } = bench.ledger.tally;
    assert.deepEqual([inFlight, occupied, active], [1, 1, 0]);
    bench.ledger.refuse('n0', 'no', bench.now());
    assert.deepEqual([bench.phase('n0'), bench.steps()], ['held/refused', []], 'no other node takes it');
    bench.advance(1_000);
    assert.deepEqual(bench.steps(), [{ type: 'reserve', node: 'n0', pod, kind: 'in-place' }]);
    assert.equal(save(bench.ledger).reservations?.length, 1, 'the next leader knows');
    bench.change('n0', { updatingInPlace: false, ready: true, readyChangedAt: bench.now() });
    assert.deepEqual([bench.ledger.tally.inFlight, bench.ledger.tally.down], [1, 1]);
    bench.advance(5_000);
    assert.equal(bench.ledger.tally.inFlight, 0);
  });

  it('that a decision releases leaves no slot free while its pod is out of service', () => {
    const bench = gatedBench(3);
    bench.reserve('n0', { kind: 'in-place', rollout: 0 });
    bench.change('n0', { updatingInPlace: true, ...down });
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: false }]);
  });

  it('becomes a deletion if the policy changes before it is sent', () => {
    const bench = gatedBench(1);
    bench.reserve('n0', { kind: 'in-place' });
    bench.policy({ inPlace: false });
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
    bench.reserve('n0');
    assert.deepEqual(types(bench), ['delete']);
  });

  it('is followed by the next one in its own slot if the target changes while it runs', () => {
    const bench = gatedBench(3);
    bench.updateInPlace('n0');
    bench.target('c', 'a', 'b');
    assert.equal(bench.phase('n0'), 'broken/broken-by-older-update');
    assert.deepEqual(kinds(bench), [['n0', 'in-place']]);
    bench.updateInPlace('n0');
    assert.equal(bench.ledger.get('n0')?.update?.state, 'done');
    assert.deepEqual(types(bench), []);
    bench.finishInPlace('n0');
    assert.deepEqual(kinds(bench), [['n1', 'in-place']]);
  });

  it('completes even if its target is a past one, and if the template was reverted', () => {
    const bench = gatedBench(1);
    bench.updateInPlace('n0');
    bench.target('c', 'b');
    bench.policy({ paused: true });
    bench.finishInPlace('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.inFlight], ['outdated/available', 0]);
    bench.target('b');
    assert.equal(bench.phase('n0'), 'updated/current');
  });

  it('of another process that the cache does not show yet keeps its node in flight', () => {
    const bench = gatedBench(2);
    const first = gatedBench(2);
    first.updateInPlace('n0');
    const saved = restore(save(first.ledger));
    bench.ledger.restore(saved.state, saved.updates, saved.forgiven, bench.now());
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.occupied], ['updating/changing', 1]);
    assert.deepEqual(types(bench), []);
    bench.change('n0', { revision: 'b' });
    assert.equal(bench.phase('n0'), 'updated/current');
  });

  it('that somebody reverted is detected', () => {
    const bench = gatedBench(1);
    bench.updateInPlace('n0');
    bench.target('a', 'b');
    bench.change('n0', { revision: 'a' });
    bench.finishInPlace('n0');
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.occupied], ['updated/current', 0]);
  });

  it('makes its node a suspect, even after a restart', () => {
    const bench = gatedBench(2);
    bench.updateInPlace('n0');
    bench.finishInPlace('n0');
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

  it('is not considered carried out if another write has changed the revision that it was reserved on', () => {
    const bench = gatedBench(1);
    bench.target('c', 'a', 'b');
    bench.reserve('n0', { kind: 'in-place' });
    bench.change('n0', { revision: 'b' });
    assert.equal(bench.ledger.get('n0')?.update?.state, 'reserved');
    assert.deepEqual(kinds(bench), [['n0', 'in-place']]);
  });

  it('that someone reverted by hand is a failure', () => {
    const bench = gatedBench(1);
    bench.updateInPlace('n0');
    bench.change('n0', { revision: 'x' });
    assert.equal(bench.phase('n0'), 'failed/came-back-old');
  });
});

describe('an in-place update that times out', () => {
  const late = (change: Partial<Policy> = {}): Workbench => {
    const bench = gatedBench(3, change);
    bench.updateInPlace('n0');
    bench.advance(59_999);
    assert.equal(bench.phase('n0'), 'updating/changing');
    bench.advance(1);
    return bench;
  };

  it('is followed by a new pod after the deadline, in its own slot, and counts as a failure only then', () => {
    const bench = late();
    assert.equal(bench.phase('n0'), 'broken/not-changed-in-time');
    assert.deepEqual([bench.ledger.tally.onlineFailures, kinds(bench)], [0, [['n0', undefined]]]);
    bench.reserve('n0');
    assert.deepEqual(bench.steps(), [{ type: 'delete', node: 'n0' }]);
    assert.equal(bench.ledger.state.updatesStarted, 1);
    bench.ledger.noteEvent('n0', 'confirmed', bench.now());
    bench.removePod('n0');
    assert.deepEqual(types(bench), []);
    bench.start('n0', 'b', down);
    bench.advance(60_000);
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.onlineFailures], ['failed/deadline', 1]);
  });

  it('is not touched once it works after all', () => {
    const bench = late();
    bench.reserve('n0');
    bench.finishInPlace('n0');
    assert.deepEqual(bench.nodesOf('release'), ['n0']);
    bench.ledger.noteEvent('n0', 'released', bench.now());
    assert.deepEqual([bench.phase('n0'), bench.ledger.state.updatesStarted], ['updated/current', 1]);
  });

  it('is a candidate again after its deletion was released', () => {
    const bench = late();
    bench.reserve('n0');
    bench.policy({ paused: true });
    bench.ledger.noteEvent('n0', 'released', bench.now());
    assert.equal(bench.phase('n0'), 'broken/not-changed-in-time');
    assert.deepEqual([bench.ledger.tally.occupied, types(bench)], [1, []]);
    bench.policy({ paused: false });
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
  });

  it('waits for its back-off where the API server refuses the deletion', () => {
    const bench = late();
    bench.reserve('n0');
    bench.ledger.noteEvent('n0', 'sent', bench.now());
    bench.ledger.noteEvent('n0', 'refused', bench.now());
    bench.ledger.refuse('n0', 'no', bench.now());
    bench.reserve('n0');
    assert.deepEqual(bench.nodesOf('delete'), []);
    bench.advance(1_000);
    assert.deepEqual(bench.nodesOf('delete'), ['n0']);
  });

  it('does not apply to a pod that others recreated', () => {
    const bench = late();
    bench.reserve('n0');
    bench.policy({ paused: true });
    bench.ledger.noteEvent('n0', 'released', bench.now());
    bench.removePod('n0');
    bench.start('n0', 'b', down);
    bench.advance(60_000);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });

  it('counts its trouble at once, and never deletes a ready pod', () => {
    const bench = gatedBench(2, { minReadyMs: 120_000 });
    bench.updateInPlace('n0');
    bench.change('n0', { trouble: 'image-pull' });
    assert.deepEqual([bench.phase('n0'), bench.ledger.tally.onlineFailures], ['failed/image-pull', 1]);
    bench.change('n0', { trouble: undefined, updatingInPlace: false, ready: true, readyChangedAt: bench.now() });
    bench.advance(61_000);
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/ready-too-short', []]);
  });

  it('counts from the update, not from when the old pod went down', () => {
    const bench = gatedBench(1);
    bench.change('n0', down);
    bench.advance(600_000);
    bench.updateInPlace('n0');
    bench.advance(59_000);
    assert.equal(bench.phase('n0'), 'updating/changing');
  });

  it('is not updated while it is not selected, or has just returned', () => {
    const bench = late();
    bench.node('n0', { selected: false });
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/changing', []]);
    bench.node('n0', { selected: true });
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
    bench.policy({ settleMs: 90_000 });
    bench.offline('n0');
    bench.online('n0');
    bench.advance(60_000);
    assert.deepEqual([bench.phase('n0'), types(bench)], ['updating/changing', []]);
    bench.advance(30_000);
    assert.deepEqual(kinds(bench), [['n0', undefined]]);
  });
});

describe('the reservation of an in-place update', () => {
  it('is saved with its kind and original revision, and restored', () => {
    const bench = gatedBench(2, { maxUnavailable: count(2) });
    bench.reserve('n0', { kind: 'in-place' });
    bench.updateInPlace('n1');
    bench.advance(60_000);
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
      assert.deepEqual(updates.get(name), { ...bench.ledger.get(name)?.update, state: 'inherited' });
  });
});
