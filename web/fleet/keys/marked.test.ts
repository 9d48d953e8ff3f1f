import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { neighborOf, nextOf } from './marked.ts';

const all = ['a', 'b', 'c'];

describe('the keys that move', () => {
  it('begin at the first or the last, and stop there', () => {
    assert.equal(neighborOf(all, undefined, 1), 'a');
    assert.equal(neighborOf(all, 'gone', -1), 'c');
    assert.equal(neighborOf(all, 'a', 1), 'b');
    assert.equal(neighborOf(all, 'c', 1), 'c');
    assert.equal(neighborOf(all, 'a', -1), 'a');
    assert.equal(neighborOf([], 'a', 1), undefined);
  });

  it('find the next one that is wanted, around the end, and the same again if it is the only one', () => {
    const wanted = (one: string): boolean => one !== 'b';
    assert.equal(nextOf(all, undefined, wanted), 'a');
    assert.equal(nextOf(all, 'a', wanted), 'c');
    assert.equal(nextOf(all, 'c', wanted), 'a');
    assert.equal(
      nextOf(all, 'c', (one) => one === 'c'),
      'c',
    );
    assert.equal(
      nextOf(all, 'a', () => false),
      undefined,
    );
  });
});
