import type { Mutant } from './mutant.ts';
import { history, inPlace, release, test } from './plans.ts';

const BOUND = 'src/kinds/advanced/inplace/bound-patch.ts';
const changes = history(inPlace, release(10));
const unit = test('src/kinds/advanced/inplace/bound-patch.test.ts');

/** What would let an update in place, which is bound to what a pod is, change a pod that is no longer so. */
export const ofInPlace: readonly Mutant[] = [
  {
    name: 'in-place-whoever-closed-the-gate',
    whose: 'S8',
    story: 'a late change in place reaches a pod that another leader has taken out of service since',
    breaks: ['S8'],
    file: BOUND,
    find: "    test(message, 'status', 'conditions', gateAt, 'message'),\n",
    replace: '',
    hunt: changes,
  },
  {
    name: 'in-place-while-in-service',
    whose: 'S8',
    story: 'a late change in place reaches a pod that is back in service',
    breaks: ['S8'],
    file: BOUND,
    find: "    test('False', 'status', 'conditions', gateAt, 'status'),\n",
    replace: '',
    hunt: changes,
  },
  {
    name: 'in-place-from-any-revision',
    whose: 'S8',
    story: 'a late change in place takes a pod back from a newer revision',
    breaks: ['S8'],
    file: BOUND,
    find: "    test(revision, 'metadata', 'labels', HASH_LABEL),\n",
    replace: '',
    hunt: changes,
  },
  {
    name: 'in-place-in-spite-of-a-fence',
    whose: 'our own, S7',
    story: 'a change in place is carried out although its reservation was taken back',
    breaks: [],
    file: BOUND,
    find: "    test(annotations[ownKey.fence] ?? null, 'metadata', 'annotations', ownKey.fence),\n",
    replace: '',
    hunt: unit,
  },
  {
    name: 'takes-a-restart-before-the-change-for-the-updated-container',
    whose: 'our own, S16',
    story: 'a container that restarts just before its image changes is taken for the new one',
    breaks: [],
    file: BOUND,
    find: "    test(containerID, 'status', STATUSES[list], index, 'containerID'),\n",
    replace: '',
    hunt: unit,
  },
  {
    name: 'every-gate-is-closed-alike',
    whose: 'our own, S8',
    story: 'a pod that was back in service and is out of it again looks like the one that a late change is meant for',
    breaks: [],
    file: 'src/kinds/advanced/podcontrol/readiness-gates.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the source
    find: "`closed on version ${metadata?.resourceVersion ?? ''}`",
    replace: "metadata ? 'closed' : ''",
    hunt: unit,
  },
  {
    name: 'in-place-after-a-sleep',
    whose: 'our own, S9',
    story: 'the second write of an update in place follows the first whatever has happened since',
    breaks: [],
    file: 'src/kinds/advanced/podcontrol/pod-operations.ts',
    find: "return step.kind === 'status' && mayContinue() ?",
    replace: "return step.kind === 'status' ?",
    hunt: test('src/kinds/advanced/podcontrol/pod-operations.test.ts'),
  },
];
