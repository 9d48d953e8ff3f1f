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
      const { breaches, acts } = await play(makePlan(seed, faultKinds));
      assert.deepEqual(breaches, [], `seed ${seed}`);
      assert.ok(acts > 0, `seed ${seed}`);
    }
  });
});
