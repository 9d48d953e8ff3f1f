import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from '../policy/int-or-percent.ts';
import { benchAt, type Workbench } from '../testing/workbench.ts';
import type { Step } from './action.ts';

const types = (bench: Workbench): Step['type'][] => bench.steps().map(({ type }) => type);
const holdOf = (bench: Workbench): string | undefined => bench.decide().summary.hold?.kind;
const broken = { ready: false, readyChangedAt: 0 };

describe('transitions of a rollout', () => {
  const failing = (nodes: number, change = {}) => {
    const bench = benchAt(8, { maxUnavailable: count(4), ...change });
    for (let index = 0; index < nodes; index += 1) {
      bench.deletePod(`n${index}`);
      bench.start(`n${index}`, 'b', { ...broken, trouble: 'crash-loop' });
    }
    return bench;
  };
  const carryOut = (bench: Workbench): void => {
    const [turn] = bench.steps();
    if (turn?.type === 'halt') bench.ledger.patchState({ halted: turn.halt }, bench.now());
    else if (turn?.type === 'resume') {
      bench.ledger.forgive(bench.now());
      bench.ledger.patchState({ halted: undefined, resumed: turn.value }, bench.now());
    } else assert.fail(`no turn in ${JSON.stringify(turn)}`);
  };

  it('halts at the threshold, names the nodes, and stays halted until the template changes', () => {
    const bench = failing(2);
    assert.equal(types(bench).includes('halt'), false);
    bench.deletePod('n2');
    bench.start('n2', 'b', { ...broken, trouble: 'image-pull' });
    const [turn] = bench.steps();
    assert.deepEqual(turn, { type: 'halt', halt: { at: bench.now(), reason: 'Failures', nodes: ['n0', 'n1', 'n2'] } });
    carryOut(bench);
    for (const node of ['n0', 'n1', 'n2'])
      bench.change(node, { ready: true, trouble: undefined, readyChangedAt: bench.now() });
    assert.equal(bench.decide().summary.breaker.failures, 0);
    assert.equal(holdOf(bench), 'halted');
    bench.target('c');
    assert.equal(holdOf(bench), undefined);
  });

  it('halts when failures hold every slot of a small budget', () => {
    const bench = failing(1, { maxUnavailable: count(1) });
    assert.deepEqual(types(bench), ['halt']);
  });

  it('halts only at the threshold where owners decide: there is no budget to use up', () => {
    const bench = failing(2);
    bench.policy({ strategy: 'ota', maxUnavailable: count(1) });
    assert.ok(!types(bench).includes('halt'));
    const more = failing(3);
    more.policy({ strategy: 'ota', maxUnavailable: count(0) });
    assert.equal(types(more)[0], 'halt');
  });

  it('names the first ten nodes', () => {
    const bench = benchAt(20, { maxUnavailable: count(15), failureThreshold: count(12) });
    for (let index = 0; index < 12; index += 1) {
      bench.deletePod(`n${index}`);
      bench.start(`n${index}`, 'b', { ...broken, trouble: 'crash-loop' });
    }
    const [turn] = bench.steps();
    assert.equal(turn?.type === 'halt' && turn.halt.nodes.length, 10);
  });

  it('resumes once for each value of the annotation that names the target', () => {
    const bench = failing(3);
    carryOut(bench);
    bench.policy({ resume: { hash: 'a', value: 'a' } });
    assert.deepEqual(types(bench), [], 'another revision');
    bench.policy({ resume: { hash: 'b', value: 'b' } });
    assert.deepEqual(types(bench), ['resume']);
    carryOut(bench);
    assert.equal(bench.decide().summary.breaker.failures, 0);
    assert.equal(bench.nodesOf('reserve').length, 1);
    for (const node of ['n3', 'n4', 'n5']) {
      bench.deletePod(node);
      bench.start(node, 'b', { ...broken, trouble: 'crash-loop' });
    }
    carryOut(bench);
    assert.equal(holdOf(bench), 'halted', 'new failures count');
    assert.deepEqual(types(bench), [], 'the same value counts once');
    bench.policy({ resume: { hash: 'b', value: 'b/2' } });
    assert.deepEqual(types(bench), ['resume']);
  });

  it('rolls back to the last complete revision if configured, and repairs within the budget', () => {
    const bench = benchAt(8, { maxUnavailable: count(4), onFailure: 'rollback' });
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    for (const node of ['n0', 'n1', 'n2', 'n3']) {
      bench.deletePod(node);
      bench.start(node, 'b', { ...broken, trouble: 'crash-loop' });
    }
    carryOut(bench);
    assert.deepEqual(bench.steps(), [{ type: 'rollback', to: { name: 'set-a', hash: 'a' } }]);
    bench.policy({ paused: true });
    assert.deepEqual(types(bench), [], 'not while the user has paused it');
    bench.policy({ paused: false, rolledBackFrom: 'b', maxUnavailable: count(2) });
    bench.target('a');
    const first = bench.nodesOf('reserve');
    assert.equal(first.length, 2);
    bench.update('a', ...first);
    const second = bench.nodesOf('reserve');
    assert.deepEqual([...first, ...second].toSorted(), ['n0', 'n1', 'n2', 'n3']);
    bench.update('a', ...second);
    assert.deepEqual(types(bench), ['complete']);
  });

  it('halts instead if no revision was complete, or the target itself was', () => {
    for (const lastComplete of [undefined, { name: 'set-b', hash: 'b' }]) {
      const bench = failing(3, { onFailure: 'rollback' });
      bench.ledger.patchState({ lastComplete }, bench.now());
      carryOut(bench);
      assert.deepEqual(types(bench), []);
    }
  });

  it('stays halted when a rolled back revision is set again, until it is resumed again', () => {
    const bench = benchAt(3, { rolledBackFrom: 'b' });
    assert.deepEqual(bench.ledger.state.halted?.reason, 'RolledBack');
    assert.deepEqual(types(bench), []);
    bench.policy({ resume: { hash: 'b', value: 'b/1' } });
    carryOut(bench);
    assert.equal(bench.nodesOf('reserve').length, 1);
    // Rolled back once more and set again: the earlier consent does not count.
    bench.target('a');
    bench.target('b');
    assert.equal(holdOf(bench), 'halted');
    assert.deepEqual(types(bench), []);
  });

  it('completes once, and only with every online node updated and none in flight', () => {
    const bench = benchAt(3, { maxUnavailable: count(3) });
    bench.update('b', 'n0', 'n1');
    assert.equal(bench.decide().summary.complete, false);
    bench.offline('n2');
    assert.deepEqual(types(bench), ['complete']);
    const target = { name: 'set-b', hash: 'b' };
    bench.ledger.patchState({ finishedAt: bench.now(), lastComplete: target }, bench.now());
    assert.deepEqual(types(bench), []);
    bench.online('n2');
    assert.equal(bench.decide().summary.complete, false);
    bench.advance(10_000);
    bench.update('b', 'n2');
    assert.deepEqual(types(bench), []);
    assert.equal(bench.decide().summary.complete, true);
  });

  it('is not complete with a node that a partition keeps or whose pod came back old', () => {
    const bench = benchAt(2, { maxUnavailable: count(2), partition: count(1) });
    bench.update('b', 'n1');
    assert.equal(bench.decide().summary.complete, false);
    bench.policy({ partition: count(0) });
    bench.update('a', 'n0');
    assert.equal(bench.decide().summary.complete, false);
  });

  it('is not complete while a reserved slot is not released', () => {
    const bench = benchAt(1);
    bench.reserve('n0', { state: 'unsure' });
    bench.target('a');
    assert.equal(bench.phase('n0'), 'updated/current');
    assert.equal(bench.decide().summary.complete, false);
    assert.deepEqual(types(bench), ['release']);
    bench.ledger.noteEvent('n0', 'released', bench.now());
    assert.deepEqual(types(bench), ['complete']);
  });

  it('is not complete without any node that runs the target', () => {
    const bench = benchAt(1);
    bench.offline('n0');
    assert.deepEqual(types(bench), []);
  });
});
