import type { Cause, causesOf, Phase } from '../../words/index.ts';

/** The causes that the rules give: `group` follows from other nodes, and is told in the place of `available`. */
export type RuleCause = Exclude<Cause, 'group'>;

/** The facts about one node that decide its phase; assess.ts derives them. */
export interface Situation {
  /** Condition Ready is True. */
  online: boolean;
  /** Online for at least the settle time. */
  settled: boolean;
  /** Number of pods, terminating ones included. */
  pods: number;
  /** Number of pods that are not being deleted. */
  livePods: number;
  /** The one live pod is of the target revision. */
  current: boolean;
  /** The one live pod is ready. */
  ready: boolean;
  /** The one live pod waits for its user's controller before it is deleted. */
  preparingDelete: boolean;
  /** The node's only pod has been ready for minReadySeconds. */
  available: boolean;
  /** An update of ours on this node that has not completed; `reserved` has not been carried out as far as we know. */
  update: 'none' | 'reserved' | 'this-rollout' | 'older-rollout';
  /** The node's owner deleted its old pod. */
  replacing: boolean;
  /** Went offline within the suspect window after our update. */
  suspect: boolean;
  /** A suspect whose window has ended. */
  lost: boolean;
  /** Why the target revision does not work here, as far as is known. */
  failure: 'crash-loop' | 'image-pull' | 'deadline' | 'came-back-old' | undefined;
  /** The node has, or is about to have, an old and a new pod at once. */
  surging: boolean;
  /** Its one live pod was updated in place in this rollout and is not available yet. */
  updatingInPlace: boolean;
  /** The in-place update timed out, and the pod may be recreated. */
  overdue: boolean;
  /** The API server refused our last update here, and its back-off has not ended. */
  refused: boolean;
  /** Matches the policy's node selector. */
  selected: boolean;
  /** The policy's partition allows an update. */
  partitionAllows: boolean;
  /** The plan's stage of the node is open. */
  stageOpen: boolean;
  /** Another DaemonSet's update comes first. */
  waitsForOther: boolean;
  /** The plan skips the node for now. */
  busy: boolean;
  /** No window or freeze of the plan keeps updates from beginning now. */
  calendarOpen: boolean;
  /** The policy requires the target's images first, and they are missing. */
  imageMissing: boolean;
}

type Rule = {
  [P in Phase]: readonly [
    phase: P,
    cause: Extract<(typeof causesOf)[P][number], RuleCause>,
    when: (s: Situation) => boolean,
  ];
}[Phase];

/** The first rule that matches decides. */
const rules: readonly Rule[] = [
  ['offline', 'lost', (s) => !s.online && s.lost],
  ['offline', 'suspect', (s) => !s.online && s.suspect],
  ['offline', 'offline-current', (s) => !s.online && s.current],
  ['offline', 'offline-outdated', (s) => !s.online],
  ['updated', 'current', (s) => s.current && s.available],
  ['broken', 'not-changed-in-time', (s) => s.overdue],
  ['failed', 'came-back-old', (s) => s.failure === 'came-back-old'],
  ['failed', 'crash-loop', (s) => s.failure === 'crash-loop'],
  ['failed', 'image-pull', (s) => s.failure === 'image-pull'],
  ['failed', 'deadline', (s) => s.failure === 'deadline'],
  ['held', 'refused', (s) => s.update === 'reserved' && s.refused],
  ['updating', 'preparing', (s) => s.preparingDelete],
  ['updating', 'reserved', (s) => s.update === 'reserved'],
  ['updating', 'terminating', (s) => s.pods > 0 && s.livePods === 0],
  ['updating', 'no-pod-yet', (s) => s.pods === 0 && (s.update !== 'none' || s.replacing)],
  ['missing', 'no-pod', (s) => s.pods === 0],
  ['updating', 'ready-too-short', (s) => s.current && s.ready],
  ['updating', 'changing', (s) => s.updatingInPlace],
  ['updating', 'surging', (s) => s.surging],
  ['updating', 'starting', (s) => s.current && s.update !== 'none'],
  ['updating', 'not-ready', (s) => s.current],
  ['held', 'duplicate-pods', (s) => s.pods > 1],
  // From here on the node has one live pod, of an older revision.
  ['settling', 'returned', (s) => !s.settled],
  ['held', 'refused', (s) => s.refused],
  ['held', 'node-selector', (s) => !s.selected],
  ['held', 'partition', (s) => !s.partitionAllows],
  ['held', 'stage', (s) => !s.stageOpen],
  ['held', 'after', (s) => s.waitsForOther],
  ['held', 'busy', (s) => s.busy],
  ['held', 'window', (s) => !s.calendarOpen],
  ['held', 'image', (s) => s.imageMissing],
  ['broken', 'broken-by-older-update', (s) => !s.available && s.update === 'older-rollout'],
  ['broken', 'not-available', (s) => !s.available],
  ['outdated', 'available', () => true],
];

export const phaseOf = (situation: Situation): { phase: Phase; cause: RuleCause } => {
  for (const [phase, cause, when] of rules) if (when(situation)) return { phase, cause };
  throw new Error('no rule in phase.ts matches: the last one must always match');
};
