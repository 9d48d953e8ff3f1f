import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FIELD_MANAGER } from '../../words/index.ts';
import { toTimestamp } from '../facts/metadata.ts';
import { approve, failOver, ring, stagedBench } from '../testing/staged.ts';
import { benchAt, createWorkbench, START, type Workbench } from '../testing/workbench.ts';
import { restore, save } from './persist.ts';

let times = 0;
const by = (manager: string) => {
  times += 1;
  return { manager, operation: 'Update', time: new Date(START + times * 1000).toISOString().replace('.000Z', 'Z') };
};

/** Sets a template with image `app:<hash>`. */
const set = (bench: Workbench, hash: string, changedBy = by('kubectl-set')): void => {
  const number = bench.ledger.state.rollout + 1;
  bench.ledger.setTarget({ name: `set-${hash}`, hash, number }, bench.now(), { images: [`app:${hash}`], changedBy });
};

const benchWith = (nodes: number): Workbench => {
  const bench = createWorkbench();
  set(bench, 'a');
  for (let index = 0; index < nodes; index += 1) {
    bench.node(`n${index}`);
    bench.pod(`n${index}`, 'a');
  }
  bench.ledger.finishInitialSync();
  complete(bench);
  return bench;
};

/** What the executor does with these decisions. */
const complete = (bench: Workbench): void => {
  assert.equal(bench.steps()[0]?.type, 'complete');
  const { target } = bench.ledger.state;
  bench.ledger.patchState({ finishedAt: bench.now(), lastComplete: target }, bench.now());
};
const halt = (bench: Workbench): void => {
  const [action] = bench.steps();
  assert.equal(action?.type, 'halt');
  if (action?.type === 'halt') bench.ledger.patchState({ halted: action.halt }, bench.now());
};

const fail = (bench: Workbench, hash: string, ...nodes: string[]): void => {
  for (const node of nodes) {
    bench.deletePod(node);
    bench.start(node, hash, { ready: false, trouble: 'crash-loop' });
  }
};

const historyOf = (bench: Workbench) => save(bench.ledger).history;
const results = (bench: Workbench) => historyOf(bench).map(({ rollout, result }) => `${rollout} ${result}`);

describe('the history', () => {
  it('starts with the first target, which nothing rolled out', () => {
    const bench = benchWith(1);
    const [first, ...others] = historyOf(bench);
    assert.deepEqual(others, []);
    const { changedBy, ...entry } = first ?? {};
    assert.equal(changedBy?.manager, 'kubectl-set');
    assert.deepEqual(entry, {
      rollout: 1,
      result: 'Complete',
      to: { revision: 'set-a', hash: 'a', number: 1, images: ['app:a'] },
      finishedAt: '2030-01-01T00:00:00Z',
      nodes: 0,
      failures: 0,
    });
    assert.deepEqual(historyOf(createWorkbench()), [], 'and is empty before there is one');
  });

  it('records a rollout from its start to its end', () => {
    const bench = benchWith(3);
    bench.advance(60_000);
    const changedBy = by('argocd-controller');
    set(bench, 'b', changedBy);
    bench.advance(5_000);
    bench.offline('n2');
    bench.update('b', 'n0');
    assert.equal(historyOf(bench)[0]?.result, 'InProgress');
    assert.equal(historyOf(bench)[0]?.nodes, 1);
    bench.update('b', 'n1');
    complete(bench);
    bench.advance(60_000);
    bench.online('n2');
    bench.update('b', 'n2');
    bench.ledger.patchState({ allNodesUpdatedAt: bench.now() }, bench.now());
    const entry = {
      rollout: 2,
      result: 'Complete' as const,
      from: { revision: 'set-a', hash: 'a', number: 1, images: ['app:a'] },
      to: { revision: 'set-b', hash: 'b', number: 2, images: ['app:b'] },
      changedBy,
      startedAt: '2030-01-01T00:01:00Z',
      finishedAt: '2030-01-01T00:01:05Z',
      allNodesUpdatedAt: '2030-01-01T00:02:05Z',
      nodes: 3,
      failures: 0,
    };
    assert.deepEqual(historyOf(bench)[0], entry);
    bench.advance(3_600_000);
    set(bench, 'c');
    assert.deepEqual(historyOf(bench)[1], { ...entry, endedAt: '2030-01-01T01:02:05Z' });
    assert.equal(historyOf(bench)[0]?.allNodesUpdatedAt, undefined);
  });

  it('says how an incomplete rollout ended', () => {
    const bench = benchWith(4);
    set(bench, 'b');
    set(bench, 'c');
    assert.deepEqual(results(bench), ['3 InProgress', '2 Superseded', '1 Complete']);
    set(bench, 'a');
    assert.equal(results(bench)[1], '3 Undone');
    set(bench, 'd');
    fail(bench, 'd', 'n0', 'n1', 'n2');
    halt(bench);
    assert.equal(results(bench)[0], '5 Halted');
    set(bench, 'e');
    assert.equal(results(bench)[1], '5 Halted', 'a newer template was set');
  });

  it('tells a rollback by the manager from one by a user', () => {
    for (const [manager, result] of [
      [FIELD_MANAGER, 'RolledBack'],
      ['edgeset-cli', 'Undone'],
    ] as const) {
      const bench = benchWith(4);
      set(bench, 'b');
      fail(bench, 'b', 'n0', 'n1', 'n2');
      halt(bench);
      set(bench, 'a', by(manager));
      const [now, failed] = historyOf(bench);
      assert.equal(failed?.result, result);
      assert.deepEqual([failed?.nodes, failed?.failures], [3, 3]);
      assert.equal(failed?.haltedAt, '2030-01-01T00:00:00Z');
      assert.equal(now?.changedBy?.manager, manager);
      assert.deepEqual([now?.failures, now?.haltedAt], [0, undefined]);
    }
  });

  it('keeps the failures that a resume forgave, and when the rollout was halted', () => {
    const bench = benchWith(6);
    set(bench, 'b');
    fail(bench, 'b', 'n0', 'n1', 'n2');
    halt(bench);
    bench.advance(60_000);
    bench.ledger.forgive(bench.now());
    bench.ledger.patchState({ halted: undefined }, bench.now());
    fail(bench, 'b', 'n3');
    const [entry] = historyOf(bench);
    assert.deepEqual([entry?.result, entry?.failures, entry?.haltedAt], ['InProgress', 4, '2030-01-01T00:00:00Z']);
    for (const node of ['n0', 'n1', 'n2', 'n3']) bench.change(node, { ready: true, trouble: undefined });
    assert.equal(historyOf(bench)[0]?.failures, 4);
  });

  it('keeps the last twenty', () => {
    const bench = benchWith(1);
    for (let index = 0; index < 30; index += 1) set(bench, `x${index}`);
    assert.deepEqual(
      historyOf(bench).map(({ rollout }) => rollout),
      Array.from({ length: 20 }, (_, index) => 31 - index),
    );
    assert.equal(bench.ledger.state.past.length, 19, 'in memory, too');
  });

  it('names nobody where the only client that managed fields show was recorded for an earlier template', () => {
    const bench = benchWith(1);
    const changedBy = by('kubectl-set');
    for (const hash of ['b', 'c', 'd']) set(bench, hash, changedBy);
    assert.deepEqual(
      historyOf(bench).map((entry) => entry.changedBy?.time),
      [undefined, undefined, changedBy.time, historyOf(bench)[3]?.changedBy?.time],
    );
  });
});

describe('the history of another leader', () => {
  it('is continued, in the middle of a rollout', () => {
    const bench = benchWith(4);
    set(bench, 'b');
    fail(bench, 'b', 'n0', 'n1', 'n2');
    halt(bench);
    const saved = save(bench.ledger);
    const { state } = restore(saved);
    const next = benchAt(4);
    next.restore({}, { state });
    assert.deepEqual(save(next.ledger).history, saved.history);
    const again = { images: ['app:b'], changedBy: by('somebody') };
    next.ledger.setTarget({ name: 'set-b', hash: 'b', number: 2 }, next.now(), again);
    assert.deepEqual(save(next.ledger).history, saved.history, 'the same target starts no rollout');
    set(next, 'a');
    assert.deepEqual(results(next), ['3 InProgress', '2 Undone', '1 Complete']);
    assert.equal(historyOf(next)[1]?.failures, 3);
  });

  it('keeps when every node had the target', () => {
    const bench = benchWith(1);
    bench.ledger.patchState({ allNodesUpdatedAt: bench.now() }, bench.now());
    const saved = save(bench.ledger);
    assert.ok(saved.allNodesUpdatedAt);
    assert.equal(restore(saved).state.allNodesUpdatedAt, bench.now());
  });

  it('records the stages, who decided about each, and why, also across a change of leader', () => {
    const bench = stagedBench([ring('lab', { soak: '1h', approval: { required: true } })], ['lab', 'shop']);
    approve(bench, 'lab', { decision: 'Promote', by: 'bob', at: '2026-01-01T00:00:00Z', comment: 'x'.repeat(300) });
    approve(bench, 'lab');
    bench.followStages();
    const stages = [
      {
        name: 'lab',
        openedAt: toTimestamp(START),
        promotedAt: toTimestamp(START),
        promotion: 'ByHand',
        decisions: [
          { decision: 'Promote', by: 'bob', at: '2026-01-01T00:00:00Z', comment: `${'x'.repeat(255)}\u2026` },
          { decision: 'Approve', by: 'ann' },
        ],
      },
      { name: 'rest', openedAt: toTimestamp(START) },
    ];
    assert.deepEqual(historyOf(bench)[0]?.stages, stages);
    failOver(bench);
    assert.deepEqual(historyOf(bench)[0]?.stages, stages);
    bench.target('c');
    const [next, past] = historyOf(bench);
    assert.deepEqual([next?.stages, past?.result, past?.stages], [undefined, 'Superseded', stages]);
  });

  it('is never too long for the schema', () => {
    const bench = benchWith(1);
    for (let index = 0; index < 30; index += 1) set(bench, `x${index}`);
    const next = benchWith(1);
    next.restore({}, { state: restore({ ...save(bench.ledger), rollout: 99 }).state });
    assert.equal(historyOf(next).length, 20);
  });

  it('that kept none begins with the rollout that runs', () => {
    const { history: _, ...saved } = save(benchWith(1).ledger);
    const { state } = restore(saved);
    const next = benchAt(1);
    next.restore({}, { state });
    assert.deepEqual(
      historyOf(next).map(({ rollout, result, to }) => [rollout, result, to.images]),
      [[1, 'Complete', []]],
    );
  });
});
