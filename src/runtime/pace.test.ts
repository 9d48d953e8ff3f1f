import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '../../test/support/index.ts';
import { createPace } from './pace.ts';

const prepare = () => {
  const clock = createTestClock();
  const pace = createPace(clock, 100, 3);
  /** Milliseconds until the next time, 0 for at once. */
  const wait = (): number => Math.max(0, pace.nextAt() - clock.now());
  const done = (times: number): void => {
    for (let time = 0; time < times; time += 1) pace.done();
  };
  return { clock, pace, wait, done };
};

describe('a pace', () => {
  it('lets a few times go ahead after a rest, and then one an interval', async () => {
    const { clock, wait, done } = prepare();
    assert.equal(wait(), 0);
    done(3);
    assert.equal(wait(), 0);
    done(1);
    assert.equal(wait(), 100);
    await clock.advance(100);
    assert.equal(wait(), 0);
    done(1);
    assert.equal(wait(), 100);
  });

  it('earns what was done ahead by a rest, and no more', async () => {
    const { clock, wait, done } = prepare();
    done(4);
    await clock.advance(1_000_000);
    done(4);
    assert.equal(wait(), 100);
  });

  it('waits for no longer than the intervals that are ahead when the clock is set back', () => {
    const { clock, wait, done } = prepare();
    done(4);
    clock.jump(-3_600_000);
    assert.equal(wait(), 100);
  });
});
