import { isAvailable, isLive, policyOf } from '../../invariants/index.ts';
import { defaultsMs } from '../tolerances.ts';
import type { ClusterState, NodeState, PodState } from './cluster-state.ts';

export interface StartedUpdate {
  /** `prepare`: the preDelete hook has its turn before the pod is deleted. */
  kind: 'delete' | 'in-place' | 'surge' | 'prepare';
  uid: string;
  hash: string;
  rollout: number;
  at: number;
  /** Of `prepare`: the update on the node that had not completed before. */
  before?: StartedUpdate | undefined;
  /**
   * Processes that know it to be complete: a pod that it brought came to work there, and a late watch hid that it was deleted or
   * failed before it was available. What they learn of the pod later is no part of the update.
   */
  completeFor: Set<string>;
}

/** An update, with the pod as it was before. */
export type ExecutedUpdate = Pick<StartedUpdate, 'kind' | 'uid' | 'hash'>;

/** It is the pod that was to be updated, at the same revision. */
export const isUnchanged = (pod: PodState, { uid, hash }: ExecutedUpdate): boolean =>
  pod.uid === uid && pod.hash === hash && !pod.terminating;

/**
 * The pod is unchanged, or is again what it was: only a gate was closed, or its hook had its turn. After a hook's turn the gate opens
 * with a second write; until then the node is down, but not updated.
 */
export const isReverted = (state: ClusterState, node: string, update: ExecutedUpdate): boolean =>
  update.kind !== 'surge' &&
  state
    .podsOn(node)
    .some((pod) => isUnchanged(pod, update) && !pod.preparing && (update.kind === 'prepare' || !pod.gateClosed));

export interface UpdateFollowerOptions {
  state: ClusterState;
  now: () => number;
  /**
   * `all`: every write. `log`: the audit log, which may lack the end of a pod whose kubelet was cut off, and shows too little of an
   * update that was taken back: such an update ends only once a pod of its node is available again.
   */
  sees: 'all' | 'log';
}

/** Follows which nodes have an update in flight. Call `follow` when a node or a pod there has changed. */
export const followUpdates = ({ state, now, sees }: UpdateFollowerOptions) => {
  const inFlight = new Map<string, StartedUpdate>();
  /** Updates in place that were in flight when the Node was deleted. One of the same name may find the pod that they broke. */
  const left = new Map<string, StartedUpdate>();
  /** The last update on each node, once it has completed. */
  const completed = new Map<string, StartedUpdate>();

  const policy = () => (state.daemonSet ? policyOf(state.daemonSet) : undefined);
  const works = (pod: PodState): boolean => isAvailable(pod, policy()?.minReadyMs ?? 0, now());
  const live = (name: string): readonly PodState[] => state.podsOn(name).filter(isLive);
  const isComplete = (name: string, { kind, uid }: StartedUpdate): boolean => {
    // A DaemonSet that has come to surge needs no old pod gone, either: a finalizer may hold it for long.
    const needsNoEnd = kind === 'surge' || sees === 'log' || policy()?.surging === true;
    const [pod, ...others] = needsNoEnd ? live(name) : state.podsOn(name);
    if (!pod || others.length > 0 || !works(pod) || pod.preparing) return false;
    // An in-place update keeps the pod, a delete replaces it; the creation of a surge may never have been executed.
    return kind !== 'delete' || pod.uid !== uid;
  };
  /** The new pod is gone, and the one beside it was never touched: whatever keeps that from working is not the update. */
  const isWithdrawn = (name: string, { kind, uid }: StartedUpdate): boolean => {
    const [pod, ...others] = state.podsOn(name);
    return (
      kind === 'surge' && pod?.uid === uid && others.length === 0 && isLive(pod) && !pod.preparing && !pod.gateClosed
    );
  };
  const takeBack = (name: string, node: NodeState): void => {
    const last = completed.get(name);
    // A node that went offline soon after its update is in flight again: the update may be why. S1 covers updates of the
    // present rollout only; one that completed before the template changed stays complete.
    const isPresent = last?.rollout === state.rolloutOf(state.daemonSet);
    const isSuspect = last && !node.ready && node.since > last.at && node.since - last.at <= defaultsMs.suspectWindow;
    if (isPresent && isSuspect) {
      completed.delete(name);
      inFlight.set(name, { ...last, completeFor: new Set() });
    }
    const prepared = inFlight.get(name);
    // A hook's turn that is reverted was no update: what was in flight before it still is, even if the pod does not work.
    if (prepared?.kind === 'prepare' && isReverted(state, name, prepared)) {
      if (prepared.before) inFlight.set(name, prepared.before);
      else inFlight.delete(name);
    }
    const update = inFlight.get(name);
    if (update && isWithdrawn(name, update)) inFlight.delete(name);
  };
  const follow = (name: string): void => {
    const node = state.nodes.get(name);
    // A node that is no longer eligible has no update, and neither has a new node of the same name.
    if (!node || (sees === 'all' && !node.eligible)) {
      const last = inFlight.get(name);
      if (!node && last?.kind === 'in-place') left.set(name, last);
      inFlight.delete(name);
      completed.delete(name);
      return;
    }
    const stayed = left.get(name);
    if (stayed && isComplete(name, stayed)) left.delete(name);
    if (sees === 'all') takeBack(name, node);
    const update = inFlight.get(name);
    if (!update || !node.ready || !isComplete(name, update)) return;
    inFlight.delete(name);
    completed.set(name, update);
  };

  return {
    inFlight: inFlight as ReadonlyMap<string, StartedUpdate>,
    works,
    live,
    follow,
    /** An update is in flight there, or was one of this pod when the Node was deleted and created again. */
    holdsSlot: ({ node, uid }: PodState): boolean => inFlight.has(node) || left.get(node)?.uid === uid,
    /** Completes what only needed time to pass. */
    advance: (): void => {
      for (const name of inFlight.keys()) follow(name);
    },
    /** An update of the pod is executed. */
    begin({ node, uid, hash }: PodState, kind: StartedUpdate['kind'], rollout: number): void {
      const last = inFlight.get(node);
      const unfinished = last?.kind === 'prepare' ? last.before : last;
      const before = kind === 'prepare' ? unfinished : undefined;
      left.delete(node);
      inFlight.set(node, { kind, uid, hash, rollout, at: now(), before, completeFor: new Set() });
    },
    /** The update on a node has taken its pod out of service, or let its hook have its turn, and has changed nothing else. */
    isOnlyBegun: (node: string): boolean => {
      const update = inFlight.get(node);
      if (!update || update.kind === 'surge') return false;
      return state.podsOn(node).some((pod) => isUnchanged(pod, update));
    },
    /** Nodes with an update of the present rollout that has neither completed nor been reverted. */
    *ofPresentRollout(): Generator<string> {
      const present = state.rolloutOf(state.daemonSet);
      for (const [name, update] of inFlight)
        if (update.rollout === present && !isReverted(state, name, update)) yield name;
    },
    /** A DaemonSet that is created again under the same name has its own budget. */
    clear: (): void => inFlight.clear(),
  };
};
export type UpdateFollower = ReturnType<typeof followUpdates>;
