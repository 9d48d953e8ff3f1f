/** Where a node stands in a rollout. Every eligible node is in exactly one phase; the names are part of the user interface. */
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
  held: [
    'duplicate-pods',
    'refused',
    'node-selector',
    'partition',
    'stage',
    'after',
    'busy',
    'window',
    'group',
    'image',
  ],
  failed: ['crash-loop', 'image-pull', 'deadline', 'came-back-old'],
  missing: ['no-pod'],
} as const satisfies Record<Phase, readonly string[]>;
export type Cause = (typeof causesOf)[Phase][number];
export type HeldCause = (typeof causesOf)['held'][number];
export type FailedCause = (typeof causesOf)['failed'][number];

/** How an update brings a node to the target other than by deleting its pod. */
export const updateKinds = [
  /** The pod itself is patched and keeps running. */
  'in-place',
  /** A new pod is created beside it; the old one is deleted once the new one is available. */
  'surge',
] as const;
export type UpdateKind = (typeof updateKinds)[number];
