import type { Store } from '../../kube/index.ts';
import type { Approval, Ledger, NodeInfo, Summary } from '../../rollout/index.ts';
import type { InternalError } from '../internal-error.ts';
import type { DaemonSetObject, DaemonSetView, RevisionView } from '../kind.ts';
import type { ControllerMetrics, Enqueue, ManagedKind } from '../kind-adapter.ts';
import type { ControllerOptions } from './controller-options.ts';
import type { Order } from './order.ts';

/** What the caches of a controller say to the reconciler of one DaemonSet. */
export interface SharedCaches<D extends DaemonSetObject> {
  nodes: Store<NodeInfo>;
  /** They are consistent. */
  synced: () => boolean;
  /** Every watch has recently received something from the API server. */
  isConnected: () => boolean;
  /** Hands the DaemonSet, from a response, to its cache; undefined: the API server no longer has it. */
  accept: (daemonSet: D | undefined) => void;
  /** Whether the plans and approvals of the cluster are known; stale: a watch of them has received nothing for too long. */
  plans: () => 'known' | 'missing' | 'stale';
  /** The revisions that a DaemonSet owns. */
  revisionsOf: (ownerUid: string) => readonly RevisionView[];
  /** What they lack, or may lack, of this DaemonSet; undefined: nothing. */
  failure: () => InternalError | undefined;
}

export interface ReconcilerOptions<D extends DaemonSetObject, V extends DaemonSetView, P> {
  kind: ManagedKind<D, V, P>;
  view: V;
  /** Of its controller. */
  controller: ControllerOptions & { order: Order; metrics: ControllerMetrics };
  caches: SharedCaches<D>;
  enqueue: Enqueue;
}

/** Manages one DaemonSet: the cache of its pods, its ledger, and the loop that decides and executes. */
export interface Reconciler<V extends DaemonSetView> {
  key: string;
  uid: string;
  ledger: Ledger;
  /** Of the latest decision; undefined before the first. */
  summary(): Summary | undefined;
  /** Something about the DaemonSet, with what the caches may lack of it, cannot be computed; undefined: nothing of the kind. */
  internalError(): InternalError | undefined;
  /** This reconciler cannot continue, and has said so: close it, and create another one. */
  hasFailed(): boolean;
  /** What was to be brought to this reconciler could not be computed. `about`: the object, as `Node edge-7`. */
  fail(about: string, error: unknown): void;
  /** What the caches lack has changed. */
  failuresChanged(): void;
  setNode(node: NodeInfo, previous?: NodeInfo): void;
  removeNode(node: string): void;
  /** The DaemonSet, or the plan that it names, has changed. */
  update(next: V): void;
  /** What people decided about the stages of this DaemonSet. */
  setApprovals(approvals: readonly Approval[]): void;
  /** The watch says that the DaemonRollout is gone. */
  rolloutDeleted(): void;
  synced(): boolean;
  /** Resolves once its pods are cached; rejects when the signal aborts, or when the reconciler is closed. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Fills and keeps the cache of pods until the signal aborts or the reconciler is closed. */
  run(signal: AbortSignal): Promise<void>;
  /** Decides, executes and writes, until nothing is left to do now. Only the leader calls it. */
  reconcile(leading: AbortSignal): Promise<ReconcileResult>;
  /** What failed before the term is tried again, before anybody is told of it. */
  beginTerm(): void;
  /** Leadership is lost: another leader may write the DaemonRollout. Resolves when none of our writes is in flight. */
  stopLeading(): Promise<void>;
  /** Not managed any more: sends nothing. Resolves when no write is in flight, or announcement, which must be taken back. */
  close(): Promise<void>;
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
