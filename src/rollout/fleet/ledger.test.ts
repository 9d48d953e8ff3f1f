import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NodeUpdate, pastUpdate } from '../node/update.ts';
import { count } from '../policy/int-or-percent.ts';
import { benchAt, createWorkbench, START, type Workbench } from '../testing/workbench.ts';
import { restore, save } from './persist.ts';

const down = { ready: false, readyChangedAt: 0 };
const inherited = (podUid: string, change: Partial<NodeUpdate> = {}): NodeUpdate => ({
  podUid,
  podName: podUid,
  podResourceVersion: '1',
  rollout: 2,
  at: START,
  state: 'inherited',
  ...change,
});
describe('a change', () => {
  it('applies the partition as soon as an update of a node that it keeps is confirmed', () => {
    const bench = benchAt(3, { partition: count(1) });
    const allowed = () => ['n0', 'n1', 'n2'].filter((node) => bench.ledger.get(node)?.partitionAllows);
    bench.reserve('n0');
    assert.deepEqual(allowed(), ['n1', 'n2']);
    bench.ledger.noteEvent('n0', 'confirmed', bench.now());
    assert.deepEqual(allowed(), ['n2']);
  });
});

describe('restore', () => {
  it('runs before or after the initial sync: no slot is lost because its pod or node is not listed yet', () => {
    const orders: ((bench: Workbench, steps: (() => void)[]) => void)[] = [
      (_, [a, b, c]) => [a, b, c].forEach((step) => step?.()),
      (_, [a, b, c]) => [c, b, a].forEach((step) => step?.()),
      (_, [a, b, c]) => [b, c, a].forEach((step) => step?.()),
      (_, [a, b, c]) => [a, c, b].forEach((step) => step?.()),
    ];
    for (const order of orders) {
      const bench = createWorkbench({ maxUnavailable: count(1) });
      bench.node('n1');
      bench.pod('n1', 'a');
      order(bench, [
        () => bench.node('n0'),
        () => bench.pod('n0', 'a', { uid: 'old', resourceVersion: '1' }),
        () => bench.restore({ n0: inherited('old'), n2: inherited('gone', { state: 'done' }) }),
      ]);
      bench.node('n2');
      bench.ledger.finishInitialSync();
      assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: true }]);
      assert.equal(bench.ledger.tally.inFlight, 2);
      assert.equal(bench.phase('n2'), 'updating/no-pod-yet');
    }
  });

  it('takes no absent pod for deleted where another process reserved the update: a fence tells', () => {
    const bench = createWorkbench();
    bench.node('n0');
    bench.restore({ n0: inherited('gone'), vanished: inherited('other') });
    assert.equal(bench.cause('n0'), 'reserved');
    bench.ledger.finishInitialSync();
    bench.advance(0);
    assert.deepEqual(bench.steps(), [
      { type: 'release', node: 'n0', fence: true },
      { type: 'release', node: 'vanished', fence: true },
    ]);
    for (const node of ['n0', 'vanished']) bench.ledger.noteEvent(node, 'confirmed', bench.now());
    assert.equal(bench.cause('n0'), 'no-pod-yet');
    assert.equal(bench.ledger.get('vanished'), undefined);
    bench.start('n0', 'b');
    assert.equal(bench.ledger.get('n0')?.update, undefined);
  });

  it('treats an update of its own as carried out once its pod is absent', () => {
    const bench = benchAt(1);
    bench.reserve('n0', { state: 'unsure' });
    bench.removePod('n0');
    assert.deepEqual(bench.steps(), []);
    assert.equal(bench.cause('n0'), 'no-pod-yet');
  });

  it('looks up an update that was recorded as carried out while its pod runs on', () => {
    const bench = benchAt(1, { progressDeadlineMs: 60_000 });
    const old = bench.last('n0')!;
    bench.restore({ n0: inherited(old.uid, { state: 'done', podName: '', podResourceVersion: '' }) });
    bench.ledger.finishInitialSync();
    const deadline = START + 60_000;
    assert.deepEqual(bench.steps(), []);
    assert.equal(bench.decide().wakeAt, deadline);
    bench.advance(deadline - bench.now());
    const update = bench.ledger.get('n0')?.update;
    assert.deepEqual([update?.state, update?.podName, update?.at], ['inherited', old.name, deadline]);
    assert.notDeepEqual(bench.steps(), [], 'its outcome is looked up');
  });

  it('keeps the state that this process knows, except that another process may have used the reservation', () => {
    for (const [before, after] of [
      ['reserved', 'inherited'],
      ['sending', 'resending'],
      ['unsure', 'unsure'],
      ['done', 'done'],
    ] as const) {
      const bench = benchAt(1);
      const pod = bench.pod('n0', 'a');
      bench.reserve('n0', { state: before });
      const theirs = inherited(pod.uid, { podResourceVersion: pod.resourceVersion });
      bench.restore({ n0: theirs });
      assert.equal(bench.ledger.get('n0')?.update?.state, after);
      if (before === 'done') continue;
      bench.restore({ n0: { ...theirs, podResourceVersion: '999' } });
      assert.equal(bench.ledger.get('n0')?.update?.state, 'inherited');
      assert.equal(bench.ledger.get('n0')?.update?.podResourceVersion, '999');
    }
  });

  it('drops updates that another process has settled', () => {
    const bench = benchAt(1);
    bench.reserve('n0', { state: 'unsure' });
    bench.restore({});
    assert.equal(bench.ledger.tally.inFlight, 0);
  });

  it('accepts no times in the future', () => {
    const bench = benchAt(1);
    bench.restore({ n0: inherited('x', { state: 'done', at: START + 600_000 }) });
    assert.equal(bench.ledger.get('n0')?.update?.at, START);
  });

  it('restores which nodes are forgiven', () => {
    const bench = benchAt(1);
    bench.deletePod('n0');
    bench.start('n0', 'b', { ...down, trouble: 'crash-loop' });
    assert.equal(bench.ledger.tally.onlineFailures, 1);
    bench.restore({ n0: { ...pastUpdate({ rollout: 2, at: START }), podUid: 'u1' } }, { forgiven: ['n0'] });
    assert.equal(bench.ledger.tally.onlineFailures, 0);
    assert.deepEqual(
      [...bench.ledger.forgiven()].map(({ name }) => name),
      ['n0'],
    );
  });
});

describe('an old pod in the place of the one that an update was for', () => {
  /** The watch was behind when the slot was reserved: somebody had deleted the pod before, and there is another one. */
  const behind = (state: NodeUpdate['state'] = 'unsure'): Workbench => {
    const bench = benchAt(2, { maxUnavailable: count(1) });
    bench.removePod('n1');
    bench.start('n1', 'b');
    bench.reserve('n0', { state });
    bench.removePod('n0');
    return bench;
  };
  for (const stage of ['reserved', 'sending', 'unsure'] as const)
    it(`says nothing about the target if no response confirmed the update (${stage})`, () => {
      for (const ready of [true, false]) {
        const bench = behind(stage);
        assert.equal(bench.ledger.tally.inFlight, 1, 'the slot is not free');
        bench.start('n0', 'a', { ready });
        assert.equal(bench.phase('n0'), ready ? 'outdated/available' : 'broken/broken-by-older-update');
        const { tally, state } = bench.ledger;
        assert.deepEqual([tally.inFlight, tally.onlineFailures, state.updatesStarted], [ready ? 0 : 1, 0, 0]);
        assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
        bench.update('b', 'n0');
        assert.deepEqual([bench.phase('n0'), bench.ledger.state.updatesStarted], ['updated/current', 1]);
      }
    });
  it('is a failure once a response confirmed the update, however late', () => {
    const bench = behind('sending');
    bench.ledger.noteEvent('n0', 'confirmed', bench.now());
    bench.start('n0', 'a');
    assert.equal(bench.phase('n0'), 'failed/came-back-old');
  });
  it('does not free the slot of an update whose pod is there again: only a fence does', () => {
    const bench = benchAt(1, { progressDeadlineMs: 60_000 });
    const pod = bench.last('n0')!;
    bench.reserve('n0', { state: 'unsure' });
    bench.ledger.removePod(pod.uid, bench.now());
    bench.ledger.setPod(pod, bench.now());
    bench.advance(60_000);
    bench.removePod('n0');
    bench.start('n0', 'a');
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n0', fence: true }]);
  });
  it('is judged alike by the process itself after it has read the rollout again, and by the next leader', () => {
    const bench = behind();
    const saved = restore(save(bench.ledger));
    const next = createWorkbench();
    next.node('n0');
    next.start('n0', 'a', { uid: 'another' });
    for (const { ledger, now } of [bench, next]) ledger.restore(saved.state, saved.updates, saved.forgiven, now());
    bench.start('n0', 'a');
    assert.equal(bench.phase('n0'), 'outdated/available');
    next.ledger.finishInitialSync();
    assert.deepEqual(next.steps(), [{ type: 'release', node: 'n0', fence: true }]);
    next.ledger.noteEvent('n0', 'gone', next.now());
    assert.equal(next.phase('n0'), 'outdated/available');
  });
  it('is no question any more once there is a pod of the target, whether it works or not', () => {
    const bench = behind();
    const state = (): string | undefined => restore(save(bench.ledger)).updates.get('n0')?.state;
    assert.equal(state(), 'inherited');
    bench.start('n0', 'b', { ready: false });
    assert.equal(state(), 'done');
  });
  it('is a failure if another process recorded the update as carried out', () => {
    const bench = behind();
    const { updates, state } = restore(save(bench.ledger));
    const theirs = { ...updates.get('n0')!, state: 'done' } as const;
    bench.ledger.restore(state, new Map([['n0', theirs]]), new Set(), bench.now());
    bench.start('n0', 'a');
    assert.equal(bench.phase('n0'), 'failed/came-back-old');
  });
});

describe('forgiveness', () => {
  const crash = { ...down, trouble: 'crash-loop' } as const;
  const forgiven = () => {
    const bench = benchAt(2);
    bench.deletePod('n0');
    bench.start('n0', 'b', crash);
    assert.deepEqual(bench.ledger.forgive(bench.now()), ['n0']);
    assert.equal(bench.ledger.tally.onlineFailures, 0);
    assert.equal(bench.ledger.tally.inFlight, 1, 'its slot is still in use');
    return bench;
  };
  it('ends once the node has worked again', () => {
    const bench = forgiven();
    bench.change('n0', { ready: true, trouble: undefined, readyChangedAt: bench.now() });
    bench.change('n0', crash);
    assert.equal(bench.ledger.tally.onlineFailures, 1);
  });
  it('ends with the next target', () => {
    const bench = forgiven();
    bench.target('c');
    bench.deletePod('n0');
    bench.start('n0', 'c', crash);
    assert.equal(bench.ledger.tally.onlineFailures, 1);
  });
  it('ends with the node', () => {
    const bench = forgiven();
    bench.ledger.removeNode('n0', bench.now());
    bench.node('n0');
    assert.equal(bench.ledger.tally.onlineFailures, 1);
  });
  it('retries a node whose pod came back old, in its own slot while it is down', () => {
    for (const ready of [true, false]) {
      const bench = benchAt(2, { maxUnavailable: count(1) });
      bench.update('b', 'n1');
      bench.deletePod('n0');
      bench.start('n0', 'a', { ready });
      assert.equal(bench.phase('n0'), 'failed/came-back-old');
      assert.equal(bench.ledger.tally.inFlight, ready ? 0 : 1);
      bench.ledger.forgive(bench.now());
      assert.equal(bench.phase('n0'), ready ? 'outdated/available' : 'broken/broken-by-older-update');
      assert.equal(bench.ledger.tally.inFlight, ready ? 0 : 1);
      assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    }
  });
});

describe('a refused update', () => {
  it('backs off by node from 1 s, doubling to 5 min, and starts over once an update is carried out', () => {
    const bench = benchAt(2);
    const waits: number[] = [];
    for (let tries = 0; tries < 11; tries += 1) {
      bench.reserve('n0');
      bench.ledger.noteEvent('n0', 'released', bench.now());
      bench.ledger.refuse('n0', 'forbidden', bench.now());
      const until = bench.ledger.get('n0')?.refused?.until ?? 0;
      waits.push((until - bench.now()) / 1_000);
      assert.equal(bench.phase('n0'), 'held/refused');
      assert.equal(bench.phase('n1'), 'outdated/available');
      bench.advance(until - bench.now());
      assert.equal(bench.phase('n0'), 'outdated/available');
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    bench.update('a', 'n0');
    assert.equal(bench.ledger.get('n0')?.refused, undefined);
  });
});

describe('a stale cache', () => {
  it('does not make a deleted pod a candidate', () => {
    const bench = benchAt(1, { maxUnavailable: count(2) });
    bench.reserve('n0');
    bench.ledger.noteEvent('n0', 'confirmed', bench.now());
    assert.equal(bench.phase('n0'), 'updating/terminating');
    assert.deepEqual(bench.steps(), []);
    assert.equal(bench.ledger.tally.down, 1);
  });
  it('moves a pod to its present node', () => {
    const bench = benchAt(2);
    bench.node('n2');
    bench.change('n0', { node: 'n2' });
    assert.equal(bench.phase('n0'), 'missing/no-pod');
    assert.equal(bench.phase('n2'), 'settling/returned');
  });
  it('keeps a pod without a Node, and removes records without either', () => {
    const bench = benchAt(0);
    bench.pod('late', 'a');
    assert.equal(bench.ledger.size, 1);
    assert.equal(bench.ledger.tally.eligible, 0);
    bench.node('late');
    assert.equal(bench.ledger.tally.eligible, 1);
    bench.ledger.removeNode('late', bench.now());
    bench.removePod('late');
    bench.ledger.removePod('nobody', bench.now());
    bench.ledger.removeNode('nowhere', bench.now());
    assert.equal(bench.ledger.size, 0);
  });
});

describe('a node that leaves and returns', () => {
  const cases: [string, (bench: Workbench) => void, (bench: Workbench) => void][] = [
    ['its Node object', (b) => b.ledger.removeNode('n0', b.now()), (b) => b.node('n0')],
    ['its eligibility', (b) => b.node('n0', { eligible: false }), (b) => b.node('n0', { eligible: true })],
  ];
  for (const [what, leave, comeBack] of cases)
    it(`leaks no slot by ${what}`, () => {
      const bench = benchAt(2, { maxUnavailable: count(1) });
      bench.deletePod('n0');
      leave(bench);
      assert.equal(bench.ledger.tally.inFlight, 0);
      comeBack(bench);
      bench.advance(10_000);
      assert.equal(bench.ledger.tally.inFlight, 0);
      assert.equal(bench.phase('n0'), 'missing/no-pod');
      assert.deepEqual(bench.nodesOf('reserve'), []);
      bench.start('n0', 'b');
      assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    });

  it('leaks no slot when the reserved pod is deleted by hand and comes up at the target', () => {
    const bench = benchAt(2, { maxUnavailable: count(1) });
    bench.reserve('n0');
    bench.removePod('n0');
    bench.start('n0', 'b');
    assert.equal(bench.ledger.get('n0')?.update, undefined);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
  });
});

describe('a clock that jumps', () => {
  it('back by 10 minutes makes nothing wait longer', () => {
    const bench = benchAt(3, { maxUnavailable: count(3), minReadyMs: 5_000 });
    bench.offline('n0');
    bench.online('n0');
    bench.update('b', 'n1');
    bench.ledger.refuse('n2', 'no', bench.now());
    bench.advance(0);
    bench.advance(-600_000);
    assert.equal(bench.decide().wakeAt, bench.now() + 5_000);
    assert.equal(bench.phase('n2'), 'outdated/available');
    bench.advance(5_000);
    assert.equal(bench.phase('n1'), 'updated/current');
    bench.advance(5_000);
    assert.equal(bench.phase('n0'), 'outdated/available');
  });
  it('back by 10 minutes leaves no time of a pod in the future', () => {
    const bench = benchAt(1);
    bench.deletePod('n0');
    bench.start('n0', 'b', down);
    bench.advance(-600_000);
    const [pod] = bench.ledger.get('n0')?.pods ?? [];
    assert.deepEqual([pod?.existsSince, pod?.firstSeenAt], [bench.now(), bench.now()]);
    bench.advance(bench.ledger.policy.progressDeadlineMs);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
  it('forward by 10 minutes judges updates early at worst, and they are cleared later', () => {
    const bench = benchAt(2);
    bench.deletePod('n0');
    bench.start('n0', 'b', down);
    bench.advance(600_000);
    assert.equal(bench.phase('n0'), 'failed/deadline');
    bench.change('n0', { ready: true, readyChangedAt: bench.now() });
    assert.equal(bench.phase('n0'), 'updated/current');
  });
});

describe('the mean time of an update', () => {
  it('is measured on completed updates, and not on suspects that returned', () => {
    const bench = benchAt(2);
    assert.equal(bench.ledger.meanUpdateMs, undefined);
    bench.deletePod('n0');
    bench.advance(8_000);
    bench.start('n0', 'b');
    assert.equal(bench.ledger.meanUpdateMs, 8_000);
    bench.offline('n0');
    bench.advance(100_000);
    bench.online('n0');
    assert.equal(bench.ledger.meanUpdateMs, 8_000);
    bench.deletePod('n1');
    bench.advance(24_000);
    bench.start('n1', 'b');
    assert.equal(bench.ledger.meanUpdateMs, 9_000);
    assert.deepEqual(bench.updateTimes, [8_000, 24_000]);
  });
});
