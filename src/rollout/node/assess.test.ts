import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { benchAt, createWorkbench, START, savedState, type Workbench } from '../testing/workbench.ts';
import { pastUpdate } from './update.ts';

const down = { ready: false, readyChangedAt: 0 };
describe('the settle time', () => {
  it('does not apply to nodes that have long been Ready at the initial sync', () => {
    const bench = createWorkbench();
    bench.node('old', { readyChangedAt: START - 60_000 });
    bench.node('fresh', { readyChangedAt: START - 4_000 });
    bench.node('ahead', { readyChangedAt: START + 600_000 });
    bench.ledger.finishInitialSync();
    bench.node('joined', { readyChangedAt: START - 60_000 });
    const settled = (): string[] =>
      [...bench.ledger.records()].flatMap(({ name, status }) => (status.settled ? [name] : []));
    assert.deepEqual(settled(), ['old']);
    // 10 s from when it may have returned: its time is in whole seconds.
    assert.equal(bench.ledger.nextDueAt(), START + 7_000);
    bench.advance(7_000);
    assert.deepEqual(settled(), ['old', 'fresh']);
    bench.advance(3_000);
    assert.deepEqual(settled(), ['old', 'fresh', 'ahead', 'joined']);
  });

  it('does not apply to a node that was Ready all the time and has just become eligible: it is down at once', () => {
    for (const [readyChangedAt, occupied] of [
      [START - 60_000, 1],
      [START - 4_000, 0],
    ] as const) {
      const bench = benchAt(1);
      const facts = { name: 'labelled', ready: true, eligible: true, selected: true, zone: '' };
      bench.ledger.setNode({ ...facts, readyChangedAt }, bench.now(), true);
      bench.start('labelled', 'b', { ready: false, readyChangedAt: 0 });
      assert.equal(bench.decide().summary.usage.occupied, occupied);
    }
  });

  it('starts over with every return, even one that was missed', () => {
    const bench = benchAt(1);
    bench.offline('n0');
    bench.advance(1_000);
    bench.online('n0');
    bench.advance(9_000);
    assert.equal(bench.phase('n0'), 'settling/returned');
    bench.node('n0', { readyChangedAt: bench.now() });
    bench.advance(9_999);
    assert.equal(bench.phase('n0'), 'settling/returned');
    bench.advance(1);
    assert.equal(bench.phase('n0'), 'outdated/available');
  });
});

describe('minReadySeconds', () => {
  it('counts from the end of the second in which an inherited pod became ready', () => {
    const bench = createWorkbench({ minReadyMs: 5_000 });
    bench.node('n0');
    bench.pod('n0', 'b', { createdAt: START - 60_000, readyChangedAt: START - 4_000 });
    bench.ledger.finishInitialSync();
    bench.restore({}, { state: savedState({ finishedAt: START }) });
    bench.advance(1_999);
    assert.equal(bench.ledger.tally.phases.updated, 0);
    bench.advance(1);
    assert.equal(bench.ledger.tally.phases.updated, 1);
  });
});

describe('a suspect', () => {
  const suspect = (change = {}) => {
    const bench = benchAt(3, { suspectWindowMs: 60_000, ...change });
    bench.update('b', 'n0');
    bench.advance(10_000);
    bench.offline('n0');
    return bench;
  };

  it('is also a node that goes offline after its update has completed', () => {
    const bench = suspect();
    assert.equal(bench.phase('n0'), 'offline/suspect');
    assert.equal(bench.decide().summary.breaker.suspects, 1);
    assert.equal(bench.ledger.tally.inFlight, 0);
  });
  it('is cleared when it is back and available', () => {
    const bench = suspect();
    bench.online('n0');
    assert.equal(bench.phase('n0'), 'updated/current');
    assert.equal(bench.ledger.get('n0')?.update, undefined);
    assert.equal(bench.decide().summary.breaker.suspects, 0);
  });
  it('is a failure if it is not back when its window ends', () => {
    const bench = suspect();
    assert.equal(bench.decide().wakeAt, START + 60_000);
    bench.advance(50_000);
    assert.equal(bench.phase('n0'), 'offline/lost');
    const { breaker } = bench.decide().summary;
    assert.deepEqual([breaker.failures, breaker.suspects], [1, 0]);
  });
  it('from before this process is lost later, by the maximum clock skew', () => {
    for (const [wentAgoMs, leftMs] of [
      [650_000, 0],
      [600_000, 50_000],
      [300_000, 50_000],
    ] as const) {
      const bench = createWorkbench({ suspectWindowMs: 60_000 });
      bench.node('n0', { ready: false, readyChangedAt: START - wentAgoMs });
      const at = START - wentAgoMs - 10_000;
      bench.pod('n0', 'b', { createdAt: at });
      bench.ledger.finishInitialSync();
      bench.restore({}, { state: savedState({ startedAt: at }) });
      if (leftMs > 0) assert.equal(bench.phase('n0'), 'offline/suspect', `${wentAgoMs}`);
      bench.advance(leftMs);
      assert.equal(bench.phase('n0'), 'offline/lost', `${wentAgoMs}`);
    }
  });
  it("is told by the control plane's clock when another process updated it", () => {
    const AHEAD_MS = 600_000;
    for (const [afterMs, suspected] of [
      [30_000, true],
      [60_001, false],
    ] as const)
      for (const completed of [false, true]) {
        const bench = createWorkbench({ suspectWindowMs: 60_000 });
        const updatedAt = START - AHEAD_MS;
        bench.node('n0');
        bench.pod('n0', 'b', { createdAt: updatedAt, ready: completed, readyChangedAt: updatedAt });
        bench.ledger.finishInitialSync();
        const update = pastUpdate({ rollout: 2, at: updatedAt });
        bench.restore(completed ? {} : { n0: update }, { state: savedState({ startedAt: updatedAt }) });
        bench.node('n0', { ready: false, readyChangedAt: updatedAt + afterMs });
        assert.equal(bench.phase('n0') === 'offline/suspect', suspected, `${afterMs} ${completed}`);
      }
  });
  it('is in flight again if it returns broken, and cleared once it works', () => {
    const bench = suspect();
    bench.advance(60_000);
    bench.change('n0', down);
    bench.online('n0');
    assert.equal(bench.phase('n0'), 'updating/starting');
    assert.equal(bench.ledger.tally.inFlight, 1);
    bench.change('n0', { ready: true, readyChangedAt: bench.now() });
    assert.equal(bench.ledger.tally.inFlight, 0);
    assert.equal(bench.decide().summary.breaker.failures, 0);
  });
  it('is not a node that goes offline after the window, or without an update of ours', () => {
    const bench = benchAt(3, { suspectWindowMs: 60_000 });
    bench.update('b', 'n0');
    bench.advance(60_001);
    bench.offline('n0');
    bench.node('n9');
    bench.start('n9', 'b');
    bench.offline('n1', 'n9');
    bench.removePod('n2');
    bench.start('n2', 'b');
    bench.offline('n2');
    assert.equal(bench.decide().summary.breaker.suspects, 0);
    assert.equal(bench.phase('n0'), 'offline/offline-current');
    assert.equal(bench.phase('n9'), 'offline/offline-current');
  });
  it('is not a node whose incomplete update is older than the window', () => {
    const bench = benchAt(2, { suspectWindowMs: 60_000 });
    bench.deletePod('n0');
    bench.start('n0', 'b', down);
    bench.advance(60_001);
    bench.offline('n0');
    assert.equal(bench.phase('n0'), 'offline/offline-current');
    bench.online('n0');
    assert.equal(bench.ledger.tally.inFlight, 1);
  });
  it('of an older revision does not count against the new one', () => {
    const bench = suspect();
    bench.target('c');
    assert.equal(bench.decide().summary.breaker.suspects, 0);
  });
  it('is recognized by the age of its pod after a restart', () => {
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
      bench.ledger.finishInitialSync();
      bench.restore({}, { state: savedState({ startedAt }) });
      bench.offline('n0');
      assert.equal(bench.cause('n0'), cause, `${createdAt - START} ${startedAt}`);
    }
  });
});

describe('the progress deadline', () => {
  const started = (change = {}) => {
    const bench = benchAt(2, { progressDeadlineMs: 60_000, ...change });
    bench.deletePod('n0');
    bench.advance(50_000);
    bench.start('n0', 'b', down);
    return bench;
  };
  it('counts from the new pod, however long the old one took to terminate', () => {
    const bench = started();
    bench.advance(59_999);
    assert.equal(bench.phase('n0'), 'updating/starting');
    bench.advance(1);
    assert.equal(bench.phase('n0'), 'failed/deadline');
    assert.equal(bench.ledger.tally.inFlight, 1, 'a failure keeps its slot');
  });
  it('starts over after the node was offline', () => {
    const bench = started();
    bench.offline('n0');
    bench.advance(600_000);
    bench.online('n0');
    bench.advance(59_999);
    assert.equal(bench.phase('n0'), 'updating/starting');
    bench.advance(1);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
  it('applies to a pod that is ready but never for long enough', () => {
    const bench = started({ minReadyMs: 10_000 });
    for (let round = 0; round < 10; round += 1) {
      bench.change('n0', { ready: true, readyChangedAt: bench.now() });
      bench.advance(5_000);
      bench.change('n0', down);
      bench.advance(1_000);
    }
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
  it('starts over for a current pod that worked and then failed', () => {
    const bench = benchAt(1, { progressDeadlineMs: 60_000 });
    bench.update('b', 'n0');
    bench.advance(3_600_000);
    bench.change('n0', down);
    bench.advance(59_999);
    assert.equal(bench.phase('n0'), 'updating/not-ready');
    bench.advance(1);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
  it('counts, for a pod from before this process, from when it was last ready, plus the maximum clock skew', () => {
    const inherits = (agoMs: number, readOnly = false): Workbench => {
      const bench = createWorkbench({ progressDeadlineMs: 60_000 }, { readOnly });
      bench.node('n0');
      bench.pod('n0', 'b', { ready: false, readyChangedAt: START - agoMs });
      bench.target('b');
      bench.ledger.finishInitialSync();
      return bench;
    };
    assert.equal(inherits(660_000).phase('n0'), 'failed/deadline');
    // A read-only ledger shows what the manager has long concluded.
    assert.equal(inherits(60_000, true).phase('n0'), 'failed/deadline');
    for (const [agoMs, leftMs] of [
      [650_000, 10_000],
      [600_000, 60_000],
      [10_000, 60_000],
    ] as const) {
      const bench = inherits(agoMs);
      assert.equal(bench.decide().wakeAt, START + leftMs, `${agoMs}`);
      bench.advance(leftMs - 1);
      assert.equal(bench.phase('n0'), 'updating/not-ready', `${agoMs}`);
      bench.advance(1);
      assert.equal(bench.phase('n0'), 'failed/deadline', `${agoMs}`);
    }
  });
  it('does not start over for a pod that this process created when the state is restored again', () => {
    const bench = started();
    bench.advance(30_000);
    const { ledger } = bench;
    const acts = new Map(
      [...ledger.withUpdate()].flatMap(({ name, update }) => (update ? [[name, update] as const] : [])),
    );
    ledger.restore(ledger.state, acts, new Set(), bench.now());
    bench.advance(30_000);
    assert.equal(bench.phase('n0'), 'failed/deadline');
  });
});
