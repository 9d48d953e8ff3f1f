import type { Mutant } from './mutant.ts';
import { test } from './plans.ts';

/** Defects of the judge: what it lets pass stays as narrow as it is. */
export const ofJudge: readonly Mutant[] = [
  {
    name: 'judge-keeps-the-slot-of-a-healthy-pod',
    whose: 'our own, S1',
    story: 'the judge lets a healthy pod be updated in the slot of its node beyond a budget that has been lowered',
    file: 'test/judge/updates/rules.ts',
    find: 'updates.holdsSlot(pod) && !healthy',
    replace: 'updates.holdsSlot(pod)',
    breaks: [],
    hunt: test('test/judge/audit/second-updates.test.ts'),
  },
  {
    name: 'judge-forgets-an-update-as-often-as-a-pod-terminates',
    whose: 'our own, S6',
    story: 'each change of a pod that a user has deleted lets another update of its node pass',
    file: 'test/judge/updates/rules.ts',
    find: '(isTerminating && !before.terminating)',
    replace: 'isTerminating',
    breaks: [],
    hunt: test('test/judge/audit/second-updates.test.ts'),
  },
  {
    name: 'judge-forgets-an-update-for-any-pod-that-goes',
    whose: 'our own, S6',
    story: 'that a user deletes a pod lets a second update pass of another one beside it, which the first has brought',
    file: 'test/judge/updates/rules.ts',
    find: 'if (others.every((other) => isUnchanged(other, update))) ofNode',
    replace: 'ofNode',
    breaks: [],
    hunt: test('test/judge/audit/second-updates.test.ts'),
  },
  {
    name: 'judge-takes-a-lost-delete-for-a-users',
    whose: 'our own, S6',
    story: 'a delete of the manager whose response was lost lets another update of its node pass',
    file: 'test/judge/audit/check-updates.ts',
    find: 'if (before && !maybeDeleted.has(uid))',
    replace: 'if (before)',
    breaks: [],
    hunt: test('test/judge/audit/second-updates.test.ts'),
  },
];
