import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../call.ts';
import { createActsJudge } from './acts.ts';
import { createBench } from './bench.ts';
import { createConsentJudge } from './consent.ts';
import { createGatesJudge } from './gates.ts';
import type { ManagersAct, ProcessState } from './judge.ts';
import { besides, createKinds } from './kinds.ts';
import { createReport } from './report.ts';
import { createScopeJudge } from './scope.ts';
import { createSentJudge } from './sent.ts';
import { nodesOf, termsOf } from './terms.ts';
import { isPodOf, nodeOf, type TruePod } from './truth.ts';
import type { View } from './view.ts';

export interface CheckerOptions {
  daemonSet: { group: string; name: string };
  /** True time, epoch ms. */
  now: () => number;
  /** What a process has been told. */
  viewOf: (process: string) => View;
  /** A process's own time. */
  clockOf: (process: string) => number;
  settleMs: number;
  /** The managers that live. */
  processes: () => readonly ProcessState[];
  /** What it is called beside others. Default: it is the only one. */
  title?: string;
}

/** What came to pass, for the report. */
export interface Account {
  acts: number;
  lastWriteAt: number;
}

/**
 * A creation that was on its way for longer is not an act any more: Kubernetes has no precondition to refuse it by. What it
 * makes is one pod too many, which whoever leads takes away.
 */
const LATE_MS = 5_000;

/** Agents are judged by what their owners decided; they know nothing of a rollout. */
const isAgent = ({ process }: Call): boolean => process.startsWith('agent-');

/**
 * Holds a run of managers against spec/invariants, from the cluster's own state and from what each process had been told.
 * It shares no rule with the code that it judges.
 */
export const createChecker = ({ daemonSet, now, viewOf, clockOf, settleMs, processes, title }: CheckerOptions) => {
  const report = createReport(now, title);
  const acts = createActsJudge({ report, daemonSet, now, viewOf, clockOf, settleMs });
  const sent = createSentJudge({ report, viewOf, clockOf, settleMs });
  const { truth } = acts;
  const consent = createConsentJudge({ report, truth, now, clockOf });
  const kinds = createKinds({ truth, daemonSet, viewOf });
  const gates = createGatesJudge({ report, truth, now, viewOf });
  const scope = createScopeJudge({ report, truth, now, viewOf, inFlight: () => acts.underWay() });
  const rolloutName = daemonSet.group === 'apps' ? daemonSet.name : `${daemonSet.name}.${daemonSet.group}`;
  const court = { report, truth, daemonSet, now, viewOf, clockOf, settleMs, rolloutName, processes };
  const bench = createBench(court, acts);
  const account: Account = { acts: 0, lastWriteAt: 0 };

  const podNamed = (name: string | undefined): TruePod | undefined =>
    truth.pods.values().find((pod) => pod.name === name);

  const countOne = (): void => {
    account.acts += 1;
  };
  const actOf = (call: Call, kind: ManagersAct['kind'], pod: TruePod, what: string): ManagersAct => ({
    call,
    kind,
    node: pod.node,
    pod,
    what,
    rollout: truth.rolloutOf(viewOf(call.process).daemonSet),
  });
  const begin = (call: Call, pod: TruePod, kind: Parameters<typeof acts.begin>[2], what: string): (() => void)[] => [
    consent.byManager(call, pod, what) ?? (() => undefined),
    scope.begins(call, pod, what),
    gates.begins(call, pod, what),
    ...bench.begins(actOf(call, kind, pod, what), acts.begin(call, pod, kind, what)),
  ];

  const writeToPod = (call: Call): (() => void) | undefined => {
    const pod = podNamed(call.ref?.name);
    if (!pod) return undefined;
    if (isAgent(call)) {
      const carriedOut = consent.byAgent(call, pod);
      return (
        carriedOut &&
        (() => {
          countOne();
          carriedOut();
        })
      );
    }
    const what = `${call.process} ${call.verb}s ${pod.name} on ${pod.node}`;
    const kind = kinds.of(call, pod);
    if (call.verb === 'delete') {
      report.check('S5');
      const { preconditions } = (call.options ?? {}) as { preconditions?: { uid?: string } };
      if (preconditions?.uid === undefined) report.breach('S5', `${what} without preconditions`);
    }
    const done = call.verb === 'delete' ? [gates.deletes(call, pod, what)] : [];
    if (kind === 'retire') done.push(countOne, acts.retire(pod, what));
    else if (kind) done.push(countOne, ...begin(call, pod, kind, what));
    return () => done.forEach((each) => each());
  };

  /** They create a pod where one lived when they were sent, and their sender was not told to surge. */
  const seconds = new WeakSet<Call>();

  /** A pod is created: beside another one, or where there is none. */
  const createPod = (call: Call): (() => void) | undefined => {
    if (now() - call.at > LATE_MS) return undefined;
    const node = nodeOf(call.body as Pod);
    const old = besides(truth.podsOn(node), call.body);
    if (!old) return scope.creates(call, node, `${call.process} creates a pod on ${node}`);
    const what = `${call.process} creates a pod beside ${old.name} on ${node}`;
    const done = [countOne, ...begin(call, old, 'surge', what)];
    return () => {
      done.forEach((each) => each());
      if (seconds.has(call)) report.breach('S10', `${what}, though no pods are to be beside each other`);
    };
  };

  /** Nodes that a bad version broke and whose owners do not let them be repaired hold every slot: who agrees waits. */
  const slotsAreHeld = (): boolean => {
    if (!truth.daemonSet) return false;
    const { limit, surging } = termsOf(truth.daemonSet);
    const eligible = [...truth.nodes.values()].filter((node) => node.eligible);
    const holding = eligible.filter(({ name, ready }) => {
      const [pod] = truth.podsOn(name);
      const isHeld = pod !== undefined && !acts.works(pod) && consent.mayStay(pod);
      return ready && isHeld && (!surging || acts.isInFlight(name));
    });
    return holding.length >= nodesOf(limit, eligible.length);
  };
  /** One node's pods are what they are to be in the end. */
  const isAtTarget = (pods: readonly TruePod[]): boolean => {
    const [pod, ...others] = pods;
    if (!pod || others.length > 0) return false;
    const isThere = acts.works(pod) && !pod.preparing && consent.isTold(pod);
    if (pod.hash === truth.target) return isThere;
    return consent.mayStay(pod) || (consent.isAgreed(pod) && !acts.isInFlight(pod.node) && slotsAreHeld());
  };
  const isDeleted = (): boolean => truth.daemonSet?.metadata?.deletionTimestamp != null;

  return {
    truth,
    breaches: report.breaches,
    checked: report.checked,
    figures: report.figures,
    account,
    /** What else is heard of managers, of their watches, and of what is done to them. */
    ...bench.hooks,
    consent,
    /** To be called with every commit. */
    commit(change: Change): void {
      // What came to be by time alone came before this.
      acts.look();
      bench.beforeCommit(change);
      acts.commit(change);
      consent.commit(change);
      gates.commit(change);
      scope.commit(change);
      bench.commit(change);
      const { resource, object } = change;
      if (resource.plural === 'daemonrollouts' && object.metadata.name === rolloutName)
        sent.written({ status: object.status });
    },
    /** A process sends a call. */
    leaves(call: Call): void {
      const plural = call.resource?.plural;
      if (isAgent(call)) return;
      acts.leaves(call);
      bench.leaves(call);
      if (call.verb === 'update' && plural === 'daemonrollouts' && call.ref?.name === rolloutName) sent.reserve(call);
      if (plural !== 'pods') return;
      scope.leaves(call);
      if (call.verb === 'create' && isPodOf(call.body as Pod, daemonSet)) {
        const node = nodeOf(call.body as Pod);
        const old = besides(viewOf(call.process).podsOn(node), call.body);
        if (old) bench.sends(actOf(call, 'surge', old, `${call.process} creates a pod beside ${old.name} on ${node}`));
        const told = viewOf(call.process).daemonSet;
        report.check('S10');
        const lives = truth.podsOn(node).some(({ terminating, ended }) => !terminating && !ended);
        if (lives && told && !termsOf(told).surging) seconds.add(call);
      }
      if (call.verb !== 'delete' && call.verb !== 'patch') return;
      const seen = viewOf(call.process).podNamed(call.ref?.name ?? '');
      const pod = podNamed(call.ref?.name);
      if (seen) kinds.sent(call, seen);
      const kind = pod && kinds.of(call, pod);
      if (!seen || !kind || kind === 'retire') return;
      const what = `${call.process} ${call.verb}s ${seen.name} on ${seen.node}`;
      sent.act(call, seen, what);
      bench.sends(actOf(call, kind, seen, what));
    },
    /** A call reaches the server. Returns what to do when it was carried out. */
    arrives(call: Call): (() => void) | undefined {
      const { verb, resource } = call;
      if (verb === 'get' || verb === 'list' || verb === 'watch' || !resource) return undefined;
      acts.look();
      const isPod = resource.plural === 'pods';
      const ours = verb !== 'create' || isPodOf(call.body as Pod, daemonSet);
      const carriedOut = isPod && ours ? (verb === 'create' ? createPod(call) : writeToPod(call)) : undefined;
      return () => {
        // A lease is renewed, and a series of Events comes to its end, later.
        if (resource.plural !== 'leases' && resource.plural !== 'events') account.lastWriteAt = now();
        if (!isAgent(call)) bench.carriedOut(call);
        carriedOut?.();
      };
    },
    /** L1 in a word: asked after every event. */
    isFinished(): boolean {
      if (isDeleted()) return false;
      for (const { name, eligible, ready } of truth.nodes.values())
        if (eligible && ready && !isAtTarget(truth.podsOn(name))) return false;
      return !gates.isPulling();
    },
    /** L1, once nothing is wrong with the cluster any more: what still keeps the rollout from its end. */
    unfinished(): string[] {
      const left: string[] = isDeleted() ? ['it is being deleted'] : [];
      for (const { name, eligible, ready } of truth.nodes.values()) {
        if (!eligible || !ready) continue;
        const pods = truth.podsOn(name);
        if (isAtTarget(pods)) continue;
        const told = pods.map(
          (each) =>
            `${each.name} ${each.hash}${each.terminating ? ' terminating' : ''}${each.preparing ? ' preparing' : ''}${acts.works(each) ? '' : ' not available'}`,
        );
        left.push(`${name}: ${told.join(', ') || 'no pod'}`);
      }
      return [...left, ...gates.left()].map((text) => (title === undefined ? text : `${title}: ${text}`));
    },
  };
};
export type Checker = ReturnType<typeof createChecker>;
