import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlanStagePromotion } from '../../words/index.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import { approve, failOver, replan, ring, SECOND, stagedBench, waits } from '../testing/staged.ts';
import { benchAt, START, type Workbench } from '../testing/workbench.ts';

describe('stages', () => {
  it('open one after the other', () => {
    const bench = stagedBench([ring('lab'), ring('canary')], ['lab', 'canary', 'shop']);
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.deepEqual(bench.followStages(), ['open-stage lab']);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    bench.update('b', 'n0');
    assert.deepEqual(bench.followStages(), ['start-soak lab', 'promote lab Gates', 'open-stage canary']);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    bench.update('b', 'n1');
    assert.deepEqual(bench.followStages(), ['start-soak canary', 'promote canary Gates', 'open-stage rest']);
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
    bench.update('b', 'n2');
    assert.equal(bench.decide().summary.complete, true);
  });

  it('open the last one once a node needs it', () => {
    const lab = ring('lab', { coverage: '50%' });
    const bench = stagedBench([lab], ['lab', 'lab']);
    bench.followStages();
    bench.update('b', 'n0');
    assert.deepEqual(bench.followStages(), ['start-soak lab', 'promote lab Gates']);
    replan(bench, { stages: [lab] }, ['lab', 'shop']);
    assert.deepEqual(bench.followStages(), ['open-stage rest']);
    replan(bench, { stages: [lab] }, ['lab', 'lab']);
    failOver(bench);
    replan(bench, { stages: [lab] }, ['lab', 'shop']);
    assert.deepEqual(bench.followStages(), [], 'the next leader finds it open');
  });

  it('begin nothing in a decision that changes a stage', () => {
    const bench = stagedBench([ring('lab')], ['lab', 'shop']);
    const { actions } = bench.decide();
    assert.deepEqual(
      actions.map(({ type }) => type),
      ['open-stage'],
    );
  });

  it('do not hold back the revision that was last complete', () => {
    const bench = stagedBench([ring('lab', { approval: { required: true } })], ['lab', 'shop', 'shop']);
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    bench.followStages();
    bench.update('b', 'n0');
    bench.target('a');
    assert.deepEqual(bench.followStages(), []);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    bench.target('c');
    bench.followStages();
    bench.update('c', 'n0');
    assert.deepEqual(bench.nodesOf('reserve'), []);
  });

  it('a rollout is not finished while a stage is closed, although all nodes there are offline', () => {
    const bench = stagedBench([ring('lab', { soak: '20s' })], ['lab', 'shop']);
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    bench.offline('n1');
    bench.followStages();
    bench.update('b', 'n0');
    bench.followStages();
    const finishes = (): boolean => bench.decide().actions.some(({ type }) => type === 'complete');
    assert.equal(bench.decide().summary.complete, true);
    assert.equal(finishes(), false);
    bench.advance(21 * SECOND);
    bench.followStages();
    assert.equal(finishes(), true);
  });

  it('go by the clock of the API server with windows, too', () => {
    const bench = stagedBench([], ['shop']);
    bench.setAhead(600 * SECOND);
    replan(bench, { windows: [{ from: '00:00', to: '06:00' }] }, ['shop']);
    assert.equal(bench.cause('n0'), 'window');
    assert.equal(bench.decide().wakeAt, START + 600 * SECOND);
    bench.advance(600 * SECOND);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    bench.setAhead(0);
    bench.advance(6 * 3600 * SECOND - 601 * SECOND);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    bench.advance(SECOND);
    assert.deepEqual(bench.nodesOf('reserve'), []);
  });

  it('say so when nodes of closed stages that an earlier revision broke hold every slot', () => {
    const bench = stagedBench([ring('lab')], ['lab', 'lab', 'shop', 'shop']);
    bench.policy({ ...bench.ledger.policy, maxUnavailable: count(1) });
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    bench.followStages();
    bench.update('b', 'n0');
    bench.update('b', 'n1');
    bench.followStages();
    bench.deletePod('n2');
    bench.start('n2', 'b', { ready: false });
    bench.target('c');
    bench.followStages();
    assert.equal(bench.cause('n2'), 'stage');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    const hint = /; nodes of closed stages .* hold every slot .*: roll back to repair them, .* or promote the stage/;
    assert.match(bench.decide().summary.stage?.message ?? '', hint);
    bench.policy({ ...bench.ledger.policy, maxUnavailable: count(2) });
    assert.doesNotMatch(bench.decide().summary.stage?.message ?? '', hint);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    // The way back repairs it in its own slot.
    bench.policy({ ...bench.ledger.policy, maxUnavailable: count(1) });
    bench.target('a');
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
  });

  it('say so when such a node was available for a moment, so that its update is complete', () => {
    const bench = stagedBench([ring('lab')], ['lab', 'lab', 'shop']);
    bench.policy({ ...bench.ledger.policy, maxUnavailable: count(1) });
    bench.followStages();
    bench.update('b', 'n0', 'n1');
    bench.followStages();
    bench.update('b', 'n2');
    bench.change('n2', { ready: false });
    bench.target('c');
    bench.followStages();
    assert.deepEqual([bench.cause('n2'), bench.ledger.tally.inFlight], ['stage', 0]);
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.match(
      bench.decide().summary.stage?.message ?? '',
      /; nodes of closed stages .* hold every slot of the budget/,
    );
  });

  it('say so when such nodes hold every slot of the groups of the others', () => {
    const bench = stagedBench([ring('lab')], ['lab', 'lab', 'shop']);
    bench.followStages();
    bench.update('b', 'n0', 'n1');
    bench.followStages();
    bench.deletePod('n2');
    bench.start('n2', 'b', { ready: false });
    const groupBy = (value: number, ...sites: string[]): void => {
      replan(bench, { stages: [ring('lab')], maxUnavailablePer: [{ topologyKey: 'site', value }] }, [
        'lab',
        'lab',
        'shop',
      ]);
      for (const [index, groups] of sites.entries()) bench.node(`n${index}`, { groups });
    };
    groupBy(1, 'here', 'there', 'here');
    bench.target('c');
    bench.followStages();
    const hint = /; nodes of closed stages .* hold every slot of their groups: .*raise maxUnavailablePer/;
    // The stage continues elsewhere.
    assert.doesNotMatch(bench.decide().summary.stage?.message ?? '', hint);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    bench.update('c', 'n1');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.match(bench.decide().summary.stage?.message ?? '', hint);
    groupBy(2, 'here', 'there', 'here');
    assert.doesNotMatch(bench.decide().summary.stage?.message ?? '', hint);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });

  it('hold back a node that is moved to a closed stage, and one that comes online there', () => {
    const bench = stagedBench([ring('lab')], ['lab', 'lab', 'shop']);
    bench.offline('n2');
    bench.followStages();
    bench.update('b', 'n0');
    bench.node('n1', { stages: 0 });
    bench.node('n2', { ready: true, readyChangedAt: bench.now() });
    bench.advance(60 * SECOND);
    assert.equal(bench.cause('n1'), 'stage');
    assert.equal(bench.cause('n2'), 'stage');
    // Now the lab is covered without it.
    assert.deepEqual(bench.followStages(), ['start-soak lab', 'promote lab Gates', 'open-stage rest']);
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n1', 'n2']);
  });

  it('are neither opened nor passed while the rollout is paused', () => {
    const bench = stagedBench([ring('lab', { soak: '10s' })], ['lab', 'shop']);
    bench.followStages();
    bench.update('b', 'n0');
    bench.followStages();
    bench.policy({ paused: true });
    bench.advance(20 * SECOND);
    assert.deepEqual(bench.followStages(), []);
    assert.equal(waits(bench), 'lab Held');
    bench.policy({ paused: false });
    assert.deepEqual(bench.followStages(), ['promote lab Gates', 'open-stage rest']);
  });
});

describe('coverage', () => {
  for (const [coverage, minNodes, nodes, needed] of [
    ['100%', 1, 3, 3],
    ['50%', 1, 3, 2],
    ['34%', 1, 3, 2],
    ['33%', 1, 3, 1],
    [2, 1, 3, 2],
    [9, 1, 3, 3],
    ['0%', 1, 3, 1],
    [0, 2, 3, 2],
    ['10%', 9, 3, 3],
  ] as const)
    it(`of ${coverage}, and at least ${minNodes}, is ${needed} of ${nodes} nodes`, () => {
      const rings = Array.from({ length: nodes }, () => 'lab');
      const bench = stagedBench([ring('lab', { coverage, minNodes })], [...rings, 'shop']);
      bench.followStages();
      for (let updated = 1; updated <= needed; updated += 1) {
        assert.deepEqual(bench.followStages(), [], `${updated - 1} nodes are enough`);
        bench.update('b', `n${updated - 1}`);
      }
      assert.deepEqual(bench.followStages().slice(0, 2), ['start-soak lab', 'promote lab Gates']);
    });

  it('counts online nodes only, and an offline stage waits', () => {
    const bench = stagedBench([ring('lab')], ['lab', 'lab', 'shop']);
    bench.offline('n0', 'n1');
    assert.deepEqual(bench.followStages(), ['open-stage lab']);
    assert.equal(bench.decide().summary.stage?.message, 'waits for one of its nodes to come online');
    bench.online('n0');
    bench.advance(60 * SECOND);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    bench.update('b', 'n0');
    assert.deepEqual(bench.followStages(), ['start-soak lab', 'promote lab Gates', 'open-stage rest']);
    // It returns into a stage that was passed.
    bench.online('n1');
    bench.advance(60 * SECOND);
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n1', 'n2']);
  });

  it('of a stage without nodes is not awaited', () => {
    const bench = stagedBench([ring('lab', { soak: '1h', approval: { required: true } })], ['shop']);
    assert.deepEqual(bench.followStages(), ['open-stage lab', 'promote lab Empty', 'open-stage rest']);
    const none = stagedBench([ring('lab', {}, { count: 0 }), ring('shop', {}, { count: '0%' })], ['lab', 'shop']);
    assert.deepEqual(none.followStages().at(-1), 'open-stage rest');
    assert.deepEqual(none.nodesOf('reserve').length, 2);
  });
});

describe('a soak', () => {
  const soaking = (promote: PlanStagePromotion = {}): Workbench => {
    const bench = stagedBench([ring('lab', { soak: '10m', ...promote })], ['lab', 'lab', 'shop']);
    bench.followStages();
    bench.update('b', 'n0', 'n1');
    assert.deepEqual(bench.followStages(), ['start-soak lab']);
    return bench;
  };

  it('ends at the time that was written, whoever leads', () => {
    const bench = soaking();
    assert.equal(bench.ledger.state.stages[0]?.soakUntil, START + 600 * SECOND);
    bench.advance(599 * SECOND);
    failOver(bench);
    assert.deepEqual(bench.followStages(), []);
    assert.equal(bench.decide().wakeAt, START + 600 * SECOND);
    bench.advance(SECOND);
    assert.deepEqual(bench.followStages(), ['promote lab Gates', 'open-stage rest']);
  });

  it('goes by the clock of the API server, also when a leader whose clock is wrong takes over', () => {
    const bench = soaking();
    bench.setAhead(-500 * SECOND);
    bench.advance(99 * SECOND);
    assert.deepEqual(bench.followStages(), []);
    assert.equal(bench.decide().wakeAt, START + 100 * SECOND);
    bench.advance(SECOND);
    assert.deepEqual(bench.followStages(), ['promote lab Gates', 'open-stage rest']);
    const [lab, rest] = bench.ledger.state.stages;
    assert.deepEqual([lab?.promoted?.at, rest?.openedAt], [START + 600 * SECOND, START + 600 * SECOND]);
  });

  it('starts again when the coverage falls', () => {
    const bench = soaking();
    bench.advance(300 * SECOND);
    bench.change('n1', { ready: false, readyChangedAt: bench.now() });
    assert.deepEqual(bench.followStages(), ['end-soak lab']);
    bench.advance(SECOND);
    bench.change('n1', { ready: true, readyChangedAt: bench.now() });
    assert.deepEqual(bench.followStages(), ['start-soak lab']);
    assert.equal(bench.ledger.state.stages[0]?.soakUntil, START + 901 * SECOND);
  });

  it('continues when a covered node goes offline, and ends when all have', () => {
    const bench = soaking();
    bench.offline('n1');
    assert.deepEqual(bench.followStages(), []);
    bench.offline('n0');
    assert.deepEqual(bench.followStages(), ['end-soak lab']);
  });

  it('is skipped by a promotion by hand, for that revision and stage alone', () => {
    const bench = soaking();
    for (const wrong of [{ revision: 'a' }, { stage: 'rest' }, { decision: 'Approve' } as const]) {
      approve(bench, 'lab', { decision: 'Promote', ...wrong });
      assert.deepEqual(bench.followStages(), [], JSON.stringify(wrong));
    }
    approve(bench, 'lab', { decision: 'Promote', by: 'bob' });
    assert.deepEqual(bench.followStages(), ['promote lab ByHand', 'open-stage rest']);
    assert.equal(bench.ledger.state.stages[0]?.promoted?.by, 'bob');
  });
});

describe('an approval', () => {
  it('is awaited after the soak, and counts for its revision and stage alone', () => {
    const bench = stagedBench([ring('lab', { soak: '1m', approval: { required: true } })], ['lab', 'shop']);
    bench.followStages();
    bench.update('b', 'n0');
    bench.followStages();
    assert.equal(waits(bench), 'lab Soak');
    bench.advance(60 * SECOND);
    assert.equal(waits(bench), 'lab Approval');
    approve(bench, 'lab', { revision: 'a' });
    approve(bench, 'rest');
    assert.deepEqual(bench.followStages(), []);
    approve(bench, 'lab');
    assert.deepEqual(bench.followStages(), ['promote lab Gates', 'open-stage rest']);
    assert.equal(bench.ledger.state.stages[0]?.promoted?.by, 'ann');
  });

  it('may come early, and leaves the coverage and the soak to be awaited', () => {
    const bench = stagedBench([ring('lab', { soak: '1m', approval: { required: true } })], ['lab', 'shop']);
    approve(bench, 'lab');
    assert.deepEqual(bench.followStages(), ['open-stage lab']);
    bench.update('b', 'n0');
    assert.deepEqual(bench.followStages(), ['start-soak lab']);
    bench.advance(60 * SECOND);
    assert.deepEqual(bench.followStages()[0], 'promote lab Gates');
  });

  it('is not replaced by a promotion by hand', () => {
    const bench = stagedBench([ring('lab', { approval: { required: true } })], ['lab', 'shop']);
    approve(bench, 'lab', { decision: 'Promote', by: 'bob' });
    assert.deepEqual(bench.followStages(), ['open-stage lab']);
    assert.equal(waits(bench), 'lab Approval');
    approve(bench, 'lab');
    assert.deepEqual(bench.followStages()[0], 'promote lab ByHand');
    assert.equal(bench.ledger.state.stages[0]?.promoted?.by, 'bob');
  });
});

describe('a timeout', () => {
  const timed = (promote: PlanStagePromotion): Workbench => {
    const bench = stagedBench([ring('lab', { timeout: '10m', ...promote })], ['lab', 'lab', 'shop']);
    bench.followStages();
    bench.advance(599 * SECOND);
    assert.deepEqual(bench.followStages(), []);
    return bench;
  };

  it('is reported, and holds by default', () => {
    const bench = timed({});
    assert.equal(bench.decide().wakeAt, START + 600 * SECOND);
    bench.advance(SECOND);
    assert.deepEqual(bench.followStages(), []);
    assert.equal(waits(bench), 'lab Timeout');
  });

  it('promotes without coverage and soak', () => {
    const bench = timed({ onTimeout: 'promote', soak: '1h' });
    bench.update('b', 'n0');
    bench.advance(SECOND);
    assert.deepEqual(bench.followStages(), ['promote lab Timeout', 'open-stage rest']);
  });

  it('promotes in the middle of a soak', () => {
    const bench = timed({ onTimeout: 'promote', soak: '1h' });
    bench.update('b', 'n0', 'n1');
    assert.deepEqual(bench.followStages(), ['start-soak lab']);
    bench.advance(SECOND);
    assert.deepEqual(bench.followStages()[0], 'promote lab Timeout');
  });

  it('never replaces an approval', () => {
    const bench = timed({ onTimeout: 'promote', approval: { required: true } });
    bench.advance(SECOND);
    assert.deepEqual(bench.followStages(), []);
    approve(bench, 'lab');
    assert.deepEqual(bench.followStages()[0], 'promote lab Timeout');
  });

  for (const state of ['Pending', 'NoResult', 'Failing', 'Failed'] as const)
    it(`never replaces a check that is ${state}`, () => {
      const checks = [{ name: 'errors', prometheus: { query: 'errors', condition: 'true' } }];
      const bench = benchAt(2, { maxUnavailable: percent(100) });
      replan(bench, { stages: [ring('lab', { timeout: '10m', onTimeout: 'promote', checks: ['errors'] })], checks }, [
        'lab',
        'shop',
      ]);
      bench.ledger.patchState({ startedAt: START }, START);
      bench.followStages();
      bench.advance(600 * SECOND);
      const stand = { state, failures: 0, at: bench.now(), message: 'no answer' };
      bench.ledger.patchStage('lab', { checks: { errors: stand } }, bench.now());
      assert.ok(!bench.followStages().some((taken) => taken.startsWith('promote')));
      bench.ledger.patchStage('lab', { checks: { errors: { ...stand, state: 'Passing' } } }, bench.now());
      assert.deepEqual(bench.followStages()[0], 'promote lab Timeout');
    });
});
