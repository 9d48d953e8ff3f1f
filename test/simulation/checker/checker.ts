import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../network/call.ts';
import type { NodeUpdate, ProcessState } from './check.ts';
import { createChecks } from './checks.ts';
import { createWriteClassifier, podReplacedBySurge } from './classify-write.ts';
import { isPodOf, nodeOf, type PodState } from './cluster-state.ts';
import { createConsentCheck } from './consent.ts';
import { createPrerequisitesCheck } from './prerequisites.ts';
import type { ProcessView } from './process-view.ts';
import { createReport } from './report.ts';
import { createSenderCheck } from './sender.ts';
import { createTargetingCheck } from './targeting.ts';
import { nodesOf, termsOf } from './terms.ts';
import { createUpdatesCheck } from './updates.ts';

export interface CheckerOptions {
  daemonSet: { group: string; name: string };
  /** True time, epoch ms. */
  now: () => number;
  /** What a process has been told. */
  viewOf: (process: string) => ProcessView;
  /** A process's own time. */
  clockOf: (process: string) => number;
  settleMs: number;
  /** The managers that live. */
  processes: () => readonly ProcessState[];
  /** What it is called beside others. Default: it is the only one. */
  title?: string;
}

/** What came to pass, for the report. */
export interface Activity {
  updates: number;
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
  const acts = createUpdatesCheck({ report, daemonSet, now, viewOf, clockOf, settleMs });
  const sender = createSenderCheck({ report, viewOf, clockOf, settleMs });
  const { actual } = acts;
  const consent = createConsentCheck({ report, actual, now, clockOf });
  const classifier = createWriteClassifier({ actual, daemonSet, viewOf });
  const prerequisites = createPrerequisitesCheck({ report, actual, now, viewOf });
  const targeting = createTargetingCheck({ report, actual, now, viewOf, inFlight: () => acts.underWay() });
  const rolloutName = daemonSet.group === 'apps' ? daemonSet.name : `${daemonSet.name}.${daemonSet.group}`;
  const context = { report, actual, daemonSet, now, viewOf, clockOf, settleMs, rolloutName, processes };
  const checks = createChecks(context, acts);
  const activity: Activity = { updates: 0, lastWriteAt: 0 };

  const podNamed = (name: string | undefined): PodState | undefined =>
    actual.pods.values().find((pod) => pod.name === name);

  const countOne = (): void => {
    activity.updates += 1;
  };
  const actOf = (call: Call, kind: NodeUpdate['kind'], pod: PodState, what: string): NodeUpdate => ({
    call,
    kind,
    node: pod.node,
    pod,
    what,
    rollout: actual.rolloutOf(viewOf(call.process).daemonSet),
  });
  const begin = (call: Call, pod: PodState, kind: Parameters<typeof acts.begin>[2], what: string): (() => void)[] => [
    consent.byManager(call, pod, what) ?? (() => undefined),
    targeting.begins(call, pod, what),
    prerequisites.begins(call, pod, what),
    ...checks.begins(actOf(call, kind, pod, what), acts.begin(call, pod, kind, what)),
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
    const kind = classifier.of(call, pod);
    if (call.verb === 'delete') {
      report.check('S5');
      const { preconditions } = (call.options ?? {}) as { preconditions?: { uid?: string } };
      if (preconditions?.uid === undefined) report.violation('S5', `${what} without preconditions`);
    }
    const done = call.verb === 'delete' ? [prerequisites.deletes(call, pod, what)] : [];
    if (kind === 'delete-surged-out') done.push(countOne, acts.deleteSurgedOut(pod, what));
    else if (kind) done.push(countOne, ...begin(call, pod, kind, what));
    return () => done.forEach((each) => each());
  };

  /** They create a pod where one lived when they were sender, and their sender was not told to surge. */
  const seconds = new WeakSet<Call>();

  /** A pod is created: beside another one, or where there is none. */
  const createPod = (call: Call): (() => void) | undefined => {
    if (now() - call.at > LATE_MS) return undefined;
    const node = nodeOf(call.body as Pod);
    const old = podReplacedBySurge(actual.podsOn(node), call.body);
    if (!old) return targeting.creates(call, node, `${call.process} creates a pod on ${node}`);
    const what = `${call.process} creates a pod beside ${old.name} on ${node}`;
    const done = [countOne, ...begin(call, old, 'surge', what)];
    return () => {
      done.forEach((each) => each());
      if (seconds.has(call)) report.violation('S10', `${what}, though no pods are to be beside each other`);
    };
  };

  /** Nodes that a bad version broke and whose owners do not let them be repaired hold every slot: who agrees waits. */
  const slotsAreHeld = (): boolean => {
    if (!actual.daemonSet) return false;
    const { limit, surging } = termsOf(actual.daemonSet);
    const eligible = [...actual.nodes.values()].filter((node) => node.eligible);
    const holding = eligible.filter(({ name, ready }) => {
      const [pod] = actual.podsOn(name);
      const isHeld = pod !== undefined && !acts.works(pod) && consent.mayStay(pod);
      return ready && isHeld && (!surging || acts.isInFlight(name));
    });
    return holding.length >= nodesOf(limit, eligible.length);
  };
  /** One node's pods are what they are to be in the end. */
  const isAtTarget = (pods: readonly PodState[]): boolean => {
    const [pod, ...others] = pods;
    if (!pod || others.length > 0) return false;
    const isThere = acts.works(pod) && !pod.preparing && consent.isTold(pod);
    if (pod.hash === actual.target) return isThere;
    return consent.mayStay(pod) || (consent.isAgreed(pod) && !acts.isInFlight(pod.node) && slotsAreHeld());
  };
  const isDeleted = (): boolean => actual.daemonSet?.metadata?.deletionTimestamp != null;

  return {
    actual,
    violations: report.violations,
    checked: report.checked,
    figures: report.figures,
    activity,
    /** What else is heard of managers, of their watches, and of what is done to them. */
    ...checks.hooks,
    consent,
    /** To be called with every commit. */
    onCommit(change: Change): void {
      // What came to be by time alone came before this.
      acts.look();
      checks.beforeCommit(change);
      acts.commit(change);
      consent.commit(change);
      prerequisites.commit(change);
      targeting.commit(change);
      checks.onCommit(change);
      const { resource, object } = change;
      if (resource.plural === 'daemonrollouts' && object.metadata.name === rolloutName)
        sender.written({ status: object.status });
    },
    /** A process sends a call. */
    onSend(call: Call): void {
      const plural = call.resource?.plural;
      if (isAgent(call)) return;
      acts.leaves(call);
      checks.onSend(call);
      if (call.verb === 'update' && plural === 'daemonrollouts' && call.ref?.name === rolloutName) sender.reserve(call);
      if (plural !== 'pods') return;
      targeting.leaves(call);
      if (call.verb === 'create' && isPodOf(call.body as Pod, daemonSet)) {
        const node = nodeOf(call.body as Pod);
        const old = podReplacedBySurge(viewOf(call.process).podsOn(node), call.body);
        if (old)
          checks.onUpdateSent(actOf(call, 'surge', old, `${call.process} creates a pod beside ${old.name} on ${node}`));
        const told = viewOf(call.process).daemonSet;
        report.check('S10');
        const lives = actual.podsOn(node).some(({ terminating, ended }) => !terminating && !ended);
        if (lives && told && !termsOf(told).surging) seconds.add(call);
      }
      if (call.verb !== 'delete' && call.verb !== 'patch') return;
      const seen = viewOf(call.process).podNamed(call.ref?.name ?? '');
      const pod = podNamed(call.ref?.name);
      if (seen) classifier.onSend(call, seen);
      const kind = pod && classifier.of(call, pod);
      if (!seen || !kind || kind === 'delete-surged-out') return;
      const what = `${call.process} ${call.verb}s ${seen.name} on ${seen.node}`;
      sender.act(call, seen, what);
      checks.onUpdateSent(actOf(call, kind, seen, what));
    },
    /** A call reaches the server. Returns what to do when it was carried out. */
    onArrival(call: Call): (() => void) | undefined {
      const { verb, resource } = call;
      if (verb === 'get' || verb === 'list' || verb === 'watch' || !resource) return undefined;
      acts.look();
      const isPod = resource.plural === 'pods';
      const ours = verb !== 'create' || isPodOf(call.body as Pod, daemonSet);
      const carriedOut = isPod && ours ? (verb === 'create' ? createPod(call) : writeToPod(call)) : undefined;
      return () => {
        // A lease is renewed, and a series of Events comes to its end, later.
        if (resource.plural !== 'leases' && resource.plural !== 'events') activity.lastWriteAt = now();
        if (!isAgent(call)) checks.onExecuted(call);
        carriedOut?.();
      };
    },
    /** L1 in a word: asked after every event. */
    isFinished(): boolean {
      if (isDeleted()) return false;
      for (const { name, eligible, ready } of actual.nodes.values())
        if (eligible && ready && !isAtTarget(actual.podsOn(name))) return false;
      return !prerequisites.isPulling();
    },
    /** L1, once nothing is wrong with the cluster any more: what still keeps the rollout from its end. */
    unfinished(): string[] {
      const left: string[] = isDeleted() ? ['it is being deleted'] : [];
      for (const { name, eligible, ready } of actual.nodes.values()) {
        if (!eligible || !ready) continue;
        const pods = actual.podsOn(name);
        if (isAtTarget(pods)) continue;
        const told = pods.map(
          (each) =>
            `${each.name} ${each.hash}${each.terminating ? ' terminating' : ''}${each.preparing ? ' preparing' : ''}${acts.works(each) ? '' : ' not available'}`,
        );
        left.push(`${name}: ${told.join(', ') || 'no pod'}`);
      }
      return [...left, ...prerequisites.left()].map((text) => (title === undefined ? text : `${title}: ${text}`));
    },
  };
};
export type Checker = ReturnType<typeof createChecker>;
