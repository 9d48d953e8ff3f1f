import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeUpdate } from '../node/update.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { explain } from '../report/explain.ts';
import { statusOf } from '../report/status.ts';
import { benchAt, createWorkbench, daemonSetName, type Workbench } from '../testing/workbench.ts';
import { decide } from './decide.ts';
import { wavesOf } from './first-wave.ts';

/** 40 nodes at `a`, the target `b`, half of them at a time. */
const fleet = (policy: Partial<Policy> = {}): Workbench =>
  benchAt(40, { maxUnavailable: percent(50), firstWave: count(3), ...policy });

/** Begins what the decision reserves; returns its nodes. */
const begin = (bench: Workbench): string[] => {
  const nodes = bench.nodesOf('reserve');
  bench.deletePod(...nodes);
  return nodes;
};

const works = (bench: Workbench, nodes: readonly string[], revision = 'b'): void => {
  for (const node of nodes) bench.start(node, revision);
};

describe('a first wave of 3', () => {
  it('is all that tries a revision which no node runs', () => {
    const bench = fleet();
    assert.equal(begin(bench).length, 3);
    assert.equal(begin(bench).length, 0);
  });

  it('grows by 3 for each node on which the revision is available, up to the budget', () => {
    const bench = fleet();
    const first = begin(bench);
    works(bench, first.slice(0, 1));
    // 3 + 3 x 1, of which 2 are under way.
    assert.equal(begin(bench).length, 4);
    works(bench, first.slice(1));
    assert.equal(begin(bench).length, 8);
    assert.equal(bench.decide().summary.firstWave?.limit, 12);
    works(
      bench,
      bench.ledger
        .records()
        .map(({ name }) => name)
        .filter((name) => bench.phase(name).startsWith('updating'))
        .toArray(),
    );
    assert.equal(begin(bench).length, 20, 'the budget');
  });

  it('counts failures and suspects, so that a version which fails everywhere breaks 3 nodes', () => {
    const bench = fleet({ failureThreshold: count(10) });
    const [crashing = '', lost = '', starting = ''] = begin(bench);
    bench.start(crashing, 'b', { ready: false, trouble: 'crash-loop' });
    bench.offline(lost);
    bench.start(starting, 'b', { ready: false });
    assert.equal(bench.decide().summary.firstWave?.onTrial, 3);
    assert.equal(begin(bench).length, 0);
  });

  it('counts nodes that are lost, or whose pod came back old, although they hold no slot', () => {
    const bench = fleet({ failureThreshold: count(10), suspectWindowMs: 60_000 });
    const [lost = '', old = '', starting = ''] = begin(bench);
    bench.offline(lost);
    bench.start(old, 'a');
    bench.start(starting, 'b', { ready: false });
    bench.advance(60_000);
    assert.deepEqual([bench.cause(lost), bench.cause(old)], ['lost', 'came-back-old']);
    assert.equal(bench.decide().summary.firstWave?.onTrial, 3);
    assert.deepEqual(begin(bench), []);
  });

  it('counts nodes on which the revision worked for a moment', () => {
    const bench = fleet();
    const first = begin(bench);
    works(bench, first);
    bench.advance(2_000);
    for (const node of first) bench.change(node, { ready: false, readyChangedAt: bench.now() });
    assert.deepEqual(begin(bench), []);
    assert.equal(bench.decide().summary.firstWave?.onTrial, 3);
    for (const node of first) bench.change(node, { ready: true, readyChangedAt: bench.now() });
    assert.equal(begin(bench).length, 12);
  });

  it('does not halt for what an outage has taken away that may prove the revision later', () => {
    const bench = fleet({ firstWave: count(1), failureThreshold: count(10) });
    const [proof = ''] = begin(bench);
    works(bench, [proof]);
    const [crashing = '', ...others] = begin(bench);
    works(bench, others);
    bench.start(crashing, 'b', { ready: false, trouble: 'crash-loop' });
    bench.advance(600_000);
    bench.offline(proof, ...others);
    bench.advance(0);
    const { firstWave, breaker } = bench.decide().summary;
    assert.deepEqual([firstWave?.proven, firstWave?.away, breaker.mustHalt], [0, 4, false]);
    assert.deepEqual(bench.nodesOf('reserve'), [], 'nothing else begins meanwhile');
    bench.online(proof, ...others);
    bench.advance(60_000);
    assert.ok(begin(bench).length > 0);
  });

  it('lets nodes be repaired that were down before', () => {
    const bench = fleet();
    const down = ['n0', 'n1', 'n2', 'n3'];
    for (const node of down) bench.change(node, { ready: false });
    assert.deepEqual(begin(bench).toSorted(), down);
    assert.deepEqual(begin(bench), [], 'they try it as others do');
  });

  it('counts nodes as working whose pod is ready and about to be available', () => {
    const bench = fleet({ minReadyMs: 60_000 });
    const recent = Array.from({ length: 10 }, (_, index) => `n${index}`);
    for (const node of recent) bench.change(node, { readyChangedAt: bench.now() });
    assert.equal(begin(bench).length, 3);
    assert.deepEqual(begin(bench), []);
  });

  it('counts such nodes also where an older update broke them', () => {
    const bench = fleet({ minReadyMs: 60_000, firstWave: percent(100) });
    for (const node of begin(bench)) bench.start(node, 'b');
    bench.policy({ firstWave: count(3) });
    bench.target('c');
    assert.equal(bench.nodesOf('reserve').length, 3);
  });

  it('releases what another manager reserved beyond it', () => {
    const bench = fleet({ firstWave: count(5) });
    const reserved = bench.nodesOf('reserve');
    for (const node of reserved) bench.reserve(node);
    assert.equal(bench.nodesOf('delete').length, 5);
    bench.policy({ firstWave: count(2) });
    assert.equal(bench.nodesOf('release').length, 3);
    assert.equal(bench.nodesOf('delete').length, 2);
  });

  it('halts the rollout once all of it has failed, also below the threshold', () => {
    const bench = fleet({ firstWave: count(2), failureThreshold: count(5) });
    const [one = '', two = ''] = begin(bench);
    bench.start(one, 'b', { ready: false, trouble: 'crash-loop' });
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.equal(bench.decide().summary.breaker.mustHalt, false, 'the other may prove it');
    bench.start(two, 'b', { ready: false, trouble: 'crash-loop' });
    assert.deepEqual(
      bench.steps().map(({ type }) => type),
      ['halt'],
    );
  });

  it('waits for a node that went offline, as the breaker does', () => {
    const bench = fleet({ firstWave: count(1), failureThreshold: count(5), suspectWindowMs: 60_000 });
    const [lost = ''] = begin(bench);
    bench.offline(lost);
    assert.deepEqual(bench.steps(), []);
    bench.advance(60_000);
    assert.deepEqual(
      bench.steps().map(({ type }) => type),
      ['halt'],
    );
  });

  it('is what the next manager finds under way', () => {
    const before = fleet({ progressDeadlineMs: 60_000 });
    const tried = begin(before);
    for (const node of tried) before.start(node, 'b', { ready: false });
    const next = createWorkbench({ maxUnavailable: percent(50), firstWave: count(3), progressDeadlineMs: 60_000 });
    const updates: Record<string, NodeUpdate> = {};
    for (const { name, update } of before.ledger.records()) if (update) updates[name] = update;
    next.restore(updates, { state: before.ledger.state });
    for (const { name } of before.ledger.records()) {
      next.node(name);
      const pod = before.last(name);
      if (pod) next.pod(name, pod.revision, pod);
    }
    next.ledger.finishInitialSync();
    next.advance(0);
    assert.deepEqual([next.decide().summary.firstWave?.onTrial, begin(next)], [3, []]);
    next.target('c');
    next.advance(0);
    const repaired = begin(next);
    assert.deepEqual(
      repaired.toSorted(),
      tried.toSorted(),
      'those that it broke come first, and are the first wave of the next',
    );
    works(next, repaired, 'c');
    assert.equal(begin(next).length, 12);
  });

  it('begins again with the consent of a user after a halt', () => {
    const bench = fleet();
    for (const node of begin(bench)) bench.start(node, 'b', { ready: false, trouble: 'crash-loop' });
    assert.equal(begin(bench).length, 0);
    bench.ledger.forgive(bench.now());
    assert.equal(begin(bench).length, 3);
  });

  it('is said by explain', () => {
    const bench = fleet();
    begin(bench);
    const waiting = bench.ledger.records().find(({ status }) => status.phase === 'outdated');
    assert.ok(waiting);
    const { what, remedy } = explain(waiting, bench.ledger.policy, bench.decide().summary, bench.now());
    assert.match(what, /waits until the target is available on more nodes: 3 are trying it, 0 run it/);
    assert.match(remedy, /raise edgeset\.io\/first-wave/);
  });
});

describe('the size of the first wave', () => {
  const sizes: [string, Partial<Policy>, number][] = [
    ['of 10% of 40 nodes is 4', { firstWave: percent(10) }, 4],
    ['of 1% of 40 nodes is 1', { firstWave: percent(1) }, 1],
    ['of 100% is the budget', { firstWave: percent(100) }, 20],
    ['that is larger than the budget is the budget', { firstWave: count(30) }, 20],
  ];
  for (const [name, policy, size] of sizes)
    it(name, () => {
      assert.equal(begin(fleet(policy)).length, size);
    });

  it('is by default the failure threshold, or what the manager sets', () => {
    const bench = fleet({ firstWave: undefined, failureThreshold: count(5) });
    const reserved = (managers?: Policy['firstWave']): number =>
      decide(bench.ledger, undefined, bench.now(), { firstWave: managers }).actions.length;
    assert.deepEqual([reserved(), reserved(count(2)), reserved(percent(100))], [5, 2, 20]);
  });
});

describe('how many updates follow one another', () => {
  const wave = (first: number, proven = 0) => ({ first, proven });
  const cases: [string, number, number][] = [
    ['without a first wave, as many as the budget needs', wavesOf(undefined, 10, 25), 2.5],
    ['with one of the budget, the same', wavesOf(wave(10), 10, 25), 2.5],
    // 3, then 12, and of the 30 that are possible then the 5 that are left.
    ['3, then 3 more for each that works', wavesOf(wave(3), 30, 20), 2 + 5 / 30],
    ['not so where enough run the revision already', wavesOf(wave(3, 9), 30, 15), 0.5],
    ['or will by then', wavesOf(wave(3), 30, 15, 9), 0.5],
    ['fewer than the first wave has', wavesOf(wave(3), 30, 2), 2 / 3],
    ['none', wavesOf(wave(3), 30, 0), 0],
  ];
  for (const [name, waves, expected] of cases) it(name, () => assert.equal(waves, expected));

  it('is what the estimated finish goes by', () => {
    /** Seconds from the first update, which took ten minutes. */
    const left = (firstWave: Policy['firstWave']): number => {
      const bench = fleet({ firstWave });
      const [first = ''] = begin(bench);
      bench.advance(600_000);
      bench.start(first, 'b');
      const now = bench.now();
      const { ledger } = bench;
      const revision = {
        generation: 1,
        daemonSetGeneration: 1,
        policyHash: '',
        daemonSet: daemonSetName,
        previous: undefined,
      };
      const { estimatedFinishAt = '' } = statusOf({ ledger, decision: bench.decide(), ...revision, now });
      return (Date.parse(estimatedFinishAt) - now) / 1000;
    };
    // 4, then 16, then 19 of 20 that are possible; and 39 of 20.
    assert.ok(Math.abs(left(count(1)) - 1770) <= 10);
    assert.ok(Math.abs(left(percent(100)) - 1170) <= 10);
  });

  it('never ends with a budget of zero', () => assert.equal(wavesOf(undefined, 0, 1), Number.POSITIVE_INFINITY));
});

describe('no first wave', () => {
  it('slows the way back to the revision that was last complete', () => {
    const bench = fleet();
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    for (const { name } of bench.ledger.records()) bench.update('b', name);
    bench.target('a');
    assert.equal(bench.ledger.state.rollback, true);
    assert.equal(begin(bench).length, 20);
  });

  it('holds owners back', () => {
    const bench = fleet({ strategy: 'ota', byApproval: true });
    assert.equal(bench.decide().summary.firstWave, undefined);
  });
});
