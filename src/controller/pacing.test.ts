import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPacing, turnAfter } from './pacing.ts';

describe('pacing', () => {
  it('doubles the wait of one key, up to a bound, and leaves the others alone', () => {
    const pacing = createPacing({ firstMs: 1_000, longestMs: 5_000 });
    const waits = Array.from({ length: 5 }, () => {
      pacing.failed('a', 100_000);
      return pacing.until('a', 100_000) - 100_000;
    });
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 5_000, 5_000]);
    assert.equal(pacing.until('b', 100_000), 0);
  });

  it('starts anew after a success', () => {
    const pacing = createPacing();
    pacing.failed('a', 0);
    pacing.failed('a', 0);
    pacing.succeeded('a');
    assert.equal(pacing.until('a', 0), 0);
    pacing.failed('a', 0);
    assert.equal(pacing.until('a', 0), 1_000);
  });

  it('does not wait longer because the clock was set back', () => {
    const pacing = createPacing();
    pacing.failed('a', 600_000);
    assert.ok(pacing.until('a', 0) <= 0);
  });

  it('forgets what nobody tries any more', () => {
    const pacing = createPacing();
    for (let index = 0; index < 1_000; index += 1) pacing.failed(`node${index}`, index);
    pacing.failed('late', 1_000_000);
    assert.equal(pacing.size, 1);
  });
});

it('a turn comes after its interval, and at once when the last one lies in the future', () => {
  assert.equal(turnAfter(1_000, 100, 1_050), 1_100);
  assert.equal(turnAfter(Number.NEGATIVE_INFINITY, 100, 5), Number.NEGATIVE_INFINITY);
  assert.equal(turnAfter(2_000, 100, 1_000), 1_000);
});
