import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../embedded/index.ts';
import { isBoundToPod, isLive, nodeOf, nodesOf, policyOf } from '../invariants/index.ts';
import type { Call } from '../simulation/network/call.ts';
import type { Poisons } from '../simulation/network/poisons.ts';
import { type CheckContext, combineChecks, type NodeUpdate } from './check.ts';
import { createImageDriftCheck } from './manager/image-drift.ts';
import { createProgressCheck } from './manager/progress.ts';
import { createStatusCheck } from './manager/status.ts';
import { createUnreadableCheck } from './manager/unreadable.ts';
import { createWatchesCheck } from './manager/watches.ts';
import { createWriteRateCheck } from './manager/write-rate.ts';
import { createReport } from './report.ts';
import { createClosedStagesCheck } from './stages/closed-stages.ts';
import { createExposedRule } from './stages/exposed.ts';
import { createOrderCheck, type OtherDaemonSet } from './stages/order.ts';
import { createProcessKnowledge } from './stages/process-knowledge.ts';
import { createStageProgressCheck } from './stages/stage-progress.ts';
import { createStagesCheck } from './stages/stages.ts';
import { isEligible, isPodOf, type PodState } from './state/cluster-state.ts';
import { followPlan } from './state/follow-plan.ts';
import { createPodWriteReader, isUpdate, type PodWriteKind, podReplacedBySurge, startOf } from './state/pod-writes.ts';
import { tolerances } from './tolerances.ts';
import { createBreakerCheck, createHaltCheck } from './updates/breaker.ts';
import { createConsentCheck } from './updates/consent.ts';
import { createFirstWaveCheck } from './updates/first-wave.ts';
import { createHandOverCheck } from './updates/hand-over.ts';
import { createLeadersCheck } from './updates/leaders.ts';
import { createPrerequisitesCheck } from './updates/prerequisites.ts';
import { createProgressLossCheck, createReversalCheck } from './updates/regressions.ts';
import { createSenderCheck } from './updates/sender.ts';
import { createStalenessCheck } from './updates/staleness.ts';
import { createTargetingCheck } from './updates/targeting.ts';
import { createUpdatesCheck } from './updates/updates.ts';
import { createWitness } from './witness.ts';

export interface CheckerOptions
  extends Pick<CheckContext, 'daemonSet' | 'now' | 'viewOf' | 'clockOf' | 'settleMs' | 'processes'> {
  poisons: Pick<Poisons, 'unreadable' | 'unwell'>;
  /** Another DaemonSet of the run; undefined: there is none. */
  find: (apiGroup: string, name: string) => OtherDaemonSet | undefined;
  /** Names the DaemonSet in messages. Default: it is the only one. */
  title?: string;
}

/** For the report. */
export interface Activity {
  updates: number;
  lastWriteAt: number;
}

/** Agents are checked against what their owners decided; they know nothing of a rollout. */
const isAgent = ({ process }: Call): boolean => process.startsWith('agent-');

/**
 * Checks a run of managers against the invariants (test/invariants), from the actual state of the cluster and from what each
 * process had observed. It shares no rule with the code under test.
 */
export const createChecker = ({
  daemonSet,
  now,
  viewOf,
  clockOf,
  settleMs,
  processes: allProcesses,
  poisons,
  find,
  title,
}: CheckerOptions) => {
  const witness = createWitness({ actual: () => actual, viewOf, believers: () => leaders.believers() });
  const report = createReport(now, { title, witness });
  const updates = createUpdatesCheck({ report, daemonSet, now, viewOf, clockOf, settleMs });
  const { actual, works, isInFlight } = updates;
  const sender = createSenderCheck({ report, viewOf, clockOf, settleMs });
  const consent = createConsentCheck({ report, actual, now, clockOf });
  const podWrites = createPodWriteReader(actual);
  const prerequisites = createPrerequisitesCheck({ report, actual, now, viewOf });
  const targeting = createTargetingCheck({
    report,
    actual,
    now,
    viewOf,
    inFlight: () => updates.presentlyInFlight(),
    isOnlyBegun: (node) => updates.isOnlyBegun(node),
    mayBeHeld: (call, node) => closedStages.mayBeHeld(call, node),
  });
  const rolloutName = daemonSet.group === 'apps' ? daemonSet.name : `${daemonSet.name}.${daemonSet.group}`;
  const leaders = createLeadersCheck({ report, clockOf, processes: allProcesses });
  const { believers } = leaders;
  const unreadable = createUnreadableCheck(
    { report, daemonSet, actual, now, viewOf, rolloutName, processes: allProcesses },
    { poisons, believers },
  );
  const { processes } = unreadable;
  const context: CheckContext = {
    report,
    actual,
    daemonSet,
    now,
    viewOf,
    clockOf,
    settleMs,
    rolloutName,
    processes,
  };
  const plan = followPlan({ daemonSet, rollout: rolloutName, state: actual });
  const knowledge = createProcessKnowledge(context, plan);
  const stages = createStagesCheck(context, { plan, knowledge, works, inFlight: () => updates.presentlyInFlight() });
  const reversal = createReversalCheck(context);
  const closedStages = createClosedStagesCheck(context, {
    plan,
    knowledge,
    inFlight: () => updates.presentlyInFlight(),
    goesBack: reversal.goesBack,
  });
  const stageProgress = createStageProgressCheck(context, plan, knowledge);
  const order = createOrderCheck(context, { plan, knowledge, find });
  const breaker = createBreakerCheck(context);
  const { failuresOf } = breaker;
  const firstWave = createFirstWaveCheck(context, { inFlight: () => updates.presentlyInFlight(), failuresOf });
  const checks = combineChecks([
    leaders,
    breaker,
    firstWave,
    createHaltCheck(context, { believers, failuresOf }),
    createStalenessCheck(context),
    unreadable.check,
    reversal,
    closedStages.check,
    createProgressLossCheck(context, (uid) => {
      const pod = actual.pods.get(uid);
      return pod !== undefined && works(pod);
    }),
    createHandOverCheck(context),
    createStatusCheck(context, createExposedRule(plan, knowledge)),
    createImageDriftCheck(context),
    createWatchesCheck(context, poisons),
    createWriteRateCheck(context),
    stages.check,
    order.check,
    updates.answers.check,
    createProgressCheck(context, { believers, failuresOf, isInFlight, firstWave, stages: stageProgress, order }),
  ]);
  const activity: Activity = { updates: 0, lastWriteAt: 0 };

  /**
   * Calls that remove a pod from a node that was not eligible when the call was sent. They are no updates even if the node is
   * eligible again when they arrive: Kubernetes has no precondition on another object to refuse them by.
   */
  const removals = new WeakSet<Call>();
  /** What a write to a pod is for; undefined: it concerns no pod that a node is to have. */
  const purposeOf = (call: Call, pod: PodState): PodWriteKind | undefined => {
    const belongs = actual.nodes.get(pod.node)?.eligible === true && !removals.has(call);
    return podWrites.purposeOf({ verb: call.verb, request: call.body }, pod, belongs)?.kind;
  };

  const podNamed = (name: string | undefined): PodState | undefined =>
    actual.pods.values().find((pod) => pod.name === name);
  const countUpdate = (): void => {
    activity.updates += 1;
  };
  const updateOf = (call: Call, kind: NodeUpdate['kind'], pod: PodState, what: string): NodeUpdate => ({
    call,
    kind,
    node: pod.node,
    pod,
    what,
    rollout: actual.rolloutOf(viewOf(call.process).daemonSet),
  });
  /** A manager's update reaches the server. Returns what to run once it was executed. */
  const begin = (call: Call, pod: PodState, kind: NodeUpdate['kind'], what: string): (() => void)[] => {
    const update = updateOf(call, kind, pod, what);
    const onExecuted = [
      consent.onManagerUpdate(call, pod, what) ?? (() => undefined),
      targeting.begin(call, pod, what),
      prerequisites.begin(call, pod, what),
      stages.begin(call, pod, what),
    ];
    const executed = updates.begin(call, pod, kind, what);
    return [
      countUpdate,
      ...onExecuted,
      () => {
        const before = report.violations.length;
        executed();
        leaders.checkUpdate(
          update,
          report.violations.slice(before).map(({ invariant }) => invariant),
        );
        checks.onUpdateExecuted(update);
      },
    ];
  };

  const writePod = (call: Call): (() => void)[] => {
    const pod = podNamed(call.ref?.name);
    if (!pod) return [];
    if (isAgent(call)) {
      const executed = consent.onAgentWrite(call, pod);
      return executed ? [countUpdate, executed] : [];
    }
    const what = `${call.process} ${call.verb}s ${pod.name} on ${pod.node}`;
    const kind = purposeOf(call, pod);
    const onExecuted: (() => void)[] = [];
    if (call.verb === 'delete') {
      report.check('S5');
      report.finding(isBoundToPod(call.options), what);
      onExecuted.push(prerequisites.onDelete(call, pod, what));
    }
    if (kind === 'delete-surged-out' || kind === 'delete-twin')
      onExecuted.push(countUpdate, updates.deleteSurgedOut(pod, what));
    else if (kind && isUpdate({ kind })) onExecuted.push(...begin(call, pod, startOf({ kind, record: call }), what));
    else if (call.verb === 'delete' && pod.ended && !pod.terminating && sender.holdsSlotFor(pod))
      onExecuted.push(updates.takeSlot(call, pod));
    return onExecuted;
  };

  /** Creations for a node that had a live pod when they were sent, by a sender that knew of no surge. */
  const unwantedSurges = new WeakSet<Call>();

  /** A pod is created: beside another one, or where there is none. */
  const createPod = (call: Call): (() => void)[] => {
    if (now() - call.at > tolerances.heldBackCreation.ms) return [];
    const node = nodeOf(call.body as Pod);
    const old = podReplacedBySurge(actual.podsOn(node), call.body);
    if (!old) {
      const what = `${call.process} creates a pod on ${node}`;
      return [targeting.beginCreation(call, node, what), closedStages.begin(call, node, what)];
    }
    const what = `${call.process} creates a pod beside ${old.name} on ${node}`;
    return [
      ...begin(call, old, 'surge', what),
      () => {
        if (unwantedSurges.has(call)) report.violation('S10', `${what}, although the DaemonSet does not surge`);
      },
    ];
  };

  /**
   * Nodes that a bad version broke, and whose owners do not let them be repaired, hold every slot: owners who agree
   * have to wait.
   */
  const allSlotsHeld = (): boolean => {
    if (!actual.daemonSet) return false;
    const { limit, surging } = policyOf(actual.daemonSet);
    const eligible = [...actual.nodes.values()].filter((node) => node.eligible);
    const holding = eligible.filter(({ name, ready }) => {
      const [pod] = actual.podsOn(name);
      const isHeld = pod !== undefined && !works(pod) && consent.mayStay(pod);
      return ready && isHeld && (!surging || isInFlight(name));
    });
    return holding.length >= nodesOf(limit, eligible.length);
  };
  /** The pods of one node are as they must be in the end. */
  const isAtTarget = (pods: readonly PodState[]): boolean => {
    const [pod, ...others] = pods;
    if (!pod || others.length > 0) return false;
    if (pod.hash === actual.target) return works(pod) && !pod.preparing && consent.isReported(pod);
    return consent.mayStay(pod) || (consent.isApproved(pod) && !isInFlight(pod.node) && allSlotsHeld());
  };
  const isDeleted = (): boolean => actual.daemonSet?.metadata?.deletionTimestamp != null;
  function* nodesBehind(): Generator<string> {
    for (const { name, eligible, ready } of actual.nodes.values())
      if (eligible && ready && !isAtTarget(actual.podsOn(name))) yield name;
  }

  return {
    actual,
    viewOf,
    unreadable,
    violations: report.violations,
    checked: report.checked,
    figures: report.figures,
    activity,
    consent,
    onResponse: checks.onResponse,
    onFailure: checks.onFailure,
    onWatchOpened: checks.onWatchOpened,
    onWatchEvent: checks.onWatchEvent,
    onWatchClosed: checks.onWatchClosed,
    onAnswer: checks.onAnswer,
    onOperation: checks.onOperation,
    onConverged: checks.onConverged,
    onCommit(change: Change): void {
      // What only needed time to pass happened before this commit.
      updates.advance();
      checks.beforeCommit(change);
      const written = { ...change, arrivedAt: now(), answeredAt: now() };
      updates.onCommit(written);
      consent.onCommit(change);
      prerequisites.onCommit(change);
      targeting.onCommit(change);
      plan.apply(written);
      checks.onCommit(change);
      const { resource, object } = change;
      if (resource.plural === 'daemonrollouts' && object.metadata.name === rolloutName) sender.onRolloutWritten(object);
    },
    /** A process sends a call. */
    onSend(call: Call): void {
      const plural = call.resource?.plural;
      if (isAgent(call)) {
        if (consent.isAgentUpdate(call)) unreadable.onAgentUpdate(call);
        return;
      }
      updates.onSend(call);
      checks.onSend(call);
      if (call.verb === 'update' && plural === 'daemonrollouts' && call.ref?.name === rolloutName)
        sender.onReserve(call);
      if (plural !== 'pods') return;
      targeting.onSend(call);
      const view = viewOf(call.process);
      if (call.verb === 'create' && isPodOf(call.body as Pod, daemonSet)) {
        const node = nodeOf(call.body as Pod);
        const old = podReplacedBySurge(view.podsOn(node), call.body);
        if (old)
          checks.onUpdateSent(
            updateOf(call, 'surge', old, `${call.process} creates a pod beside ${old.name} on ${node}`),
          );
        report.check('S10');
        const { daemonSet: known } = view;
        if (actual.podsOn(node).some(isLive) && known && !policyOf(known).surging) unwantedSurges.add(call);
      }
      if (call.verb !== 'delete' && call.verb !== 'patch') return;
      const known = view.podNamed(call.ref?.name ?? '');
      const pod = podNamed(call.ref?.name);
      const node = known && view.nodes.get(known.node)?.node;
      const isTheirs = node !== undefined && isEligible(node, view.daemonSet);
      if (known && daemonSet.group !== 'apps' && view.daemonSet && !isTheirs) removals.add(call);
      const kind = pod && purposeOf(call, pod);
      if (!known || !kind || !isUpdate({ kind })) return;
      const what = `${call.process} ${call.verb}s ${known.name} on ${known.node}`;
      sender.onUpdate(call, known, what);
      checks.onUpdateSent(updateOf(call, startOf({ kind, record: call }), known, what));
    },
    /** A call reaches the server. Returns what to run once it was executed. */
    onArrival(call: Call): (() => void) | undefined {
      const { verb, resource } = call;
      if (verb === 'get' || verb === 'list' || verb === 'watch' || !resource) return undefined;
      updates.advance();
      updates.answers.onArrival(call);
      const isOurs = verb !== 'create' || isPodOf(call.body as Pod, daemonSet);
      const isPod = resource.plural === 'pods' && isOurs;
      const onExecuted = isPod ? (verb === 'create' ? createPod(call) : writePod(call)) : [];
      return () => {
        // Leases are renewed for ever, and a series of Events is closed later.
        if (resource.plural !== 'leases' && resource.plural !== 'events') activity.lastWriteAt = now();
        if (!isAgent(call)) checks.onExecuted(call);
        for (const each of onExecuted) each();
      };
    },
    /** L1, asked after every event. */
    isFinished: (): boolean =>
      !isDeleted() &&
      nodesBehind().next().done === true &&
      !prerequisites.isPulling() &&
      stageProgress.left().length === 0,
    /** L1, once no fault is left: what still keeps the rollout from completing. */
    unfinished(): string[] {
      const left = [...nodesBehind()].map((name) => {
        const pods = actual
          .podsOn(name)
          .map(
            (pod) =>
              `${pod.name} ${pod.hash}${pod.terminating ? ' terminating' : ''}${pod.preparing ? ' preparing' : ''}${works(pod) ? '' : ' not available'}`,
          );
        return `${name}: ${pods.join(', ') || 'no pod'}`;
      });
      const stagesLeft = stageProgress.left().map((name) => `stage ${name} is not passed`);
      return [...(isDeleted() ? ['it is being deleted'] : []), ...left, ...prerequisites.left(), ...stagesLeft].map(
        (text) => (title === undefined ? text : `${title}: ${text}`),
      );
    },
  };
};
export type Checker = ReturnType<typeof createChecker>;
