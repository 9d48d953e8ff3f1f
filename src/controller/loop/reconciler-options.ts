import type { CheckRunner } from '../../checks/index.ts';
import type { EventRecorder, KubeClient, Store } from '../../kube/index.ts';
import type { ImageRequests, NodeInfo } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { Notifier } from '../events/outbox.ts';
import type { InternalError } from '../internal-error.ts';
import type { ControllerMetrics, Enqueue, ManagedKind } from '../kind-adapter.ts';
import type { DaemonSetObject, DaemonSetView, RevisionView } from '../kind.ts';
import type { Order } from './order.ts';

export interface ReconcilerOptions<D extends DaemonSetObject, V extends DaemonSetView, P> {
  kind: ManagedKind<D, V, P>;
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  identity: string;
  view: V;
  nodes: Store<NodeInfo>;
  /** The caches that all DaemonSets share are consistent. */
  sharedSynced: () => boolean;
  /** Every shared watch has recently received something from the API server. */
  isConnected: () => boolean;
  /** Lists the DaemonSets again if their watch is past this version of ours, without having delivered it. */
  relistIfPast: (version: string) => void;
  /** Whether the plans and approvals of the cluster are known; stale: a watch of them has received nothing for too long. */
  plans: () => 'known' | 'missing' | 'stale';
  /** The revisions that a DaemonSet owns, as watched. */
  revisionsOf: (ownerUid: string) => readonly RevisionView[];
  enqueue: Enqueue;
  /** What the caches that all DaemonSets share lack, or may lack, of this one; undefined: nothing. */
  sharedFailure: () => InternalError | undefined;
  /** Receives the requests for images; undefined: nothing pulls images ahead. */
  images: ImageRequests | undefined;
  /** Images are pulled ahead also where no annotation asks for it. */
  pullsByDefault: boolean;
  /** An agent on the node pulls images. */
  hasImageAgent: (node: string) => boolean;
  /** Tells receivers outside of the cluster; undefined: nobody is told. */
  notifier: Notifier | undefined;
  /** Between the updates of the DaemonSets of all kinds. */
  order: Order;
  /** See `LedgerOptions`. */
  aheadMs: (() => number) | undefined;
  /** Runs the checks of stages; undefined: none is ever evaluated, so they hold. */
  checks: { runner: CheckRunner; ownNamespace: string } | undefined;
  metrics: ControllerMetrics;
}

export interface ReconcileResult {
  /** Epoch ms; undefined: an event comes first. */
  requeueAt?: number;
}

export const NEVER = Number.POSITIVE_INFINITY;

/** At the earliest of these times, epoch ms; Infinity for never. */
export const requeueAt = (...times: readonly number[]): ReconcileResult => {
  const earliest = Math.min(...times);
  return earliest < NEVER ? { requeueAt: earliest } : {};
};
