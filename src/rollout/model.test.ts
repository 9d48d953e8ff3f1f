import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Behaviour } from './testing/model-cluster.ts';
import { type Happening, type Plan, play } from './testing/scenario.ts';

const runs = Number(process.env['EDGESET_RUNS'] ?? 250);
const seed = process.env['EDGESET_SEED'] === undefined ? undefined : Number(process.env['EDGESET_SEED']);

/** Set to 0, the first failure is told as it is: quicker, and longer to read. */
const endOnFailure = process.env['EDGESET_SHRINK'] === '0';

const behaviour = fc.constantFrom<Behaviour>('good', 'good', 'crash', 'pull', 'hang', 'kill');
const when = { at: fc.integer({ min: 0, max: 240_000 }), pick: fc.nat({ max: 1_000 }) };
const plain = (...kinds: Happening['kind'][]) => fc.record({ ...when, kind: fc.constantFrom(...kinds) });

const happening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ ...when, kind: fc.constant('version'), behaviour, share: fc.constantFrom(0.3, 1) }),
  },
  { weight: 6, arbitrary: plain('disconnect', 'connect') },
  { weight: 3, arbitrary: plain('vanish', 'return', 'cordonOff', 'comeBack', 'upset', 'deleteByHand') },
  { weight: 3, arbitrary: plain('crash', 'secondLeader') },
  { weight: 3, arbitrary: plain('storm', 'calm') },
  { weight: 2, arbitrary: plain('back', 'pause', 'resume') },
  {
    weight: 2,
    arbitrary: fc.oneof(
      fc.record({
        ...when,
        kind: fc.constant('budget'),
        value: fc.integer({ min: 0, max: 4 }),
        percent: fc.constant(false),
      }),
      fc.record({ ...when, kind: fc.constant('budget'), value: fc.constantFrom(10, 40), percent: fc.constant(true) }),
      fc.record({ ...when, kind: fc.constant('partition'), value: fc.integer({ min: 0, max: 8 }) }),
    ),
  },
) as fc.Arbitrary<Happening>;

const plan = (happenings: fc.Arbitrary<Happening>, most: number): fc.Arbitrary<Plan> =>
  fc.record({
    seed: fc.nat(),
    nodes: fc.integer({ min: 1, max: 14 }),
    zones: fc.constantFrom(0, 0, 3),
    budget: fc.integer({ min: 1, max: 4 }),
    minReadyMs: fc.constantFrom(0, 0, 10_000),
    onFailure: fc.constantFrom<Plan['onFailure']>('halt', 'halt', 'rollback'),
    happenings: fc.array(happenings, { maxLength: most }),
  });

const holds = (plans: fc.Arbitrary<Plan>, check: (plan: Plan) => void): void =>
  fc.assert(fc.property(plans, check), { numRuns: runs, endOnFailure, ...(seed === undefined ? {} : { seed }) });

describe('a rollout in a model cluster', () => {
  it('keeps the invariants through every fault, and comes to its end when they are over', () => {
    holds(plan(happening, 25), (each) => void play(each));
  });
});
