import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Plan } from '../plan/plan.ts';
import { runPlan } from '../run-plan.ts';

// Plans that once violated an invariant, after shrinking. They are kept as data: a seed gives another plan when the generator changes.
describe('plans that once violated an invariant', () => {
  for (const file of readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json')))
    it(file.slice(0, -'.json'.length), async () => {
      const plan = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Plan;
      assert.deepEqual((await runPlan(plan)).violations, []);
    });
});
