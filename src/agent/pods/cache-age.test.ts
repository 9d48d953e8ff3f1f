import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '../../runtime/index.ts';
import { createCacheAge, TICK_MS, UNKNOWN_AGE_SECONDS } from './cache-age.ts';

/** A clock that can be adjusted: `offset` is its error. */
const settable = () => {
  const state = { truth: 1_000_000, offset: 0 };
  const clock: Clock = {
    now: () => state.truth + state.offset,
    timer: () => ({ cancel: () => undefined }),
  };
  return { state, clock };
};

describe('the cache age', () => {
  it('is unknown before the first contact', () => {
    assert.equal(createCacheAge(settable().clock, undefined).ageSeconds(), UNKNOWN_AGE_SECONDS);
  });

  it('grows with the clock', () => {
    const { state, clock } = settable();
    const contact = createCacheAge(clock, undefined);
    contact.reset();
    assert.equal(contact.ageSeconds(), 0);
    state.truth += 61_500;
    assert.equal(contact.ageSeconds(), 62);
  });

  it('is an upper bound if the clock is set back, before or after a restart', () => {
    const { state, clock } = settable();
    let contact = createCacheAge(clock, undefined);
    contact.reset();
    const heardAt = state.truth;
    const hold = (what: string): void => {
      const truth = (state.truth - heardAt) / 1000;
      assert.ok(contact.ageSeconds() >= truth, `${what}: ${contact.ageSeconds()} is less than ${truth}`);
      assert.ok(contact.ageSeconds() < truth + 120, `${what}: ${contact.ageSeconds()} is far above ${truth}`);
    };
    for (let step = 0; step < 30; step += 1) {
      state.truth += TICK_MS;
      if (step % 10 === 5) state.offset -= 300_000;
      contact.tick();
      hold(`step ${step}`);
    }
    contact = createCacheAge(clock, contact.saved());
    hold('restarted');
    for (let step = 0; step < 10; step += 1) {
      state.truth += TICK_MS;
      state.offset -= 4_000;
      contact.tick();
      hold(`set back by less than a tick, ${step}`);
    }
    state.truth += 5_000;
    state.offset -= 600_000;
    hold('set back between two ticks');
  });

  it('is unknown after a restart with a clock that is behind', () => {
    const { state, clock } = settable();
    const before = createCacheAge(clock, undefined);
    before.reset();
    state.truth += 3_600_000;
    const kept = before.saved();
    state.offset = -7_200_000;
    const contact = createCacheAge(clock, kept);
    assert.equal(contact.ageSeconds(), UNKNOWN_AGE_SECONDS);
    assert.equal(contact.lastContactAt(), undefined);
    state.truth += 1_000_000_000;
    assert.equal(contact.ageSeconds(), UNKNOWN_AGE_SECONDS, 'waiting does not make it known');
    contact.reset();
    assert.equal(contact.ageSeconds(), 0);
  });
});
