import type { Condition, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { plainText } from '../text/index.ts';
import type { Phase, UpdateKind } from './phases.ts';

/** Names of the API resource. */
export const daemonRolloutApi = {
  group: 'edgeset.io',
  version: 'v1alpha1',
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'DaemonRollout',
  plural: 'daemonrollouts',
  singular: 'daemonrollout',
  shortName: 'dro',
  category: 'edgeset',
} as const;

/** Ends the name of the DaemonRollout of an Advanced DaemonSet: the kinds share one namespace of names. */
export const ADVANCED_ROLLOUT_SUFFIX = '.apps.kruise.io';

/** Field manager of everything that the manager writes. */
export const FIELD_MANAGER = 'edgeset-manager';

/**
 * The schema's limits on the items of a list and the characters of a text. The API server refuses a whole status that
 * exceeds one of them, so writers truncate it first.
 */
export const daemonRolloutLimits = {
  /** etcd limits an object to 1.5 MiB: 5000 reservations fit with node names of 40 characters, 3000 with 63. */
  reservations: 3000,
  forgiven: 3000,
  causes: 64,
  failing: 10,
  stragglers: 10,
  asked: 10,
  haltedNodes: 10,
  conditions: 16,
  /** Rollouts in the history. With the longest names and images, each has 9 KiB without stages, and usually a tenth of that. */
  history: 20,
  /** Images of one revision in the history. */
  images: 8,
  image: 512,
  /** The API server's own limit. */
  fieldManager: 128,
  operation: 32,
  /** Notifications that are told once for each rollout: six kinds, and two for each stage. */
  sent: 64,
  /** Notifications that are still to be sent; the oldest make room. */
  notifications: 16,
  /** Targets of one notification. */
  targets: 16,
  /** Those of a plan, and the one of all other nodes. */
  stages: 21,
  /** Name of a user. */
  user: 512,
  /** Characters of a comment that the history keeps: it has one for each stage of 20 rollouts. */
  comment: 256,
  /** Names of nodes, pods and revisions. */
  name: 253,
  hash: 63,
  summary: 256,
  message: 1024,
  /** `resumed`. */
  consent: 512,
} as const;

export const cut = (text: string, most: number = daemonRolloutLimits.message): string => {
  const plain = plainText(text);
  return plain.length <= most ? plain : `${plain.slice(0, most - 1)}\u2026`;
};

/**
 * The state of one DaemonSet's rollout, named like the DaemonSet and owned by it. It has no spec: the DaemonSet and its
 * annotations say what is wanted.
 */
export interface DaemonRollout {
  apiVersion: typeof daemonRolloutApi.apiVersion;
  kind: typeof daemonRolloutApi.kind;
  metadata: ObjectMeta;
  status?: DaemonRolloutStatus;
}

/** Of a rollout, whether it still runs or has been replaced by the next one. */
export const rolloutResults = ['InProgress', 'Complete', 'Halted', 'Superseded', 'RolledBack', 'Undone'] as const;

/** The schema (crd-status.ts) describes each field, so that `kubectl explain` shows it. */
export interface DaemonRolloutStatus {
  observedGeneration?: number;
  daemonSetGeneration?: number;
  policyHash?: string;
  strategy?: 'auto' | 'ota' | 'manual';
  leader?: string;
  summary?: string;
  target?: { revision: string; hash: string; number: number };
  rollout?: number;
  updatesStarted?: number;
  startedAt?: string;
  finishedAt?: string;
  allNodesUpdatedAt?: string;
  estimatedFinishAt?: string;
  nodes?: Record<Phase | 'eligible' | 'online' | 'offlineOutdated', number>;
  causes?: { phase: Phase; cause: string; count: number }[];
  budget?: { maxUnavailable: string; maxSurge?: string; nodes: number; inUse: number; inFlight: number };
  breaker?: { failures: number; suspects: number; threshold: number };
  owners?: { asked: number; nodes: string[]; deadline?: string; deadlineSpreadSeconds?: number };
  images?: {
    pulled: number;
    pulling: number;
    waiting: number;
    failed: number;
    failing: { node: string; message: string }[];
  };
  failing?: { node: string; cause: string; message: string; since: string }[];
  stragglers?: { node: string; lastSeen: string }[];
  conditions?: Condition[];
  halted?: { at: string; reason: 'Failures' | 'RolledBack' | 'CheckFailed'; nodes: string[]; check?: string };
  resumed?: string;
  lastComplete?: { revision: string; hash: string };
  reservations?: DaemonRolloutReservation[];
  forgiven?: string[];
  history?: DaemonRolloutHistory[];
  notifications?: { sent: string[]; pending: RolloutNotification[] };
  plan?: string;
  rollback?: boolean;
  stages?: DaemonRolloutStage[];
}

/** Why the open stage has not been passed yet. */
export const stageWaits = ['Coverage', 'MinNodes', 'Soak', 'Checks', 'Approval', 'Timeout', 'Held'] as const;
export type StageWait = (typeof stageWaits)[number];

export const stagePromotions = ['Gates', 'Empty', 'Timeout', 'ByHand'] as const;
export type StagePromotion = (typeof stagePromotions)[number];

export const checkStates = ['Pending', 'NoResult', 'Passing', 'Failing', 'Failed'] as const;
export type CheckState = (typeof checkStates)[number];

/** A stage of the rollout plan, in its order; the schema describes each field. */
export interface DaemonRolloutStage {
  name: string;
  state: 'Passed' | 'Open' | 'Closed';
  nodes: { total: number; online: number; updated: number };
  openedAt?: string;
  coveredAt?: string;
  soakUntil?: string;
  awaits?: { reason: StageWait; message: string };
  checks?: { name: string; state: CheckState; failures: number; at?: string; message?: string }[];
  promotedAt?: string;
  promotion?: StagePromotion;
  promotedBy?: string;
  sample?: string;
}

/** A revision as the history records it. */
export interface DaemonRolloutRevision {
  revision: string;
  hash: string;
  number: number;
  images: string[];
}

/** What somebody decided about a stage. */
export interface StageDecision {
  decision: 'Approve' | 'Promote';
  by: string;
  at?: string;
  comment?: string;
}

/** A stage that was opened in a rollout, as the history records it. */
export interface DaemonRolloutPastStage {
  name: string;
  openedAt: string;
  promotedAt?: string;
  promotion?: StagePromotion;
  decisions?: StageDecision[];
}

/** One rollout; the schema (crd-history.ts) describes each field. */
export interface DaemonRolloutHistory {
  rollout: number;
  result: (typeof rolloutResults)[number];
  from?: DaemonRolloutRevision;
  to: DaemonRolloutRevision;
  changedBy?: { manager: string; operation: string; time: string };
  startedAt?: string;
  finishedAt?: string;
  allNodesUpdatedAt?: string;
  haltedAt?: string;
  endedAt?: string;
  nodes: number;
  failures: number;
  stages?: DaemonRolloutPastStage[];
}

/** What receivers outside of the cluster can be told about a rollout. */
export const notificationKinds = [
  'started',
  'halted',
  'waiting',
  'completed',
  'all-nodes-updated',
  'stragglers',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** Something about a rollout that receivers outside of the cluster are told. */
export interface RolloutNotification {
  kind: NotificationKind;
  /** Of the condition that explains it. */
  reason?: string;
  /** The stage of the plan that waits. */
  stage?: string;
  rollout: number;
  revision: string;
  at: string;
  message: string;
  nodes: { eligible: number; online: number; updated: number; failed: number; offline: number };
  /** Names of the targets that have not received it. */
  targets: string[];
}

/** An update of a node that holds a slot of the budget, written before the update starts. */
export interface DaemonRolloutReservation {
  node: string;
  /** Absent: the pod is deleted. */
  kind?: UpdateKind;
  /** Needed until the update has been carried out. */
  podName?: string;
  podUID: string;
  /** Needed until the update has been carried out, and for an in-place update until it has completed. */
  podResourceVersion?: string;
  /** Needed for an in-place update. */
  podRevision?: string;
  rollout: number;
  /** RFC 3339 with milliseconds. */
  at: string;
  carriedOut: boolean;
  /** The update of an older rollout that this one repairs, in the same slot. */
  repairs?: { kind?: UpdateKind; podUID?: string; rollout: number; at: string };
}
