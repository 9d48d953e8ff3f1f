import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count, percent } from '../policy/int-or-percent.ts';
import { benchAt, type Workbench } from '../testing/workbench.ts';

const allowed = (bench: Workbench): string[] =>
  [...bench.ledger.records()]
    .filter(({ partitionAllows, status }) => partitionAllows && status.phase !== undefined && !status.committed)
    .map(({ name }) => name)
    .toSorted();
const roll = (bench: Workbench): string[] => {
  const updated: string[] = [];
  for (let round = 0; round < 30; round += 1) {
    const [next] = bench.nodesOf('reserve');
    if (next === undefined) return updated.toSorted();
    bench.update('b', next);
    updated.push(next);
  }
  return updated.toSorted();
};

describe('a partition', () => {
  for (const [partition, updated] of [
    [count(0), ['n0', 'n1', 'n2', 'n3', 'n4']],
    [count(3), ['n3', 'n4']],
    [count(5), []],
    [count(9), []],
    [percent(100), []],
    [percent(50), ['n2', 'n3', 'n4']],
    [percent(19), ['n0', 'n1', 'n2', 'n3', 'n4']],
  ] as const)
    it(`of ${partition.value}${partition.kind === 'percent' ? ' %' : ''} keeps the first nodes by name on the old revision`, () => {
      assert.deepEqual(roll(benchAt(5, { partition })), updated);
    });

  it('counts nodes at the target first', () => {
    const bench = benchAt(5, { partition: count(3) });
    bench.removePod('n0');
    bench.start('n0', 'b');
    assert.deepEqual(allowed(bench), ['n4']);
    assert.deepEqual(roll(bench), ['n4']);
  });

  it('counts nodes first whose pod terminates or is gone, including offline nodes: the next pod is of the target', () => {
    const bench = benchAt(6, { partition: count(3) });
    bench.change('n0', { terminating: true });
    bench.offline('n0');
    assert.deepEqual(allowed(bench), ['n4', 'n5']);
    bench.removePod('n1');
    assert.deepEqual(allowed(bench), ['n5']);
    bench.start('n1', 'b');
    assert.deepEqual(roll(bench), ['n5']);
  });

  it('still allows nodes that go offline', () => {
    const bench = benchAt(5, { partition: count(3) });
    bench.offline('n4');
    assert.deepEqual(roll(bench), ['n3']);
    assert.equal(bench.phase('n2'), 'held/partition');
    bench.online('n4');
    bench.advance(10_000);
    assert.deepEqual(roll(bench), ['n4']);
  });

  it('does not count nodes that the selector excludes', () => {
    const bench = benchAt(5, { partition: count(2) });
    bench.node('n4', { selected: false });
    assert.deepEqual(roll(bench), ['n1', 'n2', 'n3']);
  });

  it('follows changes of the value', () => {
    const bench = benchAt(6, { partition: count(5) });
    assert.deepEqual(roll(bench), ['n5']);
    bench.policy({ partition: count(3) });
    assert.deepEqual(roll(bench), ['n3', 'n4']);
    bench.policy({ partition: count(5) });
    assert.deepEqual(roll(bench), []);
    bench.policy({ partition: count(0) });
    assert.deepEqual(roll(bench), ['n0', 'n1', 'n2']);
  });

  it('follows nodes that join, leave, or change', () => {
    const bench = benchAt(4, { partition: count(3) });
    assert.deepEqual(allowed(bench), ['n3']);
    bench.node('n9');
    bench.pod('n9', 'a');
    assert.deepEqual(allowed(bench), ['n3', 'n9']);
    bench.ledger.removeNode('n9', bench.now());
    bench.removePod('n9');
    assert.deepEqual(allowed(bench), ['n3']);
    bench.node('n3', { eligible: false });
    assert.deepEqual(allowed(bench), []);
  });

  it('releases a reserved slot if the partition is raised before the update', () => {
    const bench = benchAt(3, { partition: count(2) });
    bench.reserve('n2');
    assert.deepEqual(bench.nodesOf('delete'), ['n2']);
    bench.policy({ partition: count(3) });
    assert.deepEqual(bench.steps(), [{ type: 'release', node: 'n2', fence: false }]);
  });

  it('starts over with every target', () => {
    const bench = benchAt(3, { partition: count(2) });
    assert.deepEqual(roll(bench), ['n2']);
    bench.target('c');
    assert.deepEqual(allowed(bench), ['n2']);
  });
});
