import type { Call } from '../network/call.ts';
import { type ClusterState, followClusterState, type PodState } from './cluster-state.ts';
import type { ProcessView } from './process-view.ts';
import type { Report } from './report.ts';
import { nodesOf, termsOf } from './terms.ts';

export interface UpdatesCheckOptions {
  report: Report;
  daemonSet: { group: string; name: string };
  now: () => number;
  viewOf: (process: string) => ProcessView;
  clockOf: (process: string) => number;
  settleMs: number;
}

interface StartedUpdate {
  /** `prepare`: its user's controller has its turn before it is deleted. */
  kind: 'delete' | 'in-place' | 'surge' | 'prepare';
  uid: string;
  hash: string;
  rollout: number;
  at: number;
  /** Of `prepare`: what had not healed on its node before. */
  before?: StartedUpdate | undefined;
}

/** What was done, to a pod as it was. */
export type ExecutedUpdate = Pick<StartedUpdate, 'kind' | 'uid' | 'hash'>;

/** Its pod is again, or still, what it was: the gate was shut, or its hook had its turn, and that was all. */
export const isReverted = (actual: ClusterState, node: string, { kind, uid, hash }: ExecutedUpdate): boolean =>
  kind !== 'surge' &&
  actual
    .podsOn(node)
    .some((pod) => pod.uid === uid && pod.hash === hash && !pod.terminating && !pod.preparing && !pod.shut);

/** How late what a user asks for may reach a process on a link that is well, ms. */
const LAG_MS = 1_000;
/** A node that goes offline so soon after an act is a suspect, ms; the default of edgeset.io/suspect-window-seconds. */
const SUSPECT_MS = 300_000;

/** Follows which nodes are in flight by the cluster's own state, and judges acts by it: S1, S5, S6, S10. */
export const createUpdatesCheck = ({ report, daemonSet, now, viewOf, clockOf, settleMs }: UpdatesCheckOptions) => {
  const { violation, check } = report;
  const inFlight = new Map<string, StartedUpdate>();
  /** The last act on each node that has healed. */
  const healed = new Map<string, StartedUpdate>();
  /** Which rollout a call was meant for: what its sender had been told when it left. */
  const meantFor = new WeakMap<Call, number>();
  /** By node and rollout. */
  const done = new Map<string, Map<number, ExecutedUpdate>>();
  /** UIDs of pods that managers delete. */
  const taken = new Set<string>();
  const limits: { at: number; limit: number | string }[] = [];

  const terms = () => (actual.daemonSet ? termsOf(actual.daemonSet) : undefined);
  const works = (pod: PodState): boolean =>
    !pod.terminating && pod.readySince !== undefined && now() - pod.readySince >= (terms()?.minReadyMs ?? 0);
  const live = (name: string): readonly PodState[] =>
    actual.podsOn(name).filter(({ terminating, ended }) => !terminating && !ended);
  const isOver = (name: string, { kind, uid }: StartedUpdate): boolean => {
    const pods = kind === 'surge' ? live(name) : actual.podsOn(name);
    const [pod, ...others] = pods;
    if (!pod || others.length > 0 || !works(pod) || pod.preparing) return false;
    // A pod that was changed in place stays, one that was deleted goes; a creation beside it may never have been.
    return kind !== 'delete' || pod.uid !== uid;
  };
  const heal = (name: string): void => {
    const node = actual.nodes.get(name);
    // What is no business of the DaemonSet any more is none of ours, nor is what comes back under its name.
    if (!node?.eligible) {
      inFlight.delete(name);
      healed.delete(name);
      return;
    }
    const late = healed.get(name);
    // Once it is back it has to heal anew: what made it fall away may be what it was given. S1 is about acts that have not
    // healed: one that had, before something else was asked for, is over.
    const isPresent = late?.rollout === actual.rolloutOf(actual.daemonSet);
    if (late && isPresent && !node.ready && node.since > late.at && node.since - late.at <= SUSPECT_MS) {
      healed.delete(name);
      inFlight.set(name, late);
    }
    const prepared = inFlight.get(name);
    // An act is a deletion, an eviction, a change in place or a surge's creation: its hook's turn, taken back, was none. The
    // pod is what it was, also where that did not work, and what had not healed before has not healed.
    if (prepared?.kind === 'prepare' && isReverted(actual, name, prepared)) {
      if (prepared.before) inFlight.set(name, prepared.before);
      else inFlight.delete(name);
    }
    const act = inFlight.get(name);
    if (!act || !node.ready || !isOver(name, act)) return;
    inFlight.delete(name);
    healed.set(name, act);
  };
  const { actual, apply } = followClusterState(daemonSet, now, heal);

  /** The most that was allowed since `from`. */
  const limitSince = (from: number): number => {
    const eligible = [...actual.nodes.values()].filter((node) => node.eligible).length;
    let most = 0;
    for (const { at, limit } of limits.toReversed()) {
      most = Math.max(most, nodesOf(limit, eligible));
      if (at <= from) break;
    }
    return most;
  };

  return {
    actual,
    works,
    isInFlight: (node: string): boolean => inFlight.has(node),
    /** Nodes with an act of the present rollout that has not healed, and was not taken back. */
    *underWay(): Generator<string> {
      const present = actual.rolloutOf(actual.daemonSet);
      for (const [name, act] of inFlight) if (act.rollout === present && !isReverted(actual, name, act)) yield name;
    },
    /** What time alone has brought about. */
    look(): void {
      for (const name of inFlight.keys()) heal(name);
    },
    commit(change: Parameters<typeof apply>[0]): void {
      const before = actual.daemonSet?.metadata?.uid;
      const { uid, deletionTimestamp } = change.object.metadata;
      const pod = actual.pods.get(uid);
      apply(change);
      // Who takes a pod away by hand, or what fails, gives its node another turn.
      if (pod && !taken.has(uid) && (deletionTimestamp != null || actual.pods.get(uid)?.ended === true))
        done.delete(pod.node);
      // One that is made again under the same name is another DaemonSet, with a budget of its own.
      if (actual.daemonSet && actual.daemonSet.metadata?.uid !== before) inFlight.clear();
      const limit = terms()?.limit;
      if (limit !== undefined && limits.at(-1)?.limit !== limit) limits.push({ at: now(), limit });
    },
    /** A process sends a call. */
    leaves(call: Call): void {
      meantFor.set(call, actual.rolloutOf(viewOf(call.process).daemonSet));
    },
    /** An act begins to be carried out. Returns what to do once it was. */
    begin(call: Call, pod: PodState, kind: StartedUpdate['kind'], what: string): () => void {
      const { node: name, hash } = pod;
      const found: [invariant: string, text: string][] = [];
      const healthy = works(pod);
      check('S5');
      if (healthy && pod.hash === actual.target) found.push(['S5', `${what}, a healthy one of the target`]);
      check('S1');
      const view = viewOf(call.process);
      const theirNow = clockOf(call.process);
      const others = [...inFlight.keys()].filter((other) => {
        if (other === name || actual.nodes.get(other)?.ready !== true) return false;
        const told = view.nodes.get(other);
        return told?.ready === true && (told.since === undefined || theirNow - told.since > settleMs);
      });
      const limit = limitSince(call.at - LAG_MS);
      // A node that is in flight already takes no further slot.
      if (!inFlight.has(name) && others.length >= limit)
        found.push(['S1', `${what} while ${others.join(', ')} are in flight, budget ${limit}`]);
      check('S6');
      const rollout = meantFor.get(call) ?? 0;
      const before = done.get(name)?.get(rollout);
      // A second write to the same pod is of the same act; one to another needs a reason.
      const isSame = kind === 'in-place' || kind === 'prepare' || pod.preparing;
      const again = before?.uid === pod.uid && (isSame || isReverted(actual, name, before));
      if (before && healthy && !again) found.push(['S6', `${what}, which had its act in this rollout`]);
      if (kind === 'surge') {
        check('S10');
        if (live(name).length > 1) found.push(['S10', `${what} beside ${live(name).length} live pods`]);
      }
      if (kind === 'delete' || kind === 'prepare') taken.add(pod.uid);
      return () => {
        for (const [invariant, text] of found) violation(invariant, text);
        const acts = done.get(name) ?? new Map<number, ExecutedUpdate>();
        done.set(name, acts.set(rollout, { uid: pod.uid, hash, kind }));
        const last = inFlight.get(name);
        const unhealed = last?.kind === 'prepare' ? last.before : last;
        inFlight.set(name, {
          kind,
          uid: pod.uid,
          hash,
          rollout,
          at: now(),
          before: kind === 'prepare' ? unhealed : undefined,
        });
      };
    },
    /**
     * Of two pods the one is to be deleted that the other has taken over from: never the last that works. Returns what to
     * do once it was.
     */
    deleteSurgedOut(pod: PodState, what: string): () => void {
      check('S10');
      taken.add(pod.uid);
      const others = live(pod.node).filter(({ uid }) => uid !== pod.uid);
      const isLast = works(pod) && !others.some(works);
      return () => {
        if (isLast) violation('S10', `${what}, while no other works`);
      };
    },
  };
};
