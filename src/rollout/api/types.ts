import type { Condition, ListMeta, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { Phase } from '../record/phase.ts';
import type { UpdateKind } from '../record/update.ts';

/** Where the API serves DaemonRollouts. */
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
 * The most that the API server takes: items of a list, characters of a text. A status that exceeds one of them is
 * refused as a whole, so whoever writes it cuts first.
 */
export const daemonRolloutLimits = {
  /**
   * etcd takes an object of 1.5 MiB: 5000 reservations fit while names of nodes have up to 40 characters, 3000 with the
   * longest ones that are usual (63).
   */
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
 * The state of one DaemonSet's rollout, named like the DaemonSet and owned by it. It has no spec: what is wanted stands
 * in the DaemonSet and its annotations.
 */
export interface DaemonRollout {
  apiVersion: typeof daemonRolloutApi.apiVersion;
  kind: typeof daemonRolloutApi.kind;
  metadata: ObjectMeta;
  status?: DaemonRolloutStatus;
}

export interface DaemonRolloutList {
  apiVersion: typeof daemonRolloutApi.apiVersion;
  kind: typeof daemonRolloutApi.listKind;
  metadata: ListMeta;
  items: DaemonRollout[];
}

/** What each field means is said once, in the schema (crd-status.ts), where `kubectl explain` finds it too. */
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

/** An act on a node that holds a slot of the budget, written before the act is begun. */
export interface DaemonRolloutReservation {
  node: string;
  /** Absent: the pod is deleted. */
  kind?: UpdateKind;
  /** Needed until the act has been carried out. */
  podName?: string;
  podUID: string;
  /** Needed until the act has been carried out, and of a pod that is changed in place until that has healed. */
  podResourceVersion?: string;
  /** Needed where the pod is changed in place. */
  podRevision?: string;
  rollout: number;
  /** RFC 3339 with milliseconds. */
  at: string;
  carriedOut: boolean;
  /** The act of an older rollout that this one repairs, in that one's slot. */
  repairs?: { kind?: UpdateKind; podUID?: string; rollout: number; at: string };
}
