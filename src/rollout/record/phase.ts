/**
 * What a node is to a rollout. Every eligible node is in exactly one phase; the names are part of the user interface.
 */
export const phases = [
  'updated',
  'updating',
  'outdated',
  'broken',
  'offline',
  'settling',
  'held',
  'failed',
  'missing',
] as const;
export type Phase = (typeof phases)[number];

/** Why a node is in its phase. Each cause belongs to one phase; explain.ts has a sentence for each. */
export const causesOf = {
  updated: ['current'],
  updating: [
    'reserved',
    'preparing',
    'terminating',
    'no-pod-yet',
    'starting',
    'surging',
    'changing',
    'ready-too-short',
    'not-ready',
  ],
  outdated: ['available'],
  broken: ['not-available', 'broken-by-older-update', 'not-changed-in-time'],
  offline: ['offline-current', 'offline-outdated', 'suspect', 'lost'],
  settling: ['returned'],
  held: ['duplicate-pods', 'refused', 'node-selector', 'partition', 'image'],
  failed: ['crash-loop', 'image-pull', 'deadline', 'came-back-old'],
  missing: ['no-pod'],
} as const satisfies Record<Phase, readonly string[]>;
export type Cause = (typeof causesOf)[Phase][number];

/** The facts about one node that decide its phase; made by record.ts. */
export interface Situation {
  /** Condition Ready is True. */
  online: boolean;
  /** Online for at least the settle time. */
  settled: boolean;
  /** Number of pods, terminating ones included. */
  pods: number;
  /** Number of pods that are not on their way out. */
  livePods: number;
  /** The one live pod is of the target revision. */
  current: boolean;
  /** The one live pod is ready. */
  ready: boolean;
  /** The one live pod waits for its user's controller before it is deleted. */
  leaving: boolean;
  /** The node's only pod has been ready for minReadySeconds. */
  available: boolean;
  /** An act of ours on this node that has not healed; `reserved` has not been carried out as far as we know. */
  act: 'none' | 'reserved' | 'this-rollout' | 'older-rollout';
  /** An owner took the node's old pod away. */
  replacing: boolean;
  /** Went offline within the suspect window after our act. */
  suspect: boolean;
  /** A suspect whose window is over. */
  lost: boolean;
  /** Why the target revision does not work here, as far as is known. */
  failure: 'crash-loop' | 'image-pull' | 'deadline' | 'came-back-old' | undefined;
  /** An old and a new pod are there at once, or are to be. */
  surging: boolean;
  /** Its one live pod was changed in place in this rollout, and is not available yet. */
  changing: boolean;
  /** That has lasted for longer than the progress deadline, and it may be made anew. */
  overdue: boolean;
  /** The API server refused our last act here; not tried again before its back-off ends. */
  refused: boolean;
  /** Matches the policy's node selector. */
  selected: boolean;
  /** May be updated under the policy's partition. */
  partitionAllows: boolean;
  /** The policy asks for the target's images first, and they are not there. */
  imageMissing: boolean;
}

type Rule = readonly [phase: Phase, cause: Cause, when: (s: Situation) => boolean];

/** The rules of native.md in order: the first that holds files the node. */
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
  ['held', 'refused', (s) => s.act === 'reserved' && s.refused],
  ['updating', 'preparing', (s) => s.leaving],
  ['updating', 'reserved', (s) => s.act === 'reserved'],
  ['updating', 'terminating', (s) => s.pods > 0 && s.livePods === 0],
  ['updating', 'no-pod-yet', (s) => s.pods === 0 && (s.act !== 'none' || s.replacing)],
  ['missing', 'no-pod', (s) => s.pods === 0],
  ['updating', 'ready-too-short', (s) => s.current && s.ready],
  ['updating', 'changing', (s) => s.changing],
  ['updating', 'surging', (s) => s.surging],
  ['updating', 'starting', (s) => s.current && s.act !== 'none'],
  ['updating', 'not-ready', (s) => s.current],
  ['held', 'duplicate-pods', (s) => s.pods > 1],
  // From here on the node has one pod, alive and of an older revision.
  ['settling', 'returned', (s) => !s.settled],
  ['held', 'refused', (s) => s.refused],
  ['held', 'node-selector', (s) => !s.selected],
  ['held', 'partition', (s) => !s.partitionAllows],
  ['held', 'image', (s) => s.imageMissing],
  ['broken', 'broken-by-older-update', (s) => !s.available && s.act === 'older-rollout'],
  ['broken', 'not-available', (s) => !s.available],
  ['outdated', 'available', () => true],
];

export const phaseOf = (situation: Situation): { phase: Phase; cause: Cause } => {
  for (const [phase, cause, when] of rules) if (when(situation)) return { phase, cause };
  throw new Error('no rule of phase.ts holds: the last one must hold always');
};
