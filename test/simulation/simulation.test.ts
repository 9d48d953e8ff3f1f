import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePlan } from './make-plan.ts';
import { faultKinds } from './plan.ts';
import { play } from './play.ts';

describe('the simulation', () => {
  it('plays the same plan to the same history, byte by byte', async () => {
    const plan = makePlan(7, faultKinds);
    const { digest, lines } = await play(plan, true);
    assert.ok(lines.length > 100, `${lines.length} lines`);
    assert.deepEqual(makePlan(7, faultKinds), plan);
    assert.equal((await play(plan, true)).digest, digest);
    assert.notEqual((await play(makePlan(8, faultKinds), true)).digest, digest);
  });

  it('holds every invariant in its first plans', async () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const plan = makePlan(seed, faultKinds);
      const { breaches, acts } = await play(plan);
      assert.deepEqual(breaches, [], `seed ${seed}`);
      // Owners may agree to nothing.
      assert.ok(acts > 0 || plan.model === 'ota', `seed ${seed}`);
    }
  });

  it('plays what owners and their agents do to the same history, too', async () => {
    const plan = makePlan(1, ['F17']);
    assert.equal(plan.model, 'ota');
    const { digest, acts, breaches } = await play(plan);
    assert.deepEqual(breaches, []);
    assert.ok(acts > 0);
    assert.equal((await play(plan)).digest, digest);
  });
});
