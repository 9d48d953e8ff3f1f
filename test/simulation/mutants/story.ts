import type { Mutant } from './mutant.ts';
import { test } from './plans.ts';

const hunt = (only: string) => test('src/controller/events/rollout-story.test.ts', only);

/** What would make the manager's log repeat itself, or leave out a part of a rollout. */
export const ofStory: readonly Mutant[] = [
  {
    name: 'the-next-leader-tells-again',
    whose: 'our own',
    story: 'a manager that begins to lead logs the start of each rollout as if it were new',
    breaks: [],
    file: 'src/controller/status/rollout-store.ts',
    find: 'rolloutStory(described ?? before, status)',
    replace: 'rolloutStory(described, status)',
    hunt: hunt('is the same when another manager leads'),
  },
  {
    name: 'half-is-told-with-each-status',
    whose: 'our own',
    story: 'every status after half of the nodes are updated logs that they are',
    breaks: [],
    file: 'src/controller/events/rollout-story.ts',
    find: 'after[time] !== undefined && before[time] === undefined',
    replace: 'after[time] !== undefined',
    hunt: hunt('tells a rollout from its start'),
  },
  {
    name: 'what-was-found-is-told',
    whose: 'our own',
    story: 'the first target that a manager finds is logged as a rollout',
    breaks: [],
    file: 'src/controller/events/rollout-story.ts',
    find: 'if (startedAt === undefined) return [];',
    replace: 'if (startedAt === undefined) return [{ msg: after.summary, fields: {} }];',
    hunt: hunt('tells a rollout from its start'),
  },
  {
    name: 'half-is-kept-for-the-next-rollout',
    whose: 'our own',
    story: 'half of the nodes are logged for the first rollout of a DaemonSet only',
    breaks: [],
    file: 'src/rollout/fleet/retarget.ts',
    find: 'resumed: state.resumed,',
    replace: 'resumed: state.resumed, halfUpdatedAt: state.halfUpdatedAt,',
    hunt: hunt('tells a rollout from its start'),
  },
  {
    name: 'an-undo-has-a-half',
    whose: 'our own',
    story: 'what holds when a rollout starts, as after an undo, is logged as its progress',
    breaks: [],
    file: 'src/controller/events/rollout-story.ts',
    find: 'const previous = isStart ? undefined : before;',
    replace: 'const previous = before;',
    hunt: hunt('begins without what holds already'),
  },
];
