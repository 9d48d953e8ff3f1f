import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generatePlan } from './plan/generate-plan.ts';
import { faultKinds } from './plan/plan.ts';
import { runPlan } from './run-plan.ts';

describe('the simulation', () => {
  it('gives the same history for the same plan, byte by byte', async () => {
    const plan = generatePlan(7, faultKinds);
    const { digest, lines } = await runPlan(plan, true);
    assert.ok(lines.length > 100, `${lines.length} lines`);
    assert.deepEqual(generatePlan(7, faultKinds), plan);
    assert.equal((await runPlan(plan, true)).digest, digest);
    assert.notEqual((await runPlan(generatePlan(8, faultKinds), true)).digest, digest);
  });

  it('violates no invariant in its first plans', async () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const plan = generatePlan(seed, faultKinds);
      const { violations, updates } = await runPlan(plan);
      assert.deepEqual(violations, [], `seed ${seed}`);
      // Owners may approve nothing.
      assert.ok(updates > 0 || plan.model === 'ota', `seed ${seed}`);
    }
  });

  it('gives the same history with owners and agents', async () => {
    const plan = generatePlan(1, ['F17']);
    assert.equal(plan.model, 'ota');
    const { digest, updates, violations } = await runPlan(plan);
    assert.deepEqual(violations, []);
    assert.ok(updates > 0);
    assert.equal((await runPlan(plan)).digest, digest);
  });
});
