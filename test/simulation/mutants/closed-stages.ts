import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import type { Shape } from '../scenarios/scenario.ts';
import type { Mutant } from './mutant.ts';
import { at, history, inPlace, recreate, release, test } from './plans.ts';

/** Node 0 and 3 are in the first stage, and all others in `rest`, for a minute after a release. */
const soaks: RolloutPlanSpec = {
  stages: [{ name: 'ring', nodes: { selector: { matchLabels: { ring: 'r0' } } }, promote: { soak: '60s' } }],
};
const staged: Shape = { ...recreate, nodes: 4, limit: '100%', rolloutPlan: soaks };
const deletes = (seconds: number, node: string) => at(seconds, { do: 'delete-pod', node });

const ASSESS = 'src/rollout/node/assess.ts';
const HELD = 'src/kinds/advanced/placement/held-revision.ts';

/** Defects of what new pods are of where nodes are kept from the target. */
export const closedStages: readonly Mutant[] = [
  {
    name: 'creation-ignores-the-stage',
    whose: 'G9, kubernetes#121534',
    story: 'a pod that is deleted, and a node that joins, gets the newest revision although its stage is closed',
    breaks: ['G9'],
    file: HELD,
    find: 'return held !== undefined && templates.has(held) ? held : undefined;',
    replace: 'return held !== undefined && templates.has(held) ? undefined : undefined;',
    hunt: history(staged, release(10), deletes(20, 'node-1')),
  },
  {
    name: 'creation-ignores-the-stage-in-place',
    whose: 'G9, kruise#1062',
    story: 'the same where pods are updated in place, for a node that joins',
    breaks: ['G9'],
    file: ASSESS,
    find: 'if (!allowedByPlan || (rolloutPlan && !plan)) return { hash, waits: true };',
    replace: 'if (rolloutPlan && !plan) return { hash, waits: true };',
    hunt: history(
      { ...staged, ...inPlace },
      release(10),
      at(5, { do: 'label', node: 'node-1', role: 'other' }),
      at(20, { do: 'label', node: 'node-1', role: 'edge' }),
    ),
  },
  {
    name: 'history-pruned',
    whose: 'G9',
    story: 'the revision that was last complete is deleted once no pod runs it, although nodes are to keep it',
    breaks: ['G9'],
    file: 'src/kinds/advanced/revisions/target.ts',
    find: 'if (lastComplete) hashes.add(lastComplete.hash);',
    replace: '',
    hunt: history({ ...staged, nodes: 2, historyLimit: 0 }, release(10), deletes(30, 'node-1')),
  },
  {
    name: 'a-missing-plan-opens-every-stage',
    whose: 'G9',
    story: 'while its plan is missing, new pods are of the newest revision on all nodes',
    breaks: ['G9'],
    file: ASSESS,
    find: 'if (!allowedByPlan || (rolloutPlan && !plan)) return { hash, waits: true };',
    replace: 'if (!allowedByPlan) return { hash, waits: true };',
    hunt: history(
      staged,
      release(10),
      at(20, { do: 'plan', spec: undefined }),
      deletes(25, 'node-1'),
      at(40, { do: 'plan', spec: soaks }),
    ),
  },
  {
    name: 'a-node-goes-back-in-a-closed-window',
    whose: 'S14',
    story: 'a node that runs the target gets the older revision when its pod is deleted while windows are closed',
    breaks: ['S14'],
    file: ASSESS,
    find: 'const hasTarget = record.lastRevision === targetHash ||',
    replace: 'const hasTarget =',
    hunt: history(
      {
        ...staged,
        rolloutPlan: { freezes: [{ from: '2026-01-01T00:00:20Z', to: '2026-01-01T00:01:20Z' }] },
        limit: '1',
        nodes: 6,
      },
      release(14),
      deletes(30, 'node-5'),
      deletes(31, 'node-4'),
      deletes(32, 'node-3'),
      deletes(33, 'node-2'),
      deletes(34, 'node-1'),
      deletes(35, 'node-0'),
    ),
  },
  {
    name: 'held-revision-is-ignored',
    whose: 'G9, kruise#1871',
    story: 'a new pod is of the newest revision outside of the node selector, although it is to be of the held one',
    breaks: ['G9'],
    file: ASSESS,
    find: "if (recreate !== 'held-revision') return",
    replace: 'if (recreate) return',
    hunt: history(
      { ...recreate, recreate: 'held-revision' },
      at(9, { do: 'select', wave: 'none' }),
      release(10),
      deletes(20, 'node-1'),
      at(40, { do: 'select', wave: undefined }),
    ),
  },
  {
    name: 'an-update-that-has-begun-is-taken-back',
    whose: 'our own, S14',
    story:
      'a node whose pod was deleted for an update gets the older revision if a window closes meanwhile, and counts as failed',
    breaks: [],
    file: ASSESS,
    find: ' || hasTarget || isOfThisRollout(record.update, context))',
    replace: ' || hasTarget)',
    hunt: test('src/rollout/node/held-revision.test.ts', 'no node goes back'),
  },
  {
    name: 'finished-while-a-stage-is-closed',
    whose: 'our own, G9',
    story: 'a rollout is finished while all nodes of closed stages are offline, and they have nothing older to keep',
    breaks: [],
    file: 'src/rollout/decision/transition.ts',
    find: ' && mayFinish(ledger)',
    replace: '',
    hunt: test('src/rollout/decision/stages.test.ts', 'is not finished while'),
  },
];
