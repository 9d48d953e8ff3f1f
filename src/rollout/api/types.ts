import type { Condition, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { Phase } from '../record/phase.ts';
import type { UpdateKind } from '../record/update.ts';

/** Names of the API resource. */
export const daemonRolloutApi = {
  group: 'edgeset.io',
  version: 'v1alpha1',
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'DaemonRollout',
  listKind: 'DaemonRolloutList',
  plural: 'daemonrollouts',
  singular: 'daemonrollout',
  shortName: 'dro',
  category: 'edgeset',
} as const;

/**
 * The schema's limits on the items of a list and the characters of a text. The API server refuses a whole status that
 * exceeds one of them, so whoever writes it truncates first.
 */
export const daemonRolloutLimits = {
  /** etcd limits an object to 1.5 MiB: 5000 reservations fit with node names of 40 characters, 3000 with 63. */
  reservations: 3000,
  forgiven: 3000,
  causes: 64,
  failing: 10,
  asked: 10,
  haltedNodes: 10,
  conditions: 16,
  /** Names of nodes, pods and revisions. */
  name: 253,
  hash: 63,
  summary: 256,
  message: 1024,
  /** `resumed`. */
  consent: 512,
} as const;

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

/** The schema (crd-status.ts) describes each field, so that `kubectl explain` shows it. */
export interface DaemonRolloutStatus {
  observedGeneration?: number;
  policyHash?: string;
  strategy?: 'auto' | 'ota' | 'manual';
  leader?: string;
  summary?: string;
  target?: { revision: string; hash: string; number: number };
  rollout?: number;
  acted?: number;
  startedAt?: string;
  finishedAt?: string;
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
  conditions?: Condition[];
  halted?: { at: string; reason: 'Failures' | 'RolledBack'; nodes: string[] };
  resumed?: string;
  lastComplete?: { revision: string; hash: string };
  reservations?: DaemonRolloutReservation[];
  forgiven?: string[];
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
