/**
 * What each kind of DaemonSet does in its own way. The reconciler owns the loop, slots, status, Events and the order of
 * things; the adapter of a kind is called where kinds differ.
 */

import type { KubeClient, Reflector, Store, WorkQueueMetrics } from '../kube/index.ts';
import type { Decision, Ledger, NodeInfo, NodeUpdate, OutsideHold, TargetRevision } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { DaemonSetObject, DaemonSetView, Kind, RevisionView } from './kind.ts';
import type { PodCache, PodControl, PodVersion, PodWriteKind, WriteOutcome } from './pod-writes.ts';

/** Receives what the controller measures. All members are optional, and must not throw. */
export interface ControllerMetrics {
  /**
   * A write to a pod has ended: what was done (`podWriteTexts`), `fenced`, `announced`, `withdrawn`, or why not
   * (`WriteOutcome`).
   */
  podWritten?(result: string): void;
  /** The write of reservations has ended. */
  reserved?(result: 'written' | 'failed'): void;
  /** A DaemonRollout's status was written, with or without reservations. */
  statusWritten?(): void;
  /** An update of a node completed, this long after its slot was reserved. */
  nodeUpdated?(daemonSet: { namespace: string; name: string }, seconds: number): void;
  /** The queue of DaemonSets to reconcile. */
  queue?: WorkQueueMetrics;
}

/**
 * Requests a reconcile, as soon as the pace of a DaemonSet allows it. `retry`: what made reconciles fail has changed, so that they need
 * not wait for their back-off.
 */
export type Enqueue = (why?: 'retry') => void;

/** Records Events on a DaemonSet. */
export interface KindEvents {
  event(type: 'Normal' | 'Warning', reason: string, action: string, note: string): void;
  /** A Warning, recorded once per rollout and `key`: never once per retry. */
  warnOnce(key: string, reason: string, action: string, note: string): void;
  /** Once per rollout, kind of write, node and reason. */
  podWriteRefused(kind: PodWriteKind, pod: string, node: string, reason: string, message: string): void;
}

/** What the reconciler of one DaemonSet provides to the adapter of its kind. */
export interface ReconcilerContext<V extends DaemonSetView, P> {
  client: KubeClient;
  /** Its log names the DaemonSet. */
  env: Env;
  /** Unique to this process. */
  identity: string;
  /** The DaemonSet as it is now. */
  view: () => V;
  ledger: Ledger;
  /** All nodes of the cluster. */
  nodes: Store<NodeInfo>;
  /** What the projection keeps of pods, by `namespace/name`. */
  pods: Store<P>;
  podCache: PodCache;
  /** The revisions that the DaemonSet owns, as watched. */
  revisions: () => readonly RevisionView[];
  podControl: PodControl;
  events: KindEvents;
  metrics: ControllerMetrics;
  enqueue: Enqueue;
  /** Hands the DaemonSet, from the response to a write or a read, to its cache; undefined: the API server no longer has it. */
  accept(daemonSet: DaemonSetObject | undefined): void;
  /** The API server has refused a write on this version of the DaemonSet, which has changed since. */
  refused: (resourceVersion: string) => void;
}

export type Target =
  | { kind: 'known'; revision: TargetRevision }
  /** No update may start, for this reason. `recheckAt`: epoch ms; Infinity if an event of a watch ends it. */
  | { kind: 'held'; hold: OutsideHold; recheckAt: number };

/** Writes to a node's pod, with its UID and resourceVersion as preconditions: exactly the pod that was decided on. */
export type WritePod = (node: string, pod: PodVersion, signal: AbortSignal) => Promise<WriteOutcome>;

/**
 * The writes that decisions ask for. A kind needs only those that its policies can ask for. A hook that must be heard
 * before a pod goes is asked in here: `changed` once the pod carries the request, `later` while the hook holds it back.
 */
export interface PodWrites extends Readonly<Partial<Record<PodWriteKind, WritePod>>> {
  delete: WritePod;
  /**
   * Updates the pod in place: `done` once the pod says that it is of the target, `changed` after a write that only
   * prepares it for that. The steps that follow belong to `manage`.
   */
  'update-in-place'?: WritePod;
  /** Creates the surge pod, after a write to the old pod has shown that the update is not fenced. */
  surge?: WritePod;
  /** Deletes the pod that a surge pod has replaced. */
  'delete-old'?: WritePod;
  /**
   * Makes sure that the API server refuses what another process may still send for the reserved update. `later` while
   * the cache may lack what it has already done.
   */
  fence: (node: string, update: PodVersion & Pick<NodeUpdate, 'kind'>, signal: AbortSignal) => Promise<WriteOutcome>;
}

export interface ManageInput<V extends DaemonSetView> {
  view: V;
  decision: Decision;
  /** Aborts when leadership is lost, or when the DaemonSet is no longer managed. */
  signal: AbortSignal;
}

/** What events are about, so that state by node need not be rebuilt as a whole. */
export interface KindEventHandlers<P> {
  /** The node is new, changed or gone, or the DaemonSet has changed what it asks of nodes. */
  node(name: string): void;
  /** The pod is new, changed or gone: as it is now, or as it was last. */
  pod(kept: P): void;
}

export interface KindAdapter<V extends DaemonSetView, P> {
  /** Called by each reconcile, with synced caches and the DaemonRollout read: it may write what a target needs. */
  findTarget(view: V, signal: AbortSignal): Promise<Target>;
  podWrites: PodWrites;
  /**
   * Restores an earlier template and sets annotation `edgeset.io/rolled-back-from` to `from`, in one write that is refused
   * with Conflict unless the DaemonSet has the view's UID and resourceVersion. Resolves with the DaemonSet after it.
   */
  restoreTemplate(view: V, template: object, from: string, signal: AbortSignal): Promise<DaemonSetObject>;
  /**
   * Everything besides the rollout, at the end of each reconcile: the decision has been executed. Not called while the
   * caches may be incomplete. The next reconcile waits for it, so long work is only started, and calls `enqueue` when it
   * ends. Resolves with when to be called again without an event, epoch ms; Infinity for never.
   */
  manage?(input: ManageInput<V>): Promise<number>;
  /**
   * Instead of anything else, while something about the DaemonSet cannot be computed: says so in the DaemonSet's own status.
   * `what`: as in the hold. It uses nothing of the ledger. Only starts writes.
   */
  reportError(view: V, what: string): void;
  /** Why the API server refuses new pods; undefined while it accepts them, or as far as is known. */
  refusal?(): string | undefined;
  /**
   * Called by each reconcile before anything else, unless the caches may be incomplete. A DaemonSet that is being deleted
   * needs no rollout, and its DaemonRollout may be collected, or orphaned, before it; nor does one that can have none: resolves
   * then with when to be called again, epoch ms, Infinity for never, and nothing else is done. Undefined: neither.
   */
  finalize?(view: V, signal: AbortSignal): Promise<number | undefined>;
  eventHandlers?: KindEventHandlers<P>;
  /** Starts nothing further; resolves when no write of its own is in flight. Stops waiting for responses after `graceMs`. */
  drain?(graceMs: number): Promise<void>;
}

/** For a cache of one namespace or of all. */
export interface InformerOptions {
  client: KubeClient;
  env: Env;
  namespace?: string;
}

/** A kind of DaemonSet that a controller can manage. */
export interface ManagedKind<D extends DaemonSetObject, V extends DaemonSetView, P> extends Kind<D, V, P> {
  /** Name of its controller, in the log. */
  controller: string;
  /** Another cache that its adapters read, for each namespace or for all: nothing is decided before it has synced. */
  informer?(options: InformerOptions): Reflector<unknown>;
  /** Called once for each reconciler. */
  createAdapter(context: ReconcilerContext<V, P>): KindAdapter<V, P>;
}
