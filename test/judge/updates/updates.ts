import type { Change } from '../../../embedded/index.ts';
import {
  type Finding,
  isAvailable,
  isFirstUpdate,
  isLive,
  isOnlySurge,
  isOutdated,
  keepsWorkingPod,
  nodesOf,
  policyOf,
  type Share,
  withinBudget,
} from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Report } from '../report.ts';
import { followAnswers } from '../state/answers.ts';
import { type Executed, followClusterState, isEligible, type PodState } from '../state/cluster-state.ts';
import { type ExecutedUpdate, followUpdates, isReverted, type StartedUpdate } from '../state/follow-updates.ts';
import type { ProcessView } from '../state/process-view.ts';
import { tolerances } from '../tolerances.ts';

export interface UpdatesCheckOptions {
  report: Report;
  daemonSet: { group: string; name: string };
  now: () => number;
  viewOf: (process: string) => ProcessView;
  clockOf: (process: string) => number;
  settleMs: number;
}

/** Tracks which nodes have an update in flight, from the actual state, and checks updates against it: S1, S5, S6, S10. */
export const createUpdatesCheck = ({ report, daemonSet, now, viewOf, clockOf, settleMs }: UpdatesCheckOptions) => {
  const { check } = report;
  /** The rollout that a call belongs to: what its sender knew when it sent it. */
  const rolloutOfCall = new WeakMap<Call, number>();
  /** Nodes in flight whose updates were complete by what its sender knew. */
  const completeOfCall = new WeakMap<Call, ReadonlySet<string>>();
  /** The budget that its sender obeyed. */
  const limitOfCall = new WeakMap<Call, Share>();
  /** By node and rollout. */
  const executed = new Map<string, Map<number, ExecutedUpdate>>();
  /** UIDs of pods that managers delete. */
  const deletedByManager = new Set<string>();
  const limits: { at: number; limit: Share }[] = [];

  const policy = () => (actual.daemonSet ? policyOf(actual.daemonSet) : undefined);
  const { state: actual, apply } = followClusterState(daemonSet, {
    onNodeChange: (node) => followed.follow(node),
  });
  const followed = followUpdates({ state: actual, now, sees: 'all' });
  const { inFlight, works, live } = followed;
  const answers = followAnswers({ actual, daemonSet, now, viewOf });

  /**
   * The largest budget that a call may obey. Like any control of the user, a budget holds from when the watch delivers it
   * (S9), or from when the sender could know that its watch is behind.
   */
  const limitFor = (call: Call): number => {
    // A percentage is of the nodes that the sender has observed: a node may have left since.
    const { nodes, daemonSet: known } = viewOf(call.process);
    const seen = nodes.values().reduce((sum, { node }) => sum + (isEligible(node, known) ? 1 : 0), 0);
    const present = actual.nodes.values().reduce((sum, node) => sum + (node.eligible ? 1 : 0), 0);
    const eligible = Math.max(present, seen);
    const observed = limitOfCall.get(call);
    let most = observed === undefined ? 0 : nodesOf(observed, eligible);
    for (const { at, limit } of limits.toReversed()) {
      most = Math.max(most, nodesOf(limit, eligible));
      if (at <= call.at - tolerances.userChange.ms) break;
    }
    return most;
  };

  /** The process has seen a pod work there that the update brought. */
  const isCompleteFor = (process: string, name: string, { kind, uid, hash }: StartedUpdate): boolean => {
    const view = viewOf(process);
    const minReadyMs = view.daemonSet ? policyOf(view.daemonSet).minReadyMs : 0;
    return view.podsOn(name).some((pod) => {
      const isNew = kind === 'in-place' ? pod.uid === uid && pod.hash !== hash : kind !== 'prepare' && pod.uid !== uid;
      return isNew && isLive(pod) && isAvailable(pod, minReadyMs, clockOf(process));
    });
  };
  /** A manager that knows of a completed update says so in a DaemonRollout, so there is a call to look at. */
  const knownToBeComplete = (process: string): ReadonlySet<string> => {
    for (const [name, update] of inFlight) if (isCompleteFor(process, name, update)) update.completeFor.add(process);
    return new Set([...inFlight].flatMap(([name, { completeFor }]) => (completeFor.has(process) ? [name] : [])));
  };
  const setInFlight = (call: Call, kind: StartedUpdate['kind'], pod: PodState): void =>
    followed.begin(pod, kind, rolloutOfCall.get(call) ?? 0);

  return {
    actual,
    answers,
    works,
    isInFlight: (node: string): boolean => inFlight.has(node),
    isOnlyBegun: followed.isOnlyBegun,
    presentlyInFlight: (): Iterable<string> => followed.ofPresentRollout(),
    advance: followed.advance,
    onCommit(change: Change & Executed): void {
      const before = actual.daemonSet?.metadata?.uid;
      const { uid, deletionTimestamp } = change.object.metadata;
      const pod = actual.pods.get(uid);
      apply(change);
      // A pod that a user deletes, or that fails, entitles its node to another update.
      const isGoing = deletionTimestamp != null || actual.pods.get(uid)?.ended === true;
      if (pod && !deletedByManager.has(uid) && isGoing) executed.delete(pod.node);
      if (actual.daemonSet && actual.daemonSet.metadata?.uid !== before) followed.clear();
      const limit = policy()?.limit;
      if (limit !== undefined && limits.at(-1)?.limit !== limit) limits.push({ at: now(), limit });
    },
    onSend(call: Call): void {
      rolloutOfCall.set(call, actual.rolloutOf(viewOf(call.process).daemonSet));
      const observed = answers.observedLimit(call.process);
      if (observed !== undefined) limitOfCall.set(call, observed);
      if (inFlight.size > 0) completeOfCall.set(call, knownToBeComplete(call.process));
    },
    /** An update reaches the server. Returns what to run once it was executed. */
    begin(call: Call, pod: PodState, kind: StartedUpdate['kind'], what: string): () => void {
      const { node: name, hash } = pod;
      const healthy = works(pod);
      const view = viewOf(call.process);
      // What its sender has observed since it sent the call could not change it.
      const sentAt = clockOf(call.process) - (now() - call.at);
      const others = [...inFlight.keys()].filter((other) => {
        if (other === name || actual.nodes.get(other)?.ready !== true) return false;
        if (completeOfCall.get(call)?.has(other)) return false;
        const known = view.nodes.get(other);
        return known?.ready === true && (known.since === undefined || sentAt - known.since > settleMs);
      });
      const rollout = rolloutOfCall.get(call) ?? 0;
      const before = executed.get(name)?.get(rollout);
      // A second write to the same pod belongs to the same update; one to another pod needs a reason.
      const isSame = kind === 'in-place' || kind === 'prepare' || pod.preparing;
      const continues = before?.uid === pod.uid && (isSame || isReverted(actual, name, before));
      check('S5');
      check('S1');
      check('S6');
      const found: (Finding | undefined)[] = [
        // Its sender obeyed a template that it had observed: S9.
        rollout === actual.rolloutOf(actual.daemonSet)
          ? isOutdated({ healthy, hash, target: actual.target })
          : undefined,
        // A node that is in flight already takes no further slot.
        withinBudget({ others, limit: limitFor(call), hasSlot: inFlight.has(name) }),
        isFirstUpdate({ healthy, alreadyUpdated: before !== undefined && !continues }),
      ];
      if (kind === 'surge') {
        check('S10');
        found.push(isOnlySurge({ live: live(name).length }));
      }
      if (kind === 'delete' || kind === 'prepare') deletedByManager.add(pod.uid);
      return () => {
        for (const each of found) report.finding(each, what);
        const ofNode = executed.get(name) ?? new Map<number, ExecutedUpdate>();
        executed.set(name, ofNode.set(rollout, { uid: pod.uid, hash, kind }));
        setInFlight(call, kind, pod);
      };
    },
    /** A pod that has ended is no update's, but a manager that replaces it in a slot holds that slot. Returns what to run once it was executed. */
    takeSlot(call: Call, pod: PodState): () => void {
      deletedByManager.add(pod.uid);
      return () => setInFlight(call, 'delete', pod);
    },
    /** One of two pods is deleted after a surge: never the last one that works. Returns what to run once it was executed. */
    deleteSurgedOut(pod: PodState, what: string): () => void {
      check('S10');
      deletedByManager.add(pod.uid);
      const successorWorks = live(pod.node).some((other) => other.uid !== pod.uid && works(other));
      const found = keepsWorkingPod({ works: works(pod), successorWorks });
      const surge = executed.get(pod.node)?.get(actual.rolloutOf(actual.daemonSet));
      // A DaemonSet that no longer surges keeps the older one of two pods: the surge is undone, and the node gets another update.
      const isUndone = surge?.kind === 'surge' && surge.uid !== pod.uid && policy()?.surging === false;
      return () => {
        report.finding(found, what);
        if (isUndone) executed.delete(pod.node);
      };
    },
  };
};
