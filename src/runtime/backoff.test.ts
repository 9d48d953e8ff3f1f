import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backoffMs, createKeyedBackoff, nextAllowedAt } from './backoff.ts';

const options = { baseMs: 100, maxMs: 1_000 };

it('back-off doubles with each failure up to the longest delay', () => {
  const delays = [0, 1, 2, 3, 4, 5, 10_000].map((failures) => backoffMs(failures, options));
  assert.deepEqual(delays, [100, 100, 200, 400, 800, 1_000, 1_000]);
});

it('back-off takes up to half off where it is given random numbers', () => {
  assert.equal(
    backoffMs(2, options, () => 0),
    100,
  );
  assert.equal(
    backoffMs(2, options, () => 0.5),
    150,
  );
});

describe('keyed back-off', () => {
  it('doubles the delay of one key up to a maximum, and leaves other keys alone', () => {
    const backoff = createKeyedBackoff({ baseMs: 1_000, maxMs: 5_000 });
    const waits = Array.from({ length: 5 }, () => {
      backoff.failed('a', 100_000);
      return backoff.nextAttemptAt('a', 100_000) - 100_000;
    });
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 5_000, 5_000]);
    assert.equal(backoff.nextAttemptAt('b', 100_000), 0);
  });

  it('starts over after a success', () => {
    const backoff = createKeyedBackoff();
    backoff.failed('a', 0);
    backoff.failed('a', 0);
    backoff.reset('a');
    assert.equal(backoff.nextAttemptAt('a', 0), 0);
    backoff.failed('a', 0);
    assert.equal(backoff.nextAttemptAt('a', 0), 1_000);
  });

  it('lasts as long as a server asked for, and does not grow by that', () => {
    const backoff = createKeyedBackoff({ baseMs: 100, maxMs: 5_000 });
    const waits = [1_000, 1_000, 60_000, 1, undefined].map((askedMs) => {
      backoff.failed('a', 0, askedMs);
      return backoff.nextAttemptAt('a', 0);
    });
    assert.deepEqual(waits, [1_000, 1_000, 5_000, 100, 100]);
  });

  it('is no longer when the clock was set back', () => {
    const backoff = createKeyedBackoff();
    backoff.failed('a', 600_000);
    assert.ok(backoff.nextAttemptAt('a', 0) <= 0);
  });

  it('expires for keys that nobody tries', () => {
    const backoff = createKeyedBackoff();
    for (let index = 0; index < 1_000; index += 1) backoff.failed(`node${index}`, index);
    backoff.failed('late', 1_000_000);
    assert.equal(backoff.size, 1);
  });
});

it('an action is allowed after its interval, and at once when the last one lies in the future', () => {
  assert.equal(nextAllowedAt(1_000, 100, 1_050), 1_100);
  assert.equal(nextAllowedAt(Number.NEGATIVE_INFINITY, 100, 5), Number.NEGATIVE_INFINITY);
  assert.equal(nextAllowedAt(2_000, 100, 1_000), 1_000);
});
