import assert from 'node:assert/strict';
import { it } from 'node:test';
import { backoffMs } from './backoff.ts';

const options = { baseMs: 100, maxMs: 1_000 };

it('doubles with each failure up to the longest delay', () => {
  const delays = [0, 1, 2, 3, 4, 5, 10_000].map((failures) => backoffMs(failures, options));
  assert.deepEqual(delays, [100, 100, 200, 400, 800, 1_000, 1_000]);
});

it('takes up to half off where it is given random numbers', () => {
  assert.equal(
    backoffMs(2, options, () => 0),
    100,
  );
  assert.equal(
    backoffMs(2, options, () => 0.5),
    150,
  );
});
