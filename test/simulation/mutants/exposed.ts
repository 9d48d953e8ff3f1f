import type { Shape } from '../scenarios/scenario.ts';
import type { Mutant } from './mutant.ts';
import { at, history, release, test } from './plans.ts';

/** Node 0 is in the first stage, which soaks, and all others in `rest`. */
const soaking: Shape = {
  nodes: 3,
  limit: '100%',
  rolloutPlan: {
    stages: [{ name: 'ring', nodes: { selector: { matchLabels: { ring: 'r0' } } }, promote: { soak: '60s' } }],
  },
};

/** Pods that are recreated in closed stages of native DaemonSets. */
export const exposed: readonly Mutant[] = [
  {
    name: 'exposed-nodes-are-not-counted',
    whose: 'kubernetes #121534, S16',
    story: 'nodes of closed stages that got the target because their pods were deleted by hand are not counted',
    breaks: ['S16'],
    file: 'src/rollout/fleet/tally.ts',
    find: 'if (status.exposed) stage.exposed += by;',
    replace: '',
    hunt: history(soaking, release(10), at(30, { do: 'delete-pod', node: 'node-1' })),
  },
  {
    name: 'updated-nodes-stay-exposed',
    whose: 'S16',
    story: 'a node counts as exposed although its stage is open by now',
    breaks: ['S16'],
    file: 'src/rollout/plan/membership.ts',
    find: '!wasComplete && open[at] === false',
    replace: '!wasComplete && at > 0',
    hunt: history(soaking, release(10), at(30, { do: 'delete-pod', node: 'node-1' })),
  },
  {
    name: 'exposed-failures-do-not-count',
    whose: 'S13',
    story: 'where a stage is closed, failures of pods that were recreated do not count for the breaker',
    breaks: ['S13'],
    file: 'src/rollout/node/assess.ts',
    find: "const failed = record.forgiven ? undefined : lost ? 'lost' : failure ? 'online' : undefined;",
    replace:
      "const failed = record.forgiven || !stageOpen ? undefined : lost ? 'lost' : failure ? 'online' : undefined;",
    hunt: history(
      { ...soaking, nodes: 6, firstWave: '100%' },
      at(8, { do: 'pause', paused: true }),
      release(10, 'app:v1--crash-loop'),
      ...[1, 2, 4, 5].map((node) => at(20, { do: 'delete-pod', node: `node-${node}` })),
      at(60, { do: 'pause', paused: false }),
    ),
  },
  {
    name: 'exposure-is-told-by-each-leader',
    whose: 'our own, S15',
    story: 'that a stage had exposed nodes is not on record once there is none, so that the next one is told of again',
    breaks: [],
    file: 'src/rollout/report/stages.ts',
    find: '(exposed > 0 || told.has(name))',
    replace: 'exposed > 0',
    hunt: test('src/rollout/report/exposed.test.ts', 'the number stays on record'),
  },
];
