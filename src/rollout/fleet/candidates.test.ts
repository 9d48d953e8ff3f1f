import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from '../policy/int-or-percent.ts';
import { createWorkbench } from '../testing/workbench.ts';

/** The zones of nodes n0, n1 and so on, whose pods are outdated. */
const fleet = (...zones: string[]) => {
  const bench = createWorkbench({ maxUnavailable: count(3) });
  bench.target('a');
  for (const [index, zone] of zones.entries()) {
    bench.node(`n${index}`, { zone });
    bench.pod(`n${index}`, 'a');
  }
  bench.ledger.finishInitialSync();
  bench.advance(0);
  bench.target('b');
  return bench;
};
const order = (bench: ReturnType<typeof fleet>): string[] =>
  [...bench.ledger.candidates('outdated')].map(({ name }) => name);
const zoneOf = (bench: ReturnType<typeof fleet>, name: string): string => bench.ledger.get(name)?.node?.zone ?? '';

describe('candidates', () => {
  it('come in an order of their own for each target, which neither names nor times of readiness decide', () => {
    const bench = fleet(...Array.from({ length: 100 }, () => ''));
    const first = order(bench);
    assert.equal(new Set(first).size, 100);
    assert.ok(new Set(first.slice(0, 20).map((name) => name.slice(0, 2))).size > 5, 'neighbors are apart');
    bench.offline('n7');
    bench.online('n7');
    bench.advance(10_000);
    assert.deepEqual(order(bench), first);
    bench.target('c');
    assert.notDeepEqual(order(bench), first);
    bench.target('b');
    assert.deepEqual(order(bench), first);
  });

  it('alternate between zones, and keep their order within a zone', () => {
    const zones = ['x', 'x', 'x', 'y', 'z', 'y'];
    const bench = fleet(...zones);
    const found = order(bench);
    assert.deepEqual(new Set(found.slice(0, 3).map((name) => zoneOf(bench, name))), new Set(['x', 'y', 'z']));
    assert.equal(zoneOf(bench, found[5] ?? ''), 'x');
    const alone = order(fleet(...zones.map(() => '')));
    for (const zone of ['x', 'y'])
      assert.deepEqual(
        found.filter((name) => zoneOf(bench, name) === zone),
        alone.filter((name) => zoneOf(bench, name) === zone),
      );
    assert.deepEqual(bench.nodesOf('reserve'), found.slice(0, 3));
  });

  it('start with the zone that has the fewest nodes in flight', () => {
    const bench = fleet('x', 'x', 'x', 'y', 'y');
    const zones = (): string[] => order(bench).map((name) => zoneOf(bench, name));
    bench.deletePod('n0', 'n1');
    assert.deepEqual(zones(), ['y', 'y', 'x']);
    bench.start('n0', 'b');
    bench.start('n1', 'b');
    assert.deepEqual(zones().slice(0, 2).toSorted(), ['x', 'y']);
  });

  it('move when their zone changes, and none is lost or duplicated', () => {
    const bench = fleet('x', 'x', 'y');
    bench.node('n1', { zone: 'y' });
    bench.node('n2', { zone: '' });
    assert.deepEqual(order(bench).toSorted(), ['n0', 'n1', 'n2']);
  });
});
