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
    find: 'active || isSuspect || failed !== undefined ||',
    replace: "active || failed === 'online' ||",
    hunt: test('src/rollout/decision/first-wave.test.ts'),
  },
  {
    name: 'failed-nodes-leave-the-first-wave',
    whose: 'S17',
    story:
      'nodes on which a version fails no longer count towards its first wave once they hold no slot: those that are lost',
    breaks: [],
    file: 'src/rollout/node/assess.ts',
    find: 'active || isSuspect || failed !== undefined ||',
    replace: 'active || isSuspect ||',
    hunt: test('src/rollout/decision/first-wave.test.ts', 'counts nodes that are lost, or whose pod came back old'),
  },
  {
    name: 'a-moment-proves-a-version',
    whose: 'our own, S17',
    story: 'nodes on which a version was available for a moment, and no longer is, do not count towards its first wave',
    breaks: [],
    file: 'src/rollout/node/assess.ts',
    find: ' || (node.ready && current && !available)',
    replace: '',
    hunt: test('src/rollout/decision/first-wave.test.ts', 'counts nodes on which the revision worked for a moment'),
  },
  {
    name: 'a-suspect-proves-a-version',
    whose: 'S17',
    story: 'a node that a version took offline counts as one on which it works',
    breaks: [],
    file: 'src/rollout/decision/first-wave.ts',
    find: 'const proven = tally.phases.updated;',
    replace: 'const proven = tally.phases.updated + tally.suspects;',
    // The breaker stops for suspects first, unless its threshold is set higher.
    hunt: test('src/rollout/decision/first-wave.test.ts', 'counts failures and suspects'),
  },
  {
    name: 'an-outage-uses-the-first-wave-up',
    whose: 'our own, S17',
    story: 'a rollout is halted for the nodes that it failed on while those that it worked on are offline',
    breaks: [],
    file: 'src/rollout/decision/first-wave.ts',
    find: 'wave.proven + wave.away',
    replace: 'wave.proven',
    hunt: test('src/rollout/decision/first-wave.test.ts', 'does not halt for what an outage has taken away'),
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
