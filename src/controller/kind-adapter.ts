/**
 * What a session of one kind of DaemonSet does in its kind's own way. The loop, slots, status, Events, pace and order of
 * things are the session's; what is asked for here is told when, and with what to do it.
 */

import type { KubeClient, Store } from '../kube/index.ts';
import type { Decision, Ledger, NodeInfo, NodeUpdate, OutsideHold, TargetRevision } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { PodWriteKind } from './deed.ts';
import type { DaemonSetObject, DaemonSetView, Kind } from './kind.ts';
import type { ControllerMetrics } from './observer.ts';
import type { PodControl, PodVersion, WriteOutcome } from './pod-control.ts';
import type { RevisionView } from './revisions.ts';
import type { RolloutEvents } from './rollout-events.ts';

/** What the session of one DaemonSet lends to the means of its kind. */
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
  /** The revisions that the DaemonSet owns, as watched. */
  revisions: () => readonly RevisionView[];
  /** Writes to pods, and what came of them. */
  podControl: PodControl;
  events: RolloutEvents;
  metrics: ControllerMetrics;
  /** Asks for a pass. */
  enqueue: () => void;
}

export type Target =
  | { kind: 'known'; revision: TargetRevision }
  /** No act may begin, for this reason. `recheckAt`: epoch ms, Infinity when an event of a watch ends it. */
  | { kind: 'held'; hold: OutsideHold; recheckAt: number };

/** Writes to one node's pod, with its UID and resourceVersion as preconditions: the decision was made on just that pod. */
export type WritePod = (node: string, pod: PodVersion, signal: AbortSignal) => Promise<WriteOutcome>;

/**
 * What carries out what the decision names. A kind whose policies never ask for a deed need not be able to do it. Who is
 * to be heard before a pod goes (a hook) is asked in here: `changed` once the pod was told, `later` while it waits.
 */
export interface PodWrites extends Readonly<Partial<Record<PodWriteKind, WritePod>>> {
  /** Takes the pod away. */
  delete: WritePod;
  /**
   * Brings the pod to say that it is of the target: `done` once it does. `changed` after a write that only prepares it for
   * that. The steps that follow are for `maintain`.
   */
  change?: WritePod;
  /** Creates the new pod beside this one, once a write to this one has shown that nobody has fenced the act. */
  surge?: WritePod;
  /** Takes this pod away, which a new one has taken over from. */
  retire?: WritePod;
  /**
   * Makes sure that whoever else may still do what was reserved for the pod is refused. `later` while what they may have
   * done by then is not seen yet.
   */
  fence: (node: string, act: PodVersion & Pick<NodeUpdate, 'kind'>, signal: AbortSignal) => Promise<WriteOutcome>;
}

/** What a pass was made on. */
export interface ManageInput<V extends DaemonSetView> {
  view: V;
  decision: Decision;
  /** Aborts when we lead no more, or when the DaemonSet is not served any more. */
  signal: AbortSignal;
}

/** What events are about, told as they come: what is kept by node need not be gone through as a whole. */
export interface KindEventHandlers<P> {
  /** The node is new, changed or gone, or the DaemonSet asks something else of nodes. */
  node(name: string): void;
  /** The pod is new, changed or gone: as it is now, or as it was last. */
  pod(kept: P): void;
}

export interface KindAdapter<V extends DaemonSetView, P> {
  /** Called by each pass of the leader, caches filled and the DaemonRollout read: it may write what a target needs. */
  findTarget(view: V, signal: AbortSignal): Promise<Target>;
  podWrites: PodWrites;
  /**
   * Puts an earlier template back and sets annotation `edgeset.io/rolled-back-from` to `from`, in one write that is
   * refused with Conflict unless the DaemonSet has the view's UID and resourceVersion. Resolves with the new one.
   */
  restoreTemplate(view: V, template: object, from: string, signal: AbortSignal): Promise<string>;
  /**
   * What is to be done besides acts, at the end of each pass: all that the decision asked for has been begun. Not called
   * while what we see may be incomplete. The next pass of the DaemonSet waits for it, so what takes long is begun only,
   * and wakes us when it ends. Resolves with when to be called again even if nothing happens, epoch ms; Infinity for never.
   */
  manage?(pass: ManageInput<V>): Promise<number>;
  /**
   * Called by each pass before anything else, unless what we see may be incomplete. A DaemonSet that is being deleted needs
   * no rollout, and its DaemonRollout may go, or become nobody's, before it: resolves then with when to be called again,
   * epoch ms, Infinity for never, and nothing else is done. Undefined: it is not being deleted.
   */
  finalize?(view: V, signal: AbortSignal): Promise<number | undefined>;
  eventHandlers?: KindEventHandlers<P>;
  /** Begins nothing further; resolves when nothing of its own is in the air. After `graceMs` no answer is waited for. */
  drain?(graceMs: number): Promise<void>;
}

/** A kind of DaemonSet that a controller can serve. */
export interface ManagedKind<D extends DaemonSetObject, V extends DaemonSetView, P> extends Kind<D, V, P> {
  /** In the log. */
  controller: string;
  /** Called once for each session. */
  createAdapter(context: ReconcilerContext<V, P>): KindAdapter<V, P>;
}
