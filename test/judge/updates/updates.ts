import type { Change } from '../../../embedded/index.ts';
import { isAvailable, isLive, policyOf, type Share } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext } from '../check.ts';
import { followAnswers } from '../state/answers.ts';
import { type Executed, followClusterState, isEligible, type PodState } from '../state/cluster-state.ts';
import { followUpdates, type StartedUpdate } from '../state/follow-updates.ts';
import { tolerances } from '../tolerances.ts';
import { createUpdateRules, type Knowledge } from './rules.ts';

const NONE: ReadonlySet<string> = new Set();

/** Tracks which nodes have an update in flight, from the actual state, and checks updates against it: S1, S5, S6, S10. */
export const createUpdatesCheck = ({
  report,
  daemonSet,
  now,
  viewOf,
  clockOf,
  settleMs,
}: Pick<CheckContext, 'report' | 'daemonSet' | 'now' | 'viewOf' | 'clockOf' | 'settleMs'>) => {
  /** The rollout that a call belongs to: what its sender knew when it sent it. */
  const rolloutOfCall = new WeakMap<Call, number>();
  /** Nodes in flight whose updates were complete by what its sender knew. */
  const completeOfCall = new WeakMap<Call, ReadonlySet<string>>();
  /** The budget that its sender obeyed. */
  const limitOfCall = new WeakMap<Call, Share>();
  const limits: { at: number; limit: Share }[] = [];

  const policy = () => (actual.daemonSet ? policyOf(actual.daemonSet) : undefined);
  const { state: actual, apply } = followClusterState(daemonSet, {
    onNodeChange: (node) => followed.follow(node),
  });
  const followed = followUpdates({ state: actual, now, sees: 'all' });
  const { inFlight, works } = followed;
  const rules = createUpdateRules(actual, followed, report.check);
  const answers = followAnswers({ actual, daemonSet, now, viewOf });

  const knowledgeOf = (call: Call): Knowledge => {
    const { nodes, daemonSet: known } = viewOf(call.process);
    // A percentage is of the nodes that the sender has observed: a node may have left since.
    const seen = nodes.values().reduce((sum, { node }) => sum + (isEligible(node, known) ? 1 : 0), 0);
    const present = actual.nodes.values().reduce((sum, node) => sum + (node.eligible ? 1 : 0), 0);
    // Like any control of the user, a budget holds from when the watch delivers it (S9), or from when the sender could know that
    // its watch is behind.
    const replaced = limits.findLastIndex(({ at }) => at <= call.at - tolerances.userChange.ms);
    const recent = limits.slice(Math.max(0, replaced)).map(({ limit }) => limit);
    return {
      // What its sender has observed since it sent the call could not change it.
      at: clockOf(call.process) - (now() - call.at),
      lagMs: 0,
      settleMs,
      slotAfterMs: settleMs,
      nodeOf: (name) => nodes.get(name),
      complete: completeOfCall.get(call) ?? NONE,
      budgets: [...recent, limitOfCall.get(call) ?? 0],
      total: Math.max(present, seen),
    };
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
      if (pod) rules.noteChange(pod, deletionTimestamp != null);
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
      const update = { kind, pod, rollout: rolloutOfCall.get(call) ?? 0 };
      const found = rules.ofUpdate(update, knowledgeOf(call));
      return () => {
        for (const each of found) report.finding(each, what);
        rules.noteExecuted(update);
      };
    },
    /** A pod that has ended is no update's, but a manager that replaces it in a slot holds that slot. Returns what to run once it was executed. */
    takeSlot(call: Call, pod: PodState): () => void {
      rules.noteDeletion(pod);
      return () => followed.begin(pod, 'delete', rolloutOfCall.get(call) ?? 0);
    },
    /** One of two pods is deleted after a surge: never the last one that works. Returns what to run once it was executed. */
    deleteSurgedOut(pod: PodState, what: string): () => void {
      const found = rules.ofSurgedOut(pod, { works: works(pod), successorWorks: works });
      // A DaemonSet that no longer surges keeps the older one of two pods: the surge is undone, and the node gets another update.
      const isUndone = policy()?.surging === false;
      return () => {
        for (const each of found) report.finding(each, what);
        if (isUndone) rules.noteUndone(pod);
      };
    },
  };
};
