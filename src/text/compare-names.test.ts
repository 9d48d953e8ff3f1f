import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byName, compareNames } from './compare-names.ts';

describe('order of names', () => {
  const sorted = (...names: string[]): string[] => names.toSorted(compareNames);

  it('counts numbers within names', () => {
    assert.deepEqual(sorted('shop-10', 'shop-2', 'shop-1', 'shop-100'), ['shop-1', 'shop-2', 'shop-10', 'shop-100']);
    assert.deepEqual(sorted('r10-n2', 'r9-n11', 'r9-n3'), ['r9-n3', 'r9-n11', 'r10-n2']);
  });

  it('tells apart names that only differ in zeros', () => {
    assert.deepEqual(sorted('shop-1', 'shop-01', 'shop-001'), ['shop-001', 'shop-01', 'shop-1']);
    assert.equal(compareNames('shop-1', 'shop-1'), 0);
  });

  it('sorts what has a name', () => {
    assert.deepEqual([{ name: 'b10' }, { name: 'b9' }].toSorted(byName), [{ name: 'b9' }, { name: 'b10' }]);
  });
});
