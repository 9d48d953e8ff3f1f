import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import * as fc from 'fast-check';
import { decide } from './decision/decide.ts';
import type { Behaviour } from './testing/model-cluster.ts';
import type { Met } from './testing/model-process.ts';
import { contentOf, rebuild } from './testing/rebuild.ts';
import { seed as firstSeed, isFresh, runs } from './testing/replay.ts';
import { type Happening, type Options, type Plan, play } from './testing/scenario.ts';

/** Set to 0, the first failure is told as it is: quicker, and longer to read. */
const endOnFailure = process.env['EDGESET_SHRINK'] === '0';

const anyBehaviour = fc.constantFrom<Behaviour>('good', 'good', 'crash', 'pull', 'hang', 'kill');
const when = { at: fc.integer({ min: 0, max: 240_000 }), pick: fc.nat({ max: 1_000 }) };
const plain = (...kinds: Happening['kind'][]) => fc.record({ ...when, kind: fc.constantFrom(...kinds) });

const happening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      ...when,
      kind: fc.constant('version'),
      behaviour: anyBehaviour,
      share: fc.constantFrom(0.3, 1),
    }),
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

const plan = (happenings: fc.Arbitrary<Happening>, most: number, more: Partial<Plan> = {}): fc.Arbitrary<Plan> =>
  fc
    .record({
      seed: fc.nat(),
      nodes: fc.integer({ min: 1, max: 14 }),
      zones: fc.constantFrom(0, 0, 3),
      budget: fc.integer({ min: 1, max: 4 }),
      minReadyMs: fc.constantFrom(0, 0, 10_000),
      onFailure: fc.constantFrom<Plan['onFailure']>('halt', 'halt', 'rollback'),
      happenings: fc.array(happenings, { maxLength: most }),
    })
    .map((each) => ({ ...each, ...more }));

const holds = (plans: fc.Arbitrary<Plan>, check: (plan: Plan) => void): void =>
  fc.assert(fc.property(plans, check), {
    numRuns: runs,
    endOnFailure,
    seed: firstSeed,
  });

const faulty = (...happenings: Happening[]): Omit<Plan, 'seed'> => ({
  nodes: 40,
  zones: 0,
  budget: 2,
  minReadyMs: 0,
  onFailure: 'halt',
  happenings,
});
const version = (at: number, behaviour: Behaviour): Happening => ({
  at,
  pick: 0,
  kind: 'version',
  behaviour,
  share: 1,
});

describe('a rollout in a model cluster', () => {
  before(() => {
    if (isFresh) console.log(`EDGESET_SEED=${firstSeed}`);
  });

  it('keeps the invariants through every fault, and comes to its end when they are over', () => {
    const met = new Set<Met>();
    holds(plan(happening, 25), (each) => void play(each, { met }));
    // A fault that never came proves nothing.
    const all: readonly Met[] = [
      ...(['lost, not done', 'lost, done', 'refused', 'conflict', 'took over'] as const),
      ...(['reserve', 'delete', 'release', 'halt', 'resume', 'rollback', 'complete'] as const),
    ];
    if (runs >= 250) assert.deepEqual([...met].toSorted(), all.toSorted());
  });

  it('keeps them with two leaders at once, lost answers and slow watches', () => {
    const hands = fc.oneof(
      fc.record({ ...when, kind: fc.constant('version'), behaviour: anyBehaviour, share: fc.constant(1) }),
      plain('secondLeader', 'crash'),
      plain('storm', 'storm', 'calm'),
      plain('disconnect', 'connect', 'pause', 'resume'),
    ) as fc.Arbitrary<Happening>;
    holds(plan(hands, 30), (each) => void play(each));
  });

  it('decides the same twice, from a ledger that equals one made from scratch', () => {
    let decisions = 0;
    const inspect: Options['inspect'] = ({ ledger, view, now }) => {
      decisions += 1;
      if (decisions % 17 !== 0) return;
      const outside = view.spec?.observed ? undefined : ({ kind: 'unobserved' } as const);
      const content = contentOf(ledger);
      assert.deepEqual(decide(ledger, outside, now()), decide(ledger, outside, now()));
      assert.deepEqual(contentOf(ledger), content);
      assert.deepEqual(contentOf(rebuild(ledger, now())), content);
    };
    holds(plan(happening, 15), (each) => void play(each, { inspect }));
    assert.ok(decisions > runs);
  });

  const jumping = (...byMs: number[]): fc.Arbitrary<Happening> =>
    fc.oneof(
      fc.record({ ...when, kind: fc.constant('clock'), byMs: fc.constantFrom(...byMs) }),
      fc.record({ ...when, kind: fc.constant('version'), behaviour: anyBehaviour, share: fc.constant(0.3) }),
      plain('disconnect', 'connect', 'crash', 'secondLeader', 'storm', 'calm'),
    ) as fc.Arbitrary<Happening>;
  it('keeps them while clocks are set back by 10 minutes', () => {
    holds(plan(jumping(-600_000, -10_000), 20), (each) => void play(each));
  });
  it('comes to its end under clocks that jump 10 minutes either way', () => {
    holds(plan(jumping(-600_000, 600_000), 20), (each) => void play(each, { endOnly: true }));
  });

  for (const bad of ['kill', 'crash', 'pull', 'hang'] as const)
    it(`stops a version whose pods ${bad} after few nodes`, () => {
      for (let seed = 0; seed < 20; seed += 1) {
        const { account } = play({ ...faulty(version(0, bad), { at: 600_000, pick: 0, kind: 'calm' }), seed });
        // Budget, threshold, and what is begun while the loss of a node is not noticed yet: 20 s and a node every 2 s.
        const most = bad === 'kill' ? 2 + 3 + 20 : 2;
        const acts = account.actsOf.get('hash2') ?? 0;
        assert.ok(acts > 0 && acts <= most, `seed ${seed}: ${acts} nodes`);
      }
    });

  it('bounds what a version that kills nodes can take by minReadySeconds', () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const happenings = faulty(version(0, 'kill'), { at: 900_000, pick: 0, kind: 'calm' });
      const { account } = play({ ...happenings, minReadyMs: 30_000, seed });
      assert.ok((account.actsOf.get('hash2') ?? 0) <= 2 + 3, `seed ${seed}`);
    }
  });

  it('rolls back by itself, and repairs what it broke', () => {
    const { cluster, account } = play({
      ...faulty(version(0, 'good'), version(200_000, 'crash'), { at: 500_000, pick: 0, kind: 'calm' }),
      onFailure: 'rollback',
      nodes: 12,
      seed: 1,
    });
    assert.equal(cluster.spec.policy.rolledBackFrom, 'hash3');
    assert.ok((account.actsOf.get('hash2') ?? 0) > 12, 'the nodes of hash3 went back to hash2');
  });

  it('costs one delete a pod and a few writes a wave', () => {
    const { account } = play({ ...faulty(version(0, 'good')), budget: 10, seed: 3 });
    // Two rollouts of 40 nodes: the plan's own, and the one that ends every play.
    assert.equal(account.acts, 80);
    assert.equal(account.mostInFlight, 10);
    assert.ok(account.writes <= 80 + 2 * 80 + 20, `${account.writes} writes`);
  });

  // A model that cannot catch a defect proves nothing. Two that only two leaders at once bring to light:
  const takeOver = (seed: number): Plan => {
    const pausedAt = 200 + ((seed * 7) % 2_500);
    return {
      ...faulty(
        version(0, 'good'),
        { at: pausedAt, pick: 23, kind: 'secondLeader' },
        { at: pausedAt + 100, pick: 0, kind: 'pause' },
        { at: pausedAt + 200, pick: 0, kind: 'deselect' },
        { at: pausedAt + 24_000, pick: 0, kind: 'resume' },
      ),
      nodes: 3,
      budget: 1,
      seed,
    };
  };
  const storm = (seed: number): Plan => ({
    ...faulty(
      version(0, 'good'),
      { at: 100, pick: 0, kind: 'storm' },
      { at: 3_000 + ((seed * 37) % 5_000), pick: (seed * 7) % 60, kind: 'secondLeader' },
      { at: 9_000, pick: seed, kind: 'disconnect' },
      version(60_000, 'good'),
      { at: 61_000, pick: seed, kind: 'connect' },
      { at: 63_000 + ((seed * 53) % 5_000), pick: (seed * 7) % 60, kind: 'secondLeader' },
    ),
    nodes: 6,
    budget: 1,
    seed,
  });
  for (const [defect, options, planOf] of [
    ['a leader that does not write down that it took over', { claims: false }, storm],
    ['a slot of unknown fate that is given back without a fence', { fences: false }, takeOver],
  ] as const)
    it(`finds ${defect}`, () => {
      const breaks = (seed: number): boolean => {
        try {
          play(planOf(seed), options);
          return false;
        } catch (error) {
          return error instanceof Error && error.message.startsWith('S1 broken');
        }
      };
      const broken = Array.from({ length: 1_500 }, (_, seed) => seed).find(breaks);
      assert.ok(broken !== undefined, 'no seed brought it to light');
      play(planOf(broken));
    });
});

describe('a rollout that changes pods in place', () => {
  const sticking = fc.record({
    ...when,
    kind: fc.constant('version'),
    behaviour: fc.constantFrom<Behaviour>('stick', 'good', 'hang'),
    share: fc.constantFrom(0.3, 1),
  }) as fc.Arbitrary<Happening>;
  const any: fc.Arbitrary<Happening> = fc.oneof(
    { weight: 1, arbitrary: sticking },
    { weight: 4, arbitrary: happening },
  );

  it('keeps the invariants through every fault, and comes to its end when they are over', () => {
    const met = new Set<Met>();
    holds(plan(any, 25, { inPlace: true }), (each) => void play(each, { met }));
    for (const each of ['change', 'delete', 'release', 'conflict', 'took over', 'rollback'] as const)
      if (runs >= 250) assert.ok(met.has(each), each);
  });

  it('keeps them with two leaders at once, lost answers and slow watches', () => {
    const hands = fc.oneof(
      sticking,
      plain('secondLeader', 'crash'),
      plain('storm', 'storm', 'calm'),
      plain('disconnect', 'connect', 'pause', 'resume'),
    ) as fc.Arbitrary<Happening>;
    holds(plan(hands, 30, { inPlace: true }), (each) => void play(each));
  });

  it('decides from a ledger that equals one made from scratch', () => {
    let decisions = 0;
    const inspect: Options['inspect'] = ({ ledger, now }) => {
      decisions += 1;
      if (decisions % 17 === 0) assert.deepEqual(contentOf(rebuild(ledger, now())), contentOf(ledger));
    };
    holds(plan(any, 15, { inPlace: true }), (each) => void play(each, { inspect }));
  });

  it('takes one act a pod, and one more for each pod that does not come to its end', () => {
    for (const [behaviour, acts] of [
      ['good', 40],
      ['stick', 80],
    ] as const) {
      const end = { at: 6_000_000, pick: 0, kind: 'calm' } as const;
      const { account, cluster } = play({ ...faulty(version(0, behaviour), end), inPlace: true, budget: 10, seed: 3 });
      assert.equal(account.actsOf.get('hash2'), acts);
      assert.equal(account.mostInFlight, 10);
      const made = [...cluster.pods.keys()].map((uid) => Number(uid.slice(1)));
      assert.equal(Math.max(...made), acts, 'pods of which the first forty stayed, or were made anew once');
    }
  });
});

describe('a rollout that surges', () => {
  it('keeps the invariants through every fault, and comes to its end when they are over', () => {
    const met = new Set<Met>();
    holds(plan(happening, 25, { surge: true }), (each) => void play(each, { met }));
    for (const each of ['surge', 'retire', 'release', 'took over', 'rollback', 'halt'] as const)
      if (runs >= 250) assert.ok(met.has(each), each);
  });

  it('keeps them with two leaders at once, lost answers and slow watches', () => {
    const hands = fc.oneof(
      fc.record({ ...when, kind: fc.constant('version'), behaviour: anyBehaviour, share: fc.constant(1) }),
      plain('secondLeader', 'crash'),
      plain('storm', 'storm', 'calm'),
      plain('disconnect', 'connect', 'pause', 'resume'),
    ) as fc.Arbitrary<Happening>;
    holds(plan(hands, 30, { surge: true }), (each) => void play(each));
  });

  it('decides from a ledger that equals one made from scratch', () => {
    let decisions = 0;
    const inspect: Options['inspect'] = ({ ledger, now }) => {
      decisions += 1;
      if (decisions % 17 === 0) assert.deepEqual(contentOf(rebuild(ledger, now())), contentOf(ledger));
    };
    holds(plan(happening, 15, { surge: true }), (each) => void play(each, { inspect }));
  });

  it('takes no node down, and has no more nodes with two pods than it may', () => {
    let most = 0;
    const inspect: Options['inspect'] = ({ ledger }) => {
      assert.equal(ledger.tally.down, 0);
      const two = [...ledger.records()].filter(({ pods }) => pods.filter(({ facts }) => !facts.terminating).length > 1);
      most = Math.max(most, two.length);
    };
    const begin = { at: 60_000, pick: 0, kind: 'calm' } as const;
    const { account } = play({ ...faulty(begin), surge: true, budget: 10, seed: 3 }, { inspect });
    assert.equal(account.acts, 40);
    assert.equal(most, 10);
  });
});
