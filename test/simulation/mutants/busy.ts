import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { type BusyMark, busyMarks, type PlannedStep } from '../plan/plan.ts';
import type { Shape } from '../scenarios/scenario.ts';
import type { Mutant } from './mutant.ts';
import { at, history, recreate, release, test } from './plans.ts';

const skipNodes: RolloutPlanSpec['skipNodes'] = {
  selector: { matchLabels: { [busyMarks.label]: 'now' } },
  taints: [busyMarks.taint],
  conditions: [busyMarks.condition],
};

const mark = (seconds: number, index: number, by: BusyMark, busy: boolean): PlannedStep =>
  at(seconds, { do: 'busy', node: `node-${index}`, by, busy });

/** Nodes 0 and 3 are in the first stage. */
const ring: Shape = {
  ...recreate,
  nodes: 4,
  limit: '100%',
  rolloutPlan: { skipNodes, stages: [{ name: 'ring', nodes: { selector: { matchLabels: { ring: 'r0' } } } }] },
};

/** A canary of two nodes of three. */
const canary: Shape = {
  limit: '100%',
  rolloutPlan: { skipNodes, stages: [{ name: 'canary', nodes: { count: 2 }, promote: { soak: '5s' } }] },
};

/** What would disturb nodes that are busy, or wait for them. */
export const busy: readonly Mutant[] = [
  {
    name: 'a-busy-node-blocks-its-stage',
    whose: 'G3',
    story: 'a stage waits for a node that is busy',
    breaks: ['G3', 'L9'],
    file: 'src/rollout/node/assess.ts',
    find: '(record.partitionAllows && !busy)',
    replace: 'record.partitionAllows',
    hunt: history(ring, mark(8, 0, 'condition', true), release(10), mark(60, 0, 'condition', false)),
  },
  {
    name: 'a-busy-node-in-a-sample',
    whose: 'G1',
    story: 'the sample of a stage has a node that is busy',
    breaks: ['G1'],
    file: 'src/rollout/decision/stages.ts',
    find: 'status.online && node?.busy === undefined',
    replace: 'status.online',
    hunt: history(
      canary,
      mark(8, 0, 'label', true),
      mark(8, 1, 'taint', true),
      release(10),
      mark(60, 0, 'label', false),
      mark(60, 1, 'taint', false),
    ),
  },
  {
    name: 'a-busy-node-is-updated',
    whose: 'G1',
    story: 'a taint counts only where it keeps pods away, so that a node with another one is updated while it is busy',
    breaks: ['G1'],
    file: 'src/rollout/plan/busy.ts',
    find: 'taints.find(({ key }) => busy.taints.has(key))',
    replace: "taints.find(({ key, effect }) => busy.taints.has(key) && effect === 'NoExecute')",
    hunt: history(
      { ...canary, rolloutPlan: { skipNodes } },
      mark(8, 1, 'taint', true),
      release(10),
      mark(60, 1, 'taint', false),
    ),
  },
  {
    name: 'a-busy-node-that-never-follows',
    whose: 'L1',
    story: 'a condition marks a node as busy also once it is False',
    breaks: ['L1', 'L5'],
    file: 'src/rollout/facts/node.ts',
    find: "type !== 'Ready' && status === 'True'",
    replace: "type !== 'Ready' && status !== 'Unknown'",
    hunt: history(
      { ...canary, rolloutPlan: { skipNodes } },
      mark(8, 1, 'condition', true),
      release(10),
      mark(60, 1, 'condition', false),
    ),
  },
  {
    name: 'a-reserved-slot-of-a-busy-node',
    whose: 'our own, G1',
    story: 'a node that became busy after its slot was reserved is updated all the same',
    breaks: [],
    file: 'src/rollout/node/assess.ts',
    find: 'stageOpen && !waitsForOther && !busy && calendarOpen',
    replace: 'stageOpen && !waitsForOther && calendarOpen',
    hunt: test('src/rollout/plan/busy.test.ts', 'releases the slot that it had'),
  },
];
