import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from './int-or-percent.ts';
import { type Act, pastAct } from './record.ts';
import type { RolloutState } from './state.ts';
import { benchAt, createWorkbench, START, type Workbench } from './testing/workbench.ts';

const down = { ready: false, readyChangedAt: 0 };
const inherited = (podUid: string, change: Partial<Act> = {}): Act => ({
  podUid,
  podName: podUid,
  podResourceVersion: '1',
  rollout: 2,
  at: START,
  stage: 'inherited',
  ...change,
});
const saved = (change: Partial<RolloutState> = {}): RolloutState => ({
  rollout: 2,
  target: { name: 'set-b', hash: 'b', number: 2 },
  startedAt: START - 60_000,
  finishedAt: undefined,
  acted: 1,
  halted: undefined,
  resumed: undefined,
  lastComplete: undefined,
  ...change,
});
const restore = (bench: Workbench, acts: Record<string, Act>, forgiven: string[] = [], state = saved()): void =>
  bench.ledger.restore(state, new Map(Object.entries(acts)), new Set(forgiven), bench.now());

describe('the settle time', () => {
  it('is not asked of nodes that have long been Ready at first sight', () => {
    const bench = createWorkbench();
    bench.node('old', { readyChangedAt: START - 60_000 });
    bench.node('fresh', { readyChangedAt: START - 4_000 });
    bench.node('ahead', { readyChangedAt: START + 600_000 });
    bench.ledger.firstSightOver();
    bench.node('joined', { readyChangedAt: START - 60_000 });
    const settled = (): string[] =>
      [...bench.ledger.records()].flatMap(({ name, view }) => (view.settled ? [name] : []));
    assert.deepEqual(settled(), ['old']);
    assert.equal(bench.ledger.nextDueAt(), START + 6_000);
    bench.pass(6_000);
    assert.deepEqual(settled(), ['old', 'fresh']);
    bench.pass(4_000);
    assert.deepEqual(settled(), ['old', 'fresh', 'ahead', 'joined']);
  });

  it('begins anew with every return, also one that was missed', () => {
    const bench = benchAt(1);
    bench.offline('n0');
    bench.pass(1_000);
    bench.online('n0');
    bench.pass(9_000);
    assert.equal(bench.phase('n0'), 'settling/returned');
    bench.node('n0', { readyChangedAt: bench.now() });
    bench.pass(9_999);
    assert.equal(bench.phase('n0'), 'settling/returned');
    bench.pass(1);
    assert.equal(bench.phase('n0'), 'outdated/available');
  });
});

describe('a suspect', () => {
  const suspect = (change = {}) => {
    const bench = benchAt(3, { suspectWindowMs: 60_000, ...change });
    bench.update('b', 'n0');
    bench.pass(10_000);
    bench.offline('n0');
    return bench;
  };

  it('is a node that fell away after its act had healed, too', () => {
    const bench = suspect();
    assert.equal(bench.phase('n0'), 'offline/suspect');
    assert.equal(bench.decide().summary.breaker.suspects, 1);
    assert.equal(bench.ledger.tally.inFlight, 0);
  });
  it('is cleared when it is back and available', () => {
    const bench = suspect();
    bench.online('n0');
    assert.equal(bench.phase('n0'), 'updated/current');
    assert.equal(bench.ledger.get('n0')?.act, undefined);
    assert.equal(bench.decide().summary.breaker.suspects, 0);
  });
  it('is a failure when its window ends without it', () => {
    const bench = suspect();
    assert.equal(bench.decide().wakeAt, START + 60_000);
    bench.pass(50_000);
    assert.equal(bench.phase('n0'), 'offline/lost');
    const { breaker } = bench.decide().summary;
    assert.deepEqual([breaker.failures, breaker.suspects], [1, 0]);
  });
  it('is in flight again when it returned broken, and cleared once it works', () => {
    const bench = suspect();
    bench.pass(60_000);
    bench.change('n0', down);
    bench.online('n0');
    assert.equal(bench.phase('n0'), 'updating/starting');
    assert.equal(bench.ledger.tally.inFlight, 1);
    bench.change('n0', { ready: true, readyChangedAt: bench.now() });
    assert.equal(bench.ledger.tally.inFlight, 0);
    assert.equal(bench.decide().summary.breaker.failures, 0);
  });
  it('is none when it fell away later than the window, or without an act of ours', () => {
    const bench = benchAt(3, { suspectWindowMs: 60_000 });
    bench.update('b', 'n0');
    bench.pass(60_001);
    bench.offline('n0');
    bench.node('n9');
    bench.start('n9', 'b');
    bench.offline('n1', 'n9');
    bench.gone('n2');
    bench.start('n2', 'b');
    bench.offline('n2');
    assert.equal(bench.decide().summary.breaker.suspects, 0);
    assert.equal(bench.phase('n0'), 'offline/offline-current');
    assert.equal(bench.phase('n9'), 'offline/offline-current');
  });
  it('is none when an act that never healed is older than the window', () => {
    const bench = benchAt(2, { suspectWindowMs: 60_000 });
    bench.act('n0');
    bench.start('n0', 'b', down);
    bench.pass(60_001);
    bench.offline('n0');
    assert.equal(bench.phase('n0'), 'offline/offline-current');
    bench.online('n0');
    assert.equal(bench.ledger.tally.inFlight, 1);
  });
  it('of an older version does not speak against the new one', () => {
    const bench = suspect();
    bench.target('c');
    assert.equal(bench.decide().summary.breaker.suspects, 0);
  });
  it('is told by the age of its pod after a restart', () => {
    for (const [createdAt, startedAt, cause] of [
      [START - 20_000, START - 60_000, 'suspect'],
      [START - 20_000, START - 18_500, 'suspect'],
      [START - 20_000, START - 10_000, 'offline-current'],
      [START - 20_000, undefined, 'offline-current'],
      [START - 400_000, START - 500_000, 'offline-current'],
    ] as const) {
      const bench = createWorkbench();
      bench.node('n0');
      bench.pod('n0', 'b', { createdAt });
      bench.ledger.firstSightOver();
      restore(bench, {}, [], saved({ startedAt }));
      bench.offline('n0');
      assert.equal(bench.cause('n0'), cause, `${createdAt - START} ${startedAt}`);
    }
  });
});

describe('the progress deadline', () => {
  const started = (change = {}) => {
    const bench = benchAt(2, { progressDeadlineMs: 60_000, ...change });
    bench.act('n0');
    bench.pass(50_000);
    bench.start('n0', 'b', down);
    return bench;
  };
  it('counts from the new pod, however long the old one took to end', () => {
    const bench = started();
    bench.pass(59_999);
    assert.equal(bench.phase('n0'), 'updating/starting');
    bench.pass(1);
    assert.equal(bench.phase('n0'), 'failed/deadline');
    assert.equal(bench.ledger.tally.inFlight, 1, 'a failure keeps its slot');
  });
  it('is fresh after the node was away', () => {
    const bench = started();
    bench.offline('n0');
    bench.pass(600_000);
    bench.online('n0');
    bench.pass(59_999);
    assert.equal(bench.phase('n0'), 'updating/starting');
    bench.pass(1);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
  it('holds for a pod that is ready but never for long enough', () => {
    const bench = started({ minReadyMs: 10_000 });
    for (let round = 0; round < 10; round += 1) {
      bench.change('n0', { ready: true, readyChangedAt: bench.now() });
      bench.pass(5_000);
      bench.change('n0', down);
      bench.pass(1_000);
    }
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
  it('counts anew for a current pod that worked and then did not', () => {
    const bench = benchAt(1, { progressDeadlineMs: 60_000 });
    bench.update('b', 'n0');
    bench.pass(3_600_000);
    bench.change('n0', down);
    bench.pass(59_999);
    assert.equal(bench.phase('n0'), 'updating/not-ready');
    bench.pass(1);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
  it('counts from when the pod was ready last, at first sight', () => {
    const bench = createWorkbench({ progressDeadlineMs: 60_000 });
    bench.node('n0');
    bench.pod('n0', 'b', { ready: false, readyChangedAt: START - 10_000 });
    bench.target('b');
    assert.equal(bench.phase('n0'), 'updating/not-ready');
    bench.pass(50_000);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
});

describe('restore', () => {
  it('comes before or after the first sight: a slot is not lost because its pod or node is not listed yet', () => {
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
        () => restore(bench, { n0: inherited('old'), n2: inherited('gone', { stage: 'done' }) }),
      ]);
      bench.node('n2');
      bench.ledger.firstSightOver();
      assert.deepEqual(bench.decide().actions, [{ type: 'release', node: 'n0', fence: true }]);
      assert.equal(bench.ledger.tally.inFlight, 2);
      assert.equal(bench.phase('n2'), 'updating/no-pod-yet');
    }
  });

  it('takes an act for carried out whose pod is not there once everything is', () => {
    const bench = createWorkbench();
    bench.node('n0');
    restore(bench, { n0: inherited('gone'), vanished: inherited('other') });
    assert.equal(bench.cause('n0'), 'reserved');
    bench.ledger.firstSightOver();
    bench.pass(0);
    assert.equal(bench.cause('n0'), 'no-pod-yet');
    assert.equal(bench.ledger.get('vanished'), undefined);
    bench.start('n0', 'b');
    assert.equal(bench.ledger.get('n0')?.act, undefined);
  });

  it('keeps the stage that only this process knows, and no claim to be alone with a reservation', () => {
    for (const [before, after] of [
      ['reserved', 'inherited'],
      ['sending', 'sending'],
      ['unsure', 'unsure'],
      ['done', 'done'],
    ] as const) {
      const bench = benchAt(1);
      const pod = bench.pod('n0', 'a');
      bench.reserve('n0', { stage: before });
      const theirs = inherited(pod.uid, { podResourceVersion: pod.resourceVersion });
      restore(bench, { n0: theirs });
      assert.equal(bench.ledger.get('n0')?.act?.stage, after);
      if (before === 'done') continue;
      restore(bench, { n0: { ...theirs, podResourceVersion: '999' } });
      assert.equal(bench.ledger.get('n0')?.act?.stage, 'inherited');
      assert.equal(bench.ledger.get('n0')?.act?.podResourceVersion, '999');
    }
  });

  it('drops what another process has settled', () => {
    const bench = benchAt(1);
    bench.reserve('n0', { stage: 'unsure' });
    restore(bench, {});
    assert.equal(bench.ledger.tally.inFlight, 0);
  });

  it('takes no time from the future', () => {
    const bench = benchAt(1);
    restore(bench, { n0: inherited('x', { stage: 'done', at: START + 600_000 }) });
    assert.equal(bench.ledger.get('n0')?.act?.at, START);
  });

  it('takes over who was forgiven', () => {
    const bench = benchAt(1);
    bench.act('n0');
    bench.start('n0', 'b', { ...down, trouble: 'crash-loop' });
    assert.equal(bench.ledger.tally.onlineFailures, 1);
    restore(bench, { n0: { ...pastAct({ rollout: 2, at: START }), podUid: 'u1' } }, ['n0']);
    assert.equal(bench.ledger.tally.onlineFailures, 0);
    assert.deepEqual(
      [...bench.ledger.forgiven()].map(({ name }) => name),
      ['n0'],
    );
  });
});

describe('forgiveness', () => {
  const crash = { ...down, trouble: 'crash-loop' } as const;
  const forgiven = () => {
    const bench = benchAt(2);
    bench.act('n0');
    bench.start('n0', 'b', crash);
    assert.deepEqual(bench.ledger.forgive(bench.now()), ['n0']);
    assert.equal(bench.ledger.tally.onlineFailures, 0);
    assert.equal(bench.ledger.tally.inFlight, 1, 'its slot is still in use');
    return bench;
  };
  it('ends when the node has worked again', () => {
    const bench = forgiven();
    bench.change('n0', { ready: true, trouble: undefined, readyChangedAt: bench.now() });
    bench.change('n0', crash);
    assert.equal(bench.ledger.tally.onlineFailures, 1);
  });
  it('ends with the next target', () => {
    const bench = forgiven();
    bench.target('c');
    bench.act('n0');
    bench.start('n0', 'c', crash);
    assert.equal(bench.ledger.tally.onlineFailures, 1);
  });
  it('ends with the node', () => {
    const bench = forgiven();
    bench.ledger.removeNode('n0', bench.now());
    bench.node('n0');
    assert.equal(bench.ledger.tally.onlineFailures, 1);
  });
  it('lets a node that came back old be tried once more, in its own slot while it is down', () => {
    for (const ready of [true, false]) {
      const bench = benchAt(2, { maxUnavailable: count(1) });
      bench.act('n0');
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

describe('a refused act', () => {
  it('backs off by node from 1 s, doubling to 5 min, and begins anew once one was carried out', () => {
    const bench = benchAt(2);
    const waits: number[] = [];
    for (let tries = 0; tries < 11; tries += 1) {
      bench.reserve('n0');
      bench.ledger.release('n0', bench.now());
      bench.ledger.refuse('n0', 'forbidden', bench.now());
      const until = bench.ledger.get('n0')?.refused?.until ?? 0;
      waits.push((until - bench.now()) / 1_000);
      assert.equal(bench.phase('n0'), 'held/refused');
      assert.equal(bench.phase('n1'), 'outdated/available');
      bench.pass(until - bench.now());
      assert.equal(bench.phase('n0'), 'outdated/available');
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    bench.update('a', 'n0');
    assert.equal(bench.ledger.get('n0')?.refused, undefined);
  });
});

describe('views that are behind', () => {
  it('do not make a candidate of a pod that was deleted', () => {
    const bench = benchAt(1, { maxUnavailable: count(2) });
    bench.reserve('n0');
    bench.ledger.setStage('n0', 'done', bench.now());
    assert.equal(bench.phase('n0'), 'updating/terminating');
    assert.deepEqual(bench.decide().actions, []);
    assert.equal(bench.ledger.tally.down, 1);
  });
  it('do not bring back an older state of a pod', () => {
    const bench = benchAt(1);
    const old = bench.change('n0', { ready: true });
    bench.change('n0', { terminating: true });
    bench.ledger.setPod(old, bench.now());
    assert.equal(bench.phase('n0'), 'updating/terminating');
  });
  it('file a pod under the node that it is on now', () => {
    const bench = benchAt(2);
    bench.node('n2');
    bench.change('n0', { node: 'n2' });
    assert.equal(bench.phase('n0'), 'missing/no-pod');
    assert.equal(bench.phase('n2'), 'settling/returned');
  });
  it('keep a pod whose Node object is not known, and forget what has neither', () => {
    const bench = benchAt(0);
    bench.pod('late', 'a');
    assert.equal(bench.ledger.size, 1);
    assert.equal(bench.ledger.tally.eligible, 0);
    bench.node('late');
    assert.equal(bench.ledger.tally.eligible, 1);
    bench.ledger.removeNode('late', bench.now());
    bench.gone('late');
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
      bench.act('n0');
      leave(bench);
      assert.equal(bench.ledger.tally.inFlight, 0);
      comeBack(bench);
      bench.pass(10_000);
      assert.equal(bench.ledger.tally.inFlight, 0);
      assert.equal(bench.phase('n0'), 'missing/no-pod');
      assert.deepEqual(bench.nodesOf('reserve'), []);
      bench.start('n0', 'b');
      assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    });

  it('leaks no slot when the pod that was reserved is deleted by hand and comes up at the target', () => {
    const bench = benchAt(2, { maxUnavailable: count(1) });
    bench.reserve('n0');
    bench.gone('n0');
    bench.start('n0', 'b');
    assert.equal(bench.ledger.get('n0')?.act, undefined);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
  });
});

describe('a clock that jumps', () => {
  it('back by 10 minutes: nothing waits longer for it', () => {
    const bench = benchAt(3, { maxUnavailable: count(3), minReadyMs: 5_000 });
    bench.offline('n0');
    bench.online('n0');
    bench.update('b', 'n1');
    bench.ledger.refuse('n2', 'no', bench.now());
    bench.pass(0);
    bench.pass(-600_000);
    assert.equal(bench.decide().wakeAt, bench.now() + 5_000);
    assert.equal(bench.phase('n2'), 'outdated/available');
    bench.pass(5_000);
    assert.equal(bench.phase('n1'), 'updated/current');
    bench.pass(5_000);
    assert.equal(bench.phase('n0'), 'outdated/available');
  });
  it('forward by 10 minutes: acts are judged early at worst, and clear themselves', () => {
    const bench = benchAt(2);
    bench.act('n0');
    bench.start('n0', 'b', down);
    bench.pass(600_000);
    assert.equal(bench.phase('n0'), 'failed/deadline');
    bench.change('n0', { ready: true, readyChangedAt: bench.now() });
    assert.equal(bench.phase('n0'), 'updated/current');
  });
});

describe('the mean time that a node is down', () => {
  it('is taken from acts that healed, and not from suspects that came back', () => {
    const bench = benchAt(2);
    assert.equal(bench.ledger.meanDownMs, undefined);
    bench.act('n0');
    bench.pass(8_000);
    bench.start('n0', 'b');
    assert.equal(bench.ledger.meanDownMs, 8_000);
    bench.offline('n0');
    bench.pass(100_000);
    bench.online('n0');
    assert.equal(bench.ledger.meanDownMs, 8_000);
    bench.act('n1');
    bench.pass(24_000);
    bench.start('n1', 'b');
    assert.equal(bench.ledger.meanDownMs, 9_000);
  });
});
