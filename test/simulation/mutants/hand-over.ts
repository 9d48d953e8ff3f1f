import type { Mutant } from './mutant.ts';
import { at, history, recreate, release, test } from './plans.ts';

/** A pod that a finalizer holds for longer than the rollout takes. */
const heldPod = at(8, { do: 'hold-pod', node: 'node-2', deletes: true, forMs: 120_000 });

/** Defects where other controllers have a part: hand-overs between DaemonSets, and pods that finalizers hold. */
export const handOver: readonly Mutant[] = [
  {
    name: 'a-deleted-owner-is-gone',
    whose: 'our own, S10',
    story:
      'a native DaemonSet that is being deleted counts as gone while the garbage collector still releases its pods',
    breaks: ['S10'],
    file: 'src/kinds/advanced/native-daemonsets.ts',
    find: 'return deletionTimestamp && finalizers.includes(FOREGROUND_FINALIZER) ? undefined',
    replace: 'return deletionTimestamp ? undefined',
    also: [
      {
        file: 'src/kinds/advanced/previous-owners.ts',
        find: "present && ownership === 'other' && !terminating ?",
        replace: "present && ownership === 'other' && facts === undefined ?",
      },
      {
        file: 'src/kinds/advanced/previous-owners.ts',
        find: 'podObserved({ ownership, facts: { uid, terminating }, pod }',
        replace: 'podObserved({ ownership, facts, facts: { uid }, pod }',
      },
    ],
    hunt: history(recreate, at(12, { do: 'hand-over', first: 'apply', paceMs: 4_000 }), release(90)),
  },
  {
    name: 'records-beside-a-revision-to-come',
    whose: 'our own',
    story:
      'a revision is recorded while the one with its template is not yet released, so all adopted pods are replaced',
    breaks: [],
    file: 'src/kinds/advanced/revisions/sync-history.ts',
    find: "if (await previousOwners.has(other, namespace, signal)) return { kind: 'previous-owner', owner: other };",
    replace: '',
    hunt: test('src/kinds/advanced/previous-owners.test.ts'),
  },
  {
    name: 'creates-beside-a-pod-of-a-previous-owner',
    whose: 'our own',
    story: 'a node gets a pod while the containers of one that was deleted with its DaemonSet still run',
    breaks: [],
    file: 'src/kinds/advanced/manage.ts',
    find: 'if (!current || hasOrphan || isOccupied || isExpected)',
    replace: 'if (!current || hasOrphan || isExpected)',
    hunt: test('src/kinds/advanced/previous-owners.test.ts'),
  },
  {
    name: 'adopts-without-asking',
    whose: 'our own, S11',
    story: 'pods that a DaemonSet releases because it is being deleted are adopted again, and deleted with it',
    breaks: ['S11'],
    file: 'src/kinds/advanced/podcontrol/may-adopt.ts',
    find: 'return found?.metadata.uid === uid && !found.metadata.deletionTimestamp;',
    replace: 'return found !== undefined || uid !== undefined;',
    hunt: history(
      {
        ...recreate,
        seed: 1002,
        nodes: 2,
        limit: '100%',
        settleSeconds: 0,
        minReadySeconds: 5,
        model: 'ota',
        hook: { by: 'finalizer', markPodNotReady: true, drainMs: 5_300, timeoutSeconds: 4 },
      },
      at(1, { do: 'auto-approve', node: 'node-0', agrees: true }),
      release(15.406),
      at(20, { do: 'hand-over', first: 'apply', paceMs: 4_600 }),
      at(60, { do: 'auto-approve', node: 'node-1', agrees: true }),
    ),
  },
  {
    name: 'waits-for-pods-that-have-ended',
    whose: 'our own: kubernetes #118587, L5',
    story: 'a pod that has ended and that a finalizer holds keeps its node from being updated',
    breaks: ['L1', 'L2', 'L5'],
    file: 'src/rollout/facts/pod.ts',
    find: '  terminating && finished !== undefined;',
    replace: '  terminating && finished !== undefined && false;',
    hunt: history({}, heldPod, release(15), at(100, { do: 'recover' })),
  },
  {
    name: 'creates-no-successor-of-a-held-pod',
    whose: 'our own: kubernetes #118587',
    story: 'a node gets no pod while a finalizer holds the one that has ended there',
    breaks: [],
    file: 'src/kinds/advanced/placement/sync-nodes.ts',
    find: "cached.ownership === 'ours' && !isDeletedTerminal(cached.facts) ? [placedPod(cached)] : [],",
    replace: "cached.ownership === 'ours' ? [placedPod(cached)] : [],",
    hunt: test('src/kinds/advanced/manage.test.ts'),
  },
  {
    name: 'skipped-nodes-use-the-budget',
    whose: 'our own',
    story: 'a node that is skipped for a second pod uses a slot of the budget for as long as that pod stays',
    breaks: [],
    file: 'src/rollout/node/pods.ts',
    find: 'return kept ? podAvailableAt(record, kept, context)',
    replace: 'return kept && record.pods.length === 1 ? podAvailableAt(record, kept, context)',
    hunt: test('src/rollout/node/phase.test.ts'),
  },
];
