import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRandom } from './random.ts';

const take = (seed: number, count: number): number[] => {
  const random = createRandom(seed);
  return Array.from({ length: count }, random);
};

it('repeats its sequence for the same seed, and spreads it over [0, 1)', () => {
  assert.deepEqual(take(7, 100), take(7, 100));
  assert.notDeepEqual(take(7, 3), take(8, 3));
  const numbers = take(1, 10_000);
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  for (let tenth = 0; tenth < 10; tenth += 1) {
    const share = numbers.filter((number) => Math.floor(number * 10) === tenth).length / numbers.length;
    assert.ok(Math.abs(share - 0.1) < 0.02, `${tenth}: ${share}`);
  }
});

it('keeps the sequence that recorded plans were made with', () => {
  assert.deepEqual(
    take(1, 3).map((number) => Math.floor(number * 2 ** 32)),
    [2527132011, 314344336, 2535364964],
  );
});
