import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createShares } from './shares.ts';

it('has holders give up their own first, then who has most, what was used longest ago', () => {
  const busy = new Set<string>();
  const shares = createShares<string>({ most: 5, mostOfOne: 3 }, (item) => busy.has(item));
  for (const item of ['a1', 'a2', 'a3']) shares.use('a', item);
  assert.equal(shares.victim('b'), undefined);
  assert.deepEqual(shares.victim('a'), { holder: 'a', item: 'a1' });
  shares.use('a', 'a1');
  assert.deepEqual(shares.victim('a'), { holder: 'a', item: 'a2' });
  busy.add('a2');
  assert.deepEqual(shares.victim('a'), { holder: 'a', item: 'a3' });
  for (const item of ['a1', 'a3']) busy.add(item);
  assert.deepEqual(shares.victim('a'), { holder: 'a', item: 'a2' }, 'all are busy');

  for (const item of ['b1', 'b2']) shares.use('b', item);
  assert.equal(shares.size, 5);
  assert.equal(shares.victim('c')?.holder, 'a');
  shares.drop('a', 'a1');
  shares.drop('a', 'a1');
  assert.deepEqual([shares.size, shares.of('a'), shares.victim('c')], [4, 2, undefined]);
  shares.use('c', 'c1');
  assert.deepEqual(shares.victim('b'), { holder: 'b', item: 'b1' }, 'nobody has more');
  assert.equal(shares.victim('d')?.holder, 'a', 'who has not used theirs for longest');
});
