import type { Mutant } from './mutant.ts';
import { history, release, test } from './plans.ts';

/** What would let a version that has not proved itself have more nodes than its first wave. */
export const firstWave: readonly Mutant[] = [
  {
    name: 'no-first-wave',
    whose: 'S17',
    story: 'a version gets the whole budget before it has proved itself',
    breaks: ['S17'],
    file: 'src/rollout/decision/budget.ts',
    find: 'wave === undefined || wave.onTrial + usage.active - tally.active - own.active < wave.limit;',
    replace: 'wave === undefined || wave.onTrial + usage.active - tally.active - own.active < 1000;',
    hunt: history({ nodes: 8, limit: '100%' }, release(10)),
  },
  {
    name: 'suspects-leave-the-first-wave',
    whose: 'our own, S17',
    story: 'nodes that a version took offline no longer count towards its first wave',
    breaks: [],
    file: 'src/rollout/node/assess.ts',
    find: '!record.forgiven && (active || isSuspect || failed !== undefined)',
    replace: '!record.forgiven && (active || failed === "online")',
    hunt: test('src/rollout/decision/first-wave.test.ts'),
  },
  {
    name: 'the-first-wave-grows-too-fast',
    whose: 'S17',
    story: 'each node that a version works on permits more than three others',
    breaks: ['S17'],
    file: 'src/rollout/decision/first-wave.ts',
    find: 'first + MORE_FOR_EACH * proven',
    replace: 'first + 2 * MORE_FOR_EACH * proven',
    hunt: history({ nodes: 12, limit: '100%' }, release(10)),
  },
];
