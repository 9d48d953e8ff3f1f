import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from '../policy/int-or-percent.ts';
import { createWorkbench, START } from '../testing/workbench.ts';

/** Nodes in the order given: name, time of Ready (s after an old date), zone. */
const fleet = (...nodes: [name: string, ready: number, zone: string][]) => {
  const bench = createWorkbench({ maxUnavailable: count(3) });
  bench.target('a');
  for (const [name, ready, zone] of nodes) {
    bench.node(name, { readyChangedAt: START - 1_000_000 + ready * 1_000, zone });
    bench.pod(name, 'a');
  }
  bench.ledger.finishInitialSync();
  bench.advance(0);
  bench.target('b');
  return bench;
};
const order = (bench: ReturnType<typeof fleet>): string[] =>
  [...bench.ledger.candidates('outdated')].map(({ name }) => name);

describe('candidates', () => {
  it('are sorted by how long they have been Ready, then by name', () => {
    assert.deepEqual(order(fleet(['d', 5, ''], ['b', 1, ''], ['c', 3, ''], ['a', 3, ''])), ['b', 'a', 'c', 'd']);
  });

  it('are sorted again after the node was offline', () => {
    const bench = fleet(['a', 1, ''], ['b', 2, '']);
    bench.offline('a');
    bench.online('a');
    bench.advance(10_000);
    assert.deepEqual(order(bench), ['b', 'a']);
  });

  it('alternate between zones, and keep their order within a zone', () => {
    const bench = fleet(['a', 1, 'x'], ['b', 2, 'x'], ['c', 3, 'x'], ['d', 4, 'y'], ['e', 5, 'z'], ['f', 6, 'y']);
    assert.deepEqual(order(bench), ['a', 'd', 'e', 'b', 'f', 'c']);
    assert.deepEqual(bench.nodesOf('reserve'), ['a', 'd', 'e']);
  });

  it('start with the zone that has the fewest nodes in flight', () => {
    const bench = fleet(['a', 1, 'x'], ['b', 2, 'x'], ['c', 3, 'x'], ['d', 4, 'y'], ['e', 5, 'y']);
    bench.deletePod('a', 'b');
    assert.deepEqual(order(bench), ['d', 'e', 'c']);
    bench.start('a', 'b');
    bench.start('b', 'b');
    assert.deepEqual(order(bench), ['c', 'd', 'e']);
  });

  it('move when their zone changes, and none is lost or duplicated', () => {
    const bench = fleet(['a', 1, 'x'], ['b', 2, 'x'], ['c', 3, 'y']);
    bench.node('b', { zone: 'y' });
    bench.node('c', { zone: '' });
    assert.deepEqual(order(bench).toSorted(), ['a', 'b', 'c']);
  });
});
