import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { find } from './find.ts';

const tabs = { texts: ['fleet', 'stages', 'timeline'] };
const nodes = { texts: Array.from({ length: 10_000 }, (_, index) => `shop-${index + 1}`) };
const texts = (query: string, limit = 50): string[] => {
  const sources = [tabs, nodes];
  return find(sources, query, limit).found.map(({ source, index }) => sources[source]?.texts[index] ?? '');
};

describe('the search of the palette', () => {
  it('finds texts that have every word, whatever the case and the order', () => {
    assert.deepEqual(texts('FLE'), ['fleet']);
    assert.deepEqual(texts('999 shop').slice(0, 2), ['shop-999', 'shop-1999']);
    assert.deepEqual(texts('shop fleet'), []);
  });

  it('has those first that begin with the query, and otherwise keeps the order', () => {
    assert.deepEqual(texts('e').slice(0, 3), ['fleet', 'stages', 'timeline']);
    const { found } = find([{ texts: ['a-web', 'web-10', 'web-2', 'b-web'] }], 'web', 50);
    assert.deepEqual(
      found.map(({ index }) => index),
      [1, 2, 0, 3],
    );
  });

  it('finds the first of everything without a query', () => {
    assert.deepEqual(texts('', 5), ['fleet', 'stages', 'timeline', 'shop-1', 'shop-2']);
    assert.deepEqual(texts('   ', 1), ['fleet']);
  });

  it('shows at most as many as it is told, counts all, and leaves room for every source', () => {
    const { found, all } = find([nodes, { texts: ['the shop of anna'] }], 'shop', 50);
    assert.equal(found.length, 50);
    assert.equal(all, 10_001);
    assert.deepEqual(found.at(-1), { source: 1, index: 0 });
  });
});
