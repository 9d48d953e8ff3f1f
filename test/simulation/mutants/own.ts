import type { Mutant } from './mutant.ts';
import { test } from './plans.ts';

/** Defects that this product had, or that only its own parts can have. */
export const own: readonly Mutant[] = [
  {
    name: 'the-machines-clock',
    whose: 'our own',
    story: 'a clock that is set forward makes pods look available',
    breaks: [],
    file: 'src/runtime/clock.ts',
    find: 'now: () => performance.timeOrigin + performance.now() };',
    replace: 'now: () => Date.now() };',
    hunt: test('src/runtime/clock.test.ts'),
  },
  {
    name: 'a-caller-in-time-wait',
    whose: 'our own: the TIME_WAIT caller',
    story: 'a caller that closes at once leaves a row that says root, and is taken for root',
    breaks: [],
    file: 'src/agent/callers/peer-owner.ts',
    find: 'if (row.established && row.inode !== 0) question.uid = row.uid;',
    replace: 'question.uid = row.uid;',
    hunt: test('src/agent/callers/peer-owner.test.ts'),
  },
];
