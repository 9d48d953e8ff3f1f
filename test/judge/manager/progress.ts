import {
  type AnyDaemonSet,
  type InvariantId,
  isAvailable,
  isNative,
  nodesOf,
  policyOf,
} from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Operation } from '../../simulation/plan/plan.ts';
import type { Check, CheckContext } from '../check.ts';
import type { OrderCheck } from '../stages/order.ts';
import type { StageProgress, WaitingStage } from '../stages/stage-progress.ts';
import { isEligible } from '../state/cluster-state.ts';
import type { ObservedNode } from '../state/process-view.ts';
import { tolerances, withinMs } from '../tolerances.ts';
import type { FailuresOf } from '../updates/breaker.ts';
import type { createFirstWaveCheck } from '../updates/first-wave.ts';
import { reservationsIn } from '../updates/sender.ts';

export interface ProgressOptions {
  /** Processes that believe that they lead. */
  believers: () => readonly string[];
  failuresOf: FailuresOf;
  firstWave: Pick<ReturnType<typeof createFirstWaveCheck>, 'room'>;
  /** By the actual state. */
  isInFlight: (node: string) => boolean;
  stages: StageProgress;
  order: OrderCheck;
}

const CHECK_EVERY_MS = 20;

const TROUBLE: ReadonlyMap<Operation['do'], number> = new Map([
  ['lag', tolerances.watchRecovery.ms],
  ['disturb', tolerances.watchRecovery.ms],
  ['restart-api', tolerances.watchRecovery.ms],
  ['cut', tolerances.watchRecovery.ms],
  ['oversized', tolerances.serverTrouble.ms],
  ['webhook', tolerances.serverTrouble.ms],
  ['etcd-full', tolerances.serverTrouble.ms],
  ['native', tolerances.backOff.ms],
  ['recreate-set', tolerances.backOff.ms],
  ['hand-over', tolerances.backOff.ms],
  ['strategy', tolerances.backOff.ms],
]);

const HOLDING = /edgeset\.io\/(partition|predownload|node-selector|topology-key)|kruise\.io\/image-predownload/;

/** Only budget and pause decide when nodes are updated. */
const hasNoOtherHold = ({ metadata, spec }: AnyDaemonSet): boolean => {
  const annotations = metadata?.annotations ?? {};
  const { partition = 0, selector } = spec?.updateStrategy?.rollingUpdate ?? {};
  const isAdvanced = spec?.updateStrategy?.type !== 'OnDelete';
  const model = annotations['apps.openyurt.io/update-strategy'];
  return (
    (isAdvanced ? model === undefined : model === 'auto') &&
    Number.parseInt(String(partition), 10) === 0 &&
    selector === undefined &&
    spec?.lifecycle === undefined &&
    Object.keys(annotations).every((key) => !HOLDING.test(key))
  );
};

interface Waiting {
  free: number;
  candidates: readonly string[];
  returned: boolean;
  offline: boolean;
}

/**
 * L2, L3, L4, L5, L7, L9, G3, G6: while the leader is healthy, a slot is free, a node is waiting and nothing holds the rollout, an update
 * begins within a second. Checked against what the leader has observed.
 */
export const createProgressCheck = (
  context: CheckContext,
  { believers, failuresOf, isInFlight, firstWave, stages, order }: ProgressOptions,
): Check => {
  const { report, actual, now, viewOf, clockOf, settleMs, processes, daemonSet: ours, rolloutName } = context;
  const { check, violation, figure } = report;
  /** Until then nothing is expected. */
  let expectNothingUntil = 0;
  let lastCheckAt = 0;
  let wasHealthy = false;
  let waiting: Waiting | undefined;
  let since = 0;
  let waitingStage: (WaitingStage & { since: number }) | undefined;
  let lost = false;
  let leader: string | undefined;
  let halted = false;
  /** Open reservations by node: the pod, and the time in which a leader could have executed them, ms. */
  const open = new Map<string, { podUID: string; waited: number }>();
  /** By UID of a pod: the process that knows that its delete was executed. */
  const deletedBy = new Map<string, string>();
  /** By process: calls without a response. */
  const pendingCalls = new Map<string, Set<Call>>();

  const expectNothingFor = (ms: number): void => {
    expectNothingUntil = Math.max(expectNothingUntil, now() + ms);
    waiting = undefined;
    waitingStage = undefined;
  };

  /** The leader, unless something keeps it from working. */
  const healthyLeader = (): string | undefined => {
    const [only, ...others] = believers();
    const state = processes().find(({ name }) => name === only);
    if (!state?.running || !state.up || others.length > 0) {
      expectNothingFor(tolerances.backOff.ms);
      leader = undefined;
      return undefined;
    }
    if (only !== leader) expectNothingFor(tolerances.sync.ms);
    leader = only;
    for (const call of pendingCalls.get(state.name) ?? [])
      if (now() - call.at > withinMs.prompt) expectNothingFor(tolerances.backOff.ms);
    if (!viewOf(state.name).isInTouch) {
      expectNothingFor(0);
      return undefined;
    }
    return now() >= expectNothingUntil ? leader : undefined;
  };

  /** Neither the user nor the breaker holds the rollout, by the leader's view. */
  const holdsNothing = (process: string): boolean => {
    const { daemonSet } = viewOf(process);
    const { target } = actual;
    if (!daemonSet || target === undefined || halted) return false;
    if (daemonSet.metadata?.uid !== actual.daemonSet?.metadata?.uid) return false;
    if (daemonSet.metadata?.generation !== actual.daemonSet?.metadata?.generation) return false;
    const policy = policyOf(daemonSet);
    if (policy.paused || !policy.observed || !hasNoOtherHold(daemonSet)) return false;
    const { failed, lost: lostNodes } = failuresOf(process, actual.rolloutOf(daemonSet), target);
    return failed.length + lostNodes.length === 0;
  };

  /** What waits for the leader, by its view. */
  const findWaiting = (process: string): Waiting | undefined => {
    const view = viewOf(process);
    const { daemonSet } = view;
    const { target } = actual;
    if (!daemonSet || !stages.isPlain(process)) return undefined;
    const policy = policyOf(daemonSet);
    const at = clockOf(process);
    let settled = 0;
    let eligible = 0;
    let offline = false;
    let used = 0;
    const candidates: { name: string; healthy: boolean; returned: boolean }[] = [];
    for (const [name, { ready, since: from, node }] of view.nodes) {
      if (!isEligible(node, daemonSet)) continue;
      eligible += 1;
      offline ||= !ready;
      if (!ready) continue;
      const isSettled = from === undefined || at - from > settleMs + withinMs.prompt;
      if (isSettled) settled += 1;
      const pods = view.podsOn(name).filter(({ uid }) => actual.pods.has(uid));
      const [pod, ...others] = pods;
      const healthy = pod !== undefined && others.length === 0 && isAvailable(pod, policy.minReadyMs, at);
      if (isInFlight(name) || open.has(name) || !healthy) used += 1;
      const isPlain = pod && others.length === 0 && !pod.terminating && !pod.ended && pod.hash !== target;
      const isFree = !isInFlight(name) && !open.has(name) && stages.permits(name, node);
      if (isPlain && isSettled && healthy && isFree && order.permits(process, name))
        candidates.push({ name, healthy, returned: from !== undefined });
    }
    const share = isNative(daemonSet) ? settled : eligible;
    const free = Math.min(nodesOf(policy.limit, share) - used, firstWave.room(process));
    if (free <= 0 || candidates.length === 0) return undefined;
    return {
      free: Math.min(free, candidates.length),
      candidates: candidates.map(({ name }) => name),
      returned: candidates.every(({ returned }) => returned),
      offline,
    };
  };

  const invariantOf = ({ returned, offline }: Waiting): InvariantId =>
    lost ? 'L4' : offline ? 'L2' : returned ? 'L3' : 'L5';

  const countReservations = (ms: number): void => {
    // Nobody manages a native DaemonSet without the annotation of its model.
    if (!actual.daemonSet || (isNative(actual.daemonSet) && policyOf(actual.daemonSet).manual)) return;
    for (const [node, reserved] of open) {
      const isOnline = actual.nodes.get(node)?.ready === true;
      // Who deleted the pod shows on the next one, which comes once it is gone, and which an offline node does not get.
      const pod = actual.pods.get(reserved.podUID);
      const isKnown = isOnline && deletedBy.get(reserved.podUID) === leader;
      if (pod ? pod.terminating && !isKnown : !isOnline) continue;
      reserved.waited += ms;
      if (reserved.waited <= withinMs.reserved || !isOnline) continue;
      open.delete(node);
      violation('L7', `the reservation of ${node} has been open for ${Math.round(reserved.waited / 1000)} s`);
    }
  };

  const checkStage = (next: WaitingStage | undefined): void => {
    const from = next?.key === waitingStage?.key ? waitingStage?.since : undefined;
    waitingStage = next && { ...next, since: from ?? now() };
    if (!waitingStage) return;
    const { text, offline } = waitingStage;
    const invariants: readonly InvariantId[] = offline ? ['L9', 'G3'] : ['L9'];
    for (const invariant of invariants) check(invariant);
    const idle = now() - waitingStage.since;
    figure('longest wait for a stage, ms', idle, 'most');
    if (idle <= withinMs.prompt) return;
    for (const invariant of invariants)
      violation(invariant, `nothing happens for ${Math.round(idle)} ms until ${text}`);
    expectNothingFor(tolerances.backOff.ms);
  };

  /** A native DaemonSet that is managed again gets new records: to a clock that is behind, its nodes became ready at this moment. */
  const noteOptIn = (after: AnyDaemonSet, before: AnyDaemonSet | undefined): void => {
    const isBehind = leader !== undefined && clockOf(leader) < now() - withinMs.prompt;
    if (isBehind && isNative(after) && before && policyOf(before).manual && !policyOf(after).manual)
      expectNothingFor(settleMs + withinMs.prompt);
  };

  const checkIdle = (): void => {
    const passed = now() - lastCheckAt;
    if (passed < CHECK_EVERY_MS) return;
    lastCheckAt = now();
    const process = healthyLeader();
    // Time in which nobody could do anything does not count.
    if (wasHealthy && process !== undefined) countReservations(passed);
    wasHealthy = process !== undefined;
    if (process === undefined) return;
    const isFree = holdsNothing(process);
    checkStage(isFree ? stages.waiting(process) : undefined);
    const before = waiting;
    waiting = isFree ? findWaiting(process) : undefined;
    if (!waiting) return;
    if (!before) since = now();
    else figure('idle slot seconds', (before.free * passed) / 1000);
    check('L5');
    if (waiting.offline) check('L2');
    if (waiting.returned) check('L3');
    if (lost) check('L4');
    const idle = now() - since;
    figure('longest wait for a free slot, ms', idle, 'most');
    if (idle <= withinMs.prompt) return;
    const text = `${waiting.free} slots have been free for ${Math.round(idle)} ms while ${waiting.candidates.join(', ')} wait`;
    // Idle slots violate L5 in any case.
    const violated = new Set<InvariantId>([
      invariantOf(waiting),
      'L5',
      ...(stages.isLifted() ? (['G6'] as const) : []),
    ]);
    for (const invariant of violated) violation(invariant, text);
    expectNothingFor(tolerances.backOff.ms);
  };

  return {
    beforeCommit: checkIdle,
    onCommit({ resource, object, previous, type }) {
      if (resource.group === ours.group && resource.plural === 'daemonsets' && object.metadata.name === ours.name)
        noteOptIn(object, previous);
      if (resource.plural !== 'daemonrollouts' || object.metadata.name !== rolloutName) return;
      const status = object.status as { halted?: unknown } | undefined;
      halted = type !== 'DELETED' && status?.halted !== undefined;
      const left = new Map(
        (type === 'DELETED' ? [] : reservationsIn(object)).flatMap((each) =>
          each.carriedOut
            ? []
            : [[each.node, { podUID: each.podUID, waited: open.get(each.node)?.waited ?? 0 }] as const],
        ),
      );
      for (const node of open.keys()) if (!left.has(node)) check('L7');
      open.clear();
      for (const [node, reserved] of left) open.set(node, reserved);
    },
    onSend(call) {
      const calls = pendingCalls.get(call.process) ?? new Set();
      pendingCalls.set(call.process, calls.add(call));
    },
    onResponse(call) {
      const uid = call.options?.preconditions?.uid;
      if (uid !== undefined) deletedBy.set(uid, call.process);
      pendingCalls.get(call.process)?.delete(call);
      checkIdle();
    },
    onFailure(call) {
      pendingCalls.get(call.process)?.delete(call);
      // No update waits for the conditions of a native DaemonSet.
      if (call.resource?.group === 'apps' && (call.body as { status?: unknown } | undefined)?.status) return;
      // A call that failed, or whose outcome is unknown, is repeated later.
      expectNothingFor(
        call.resource?.plural === 'podtemplates' ? tolerances.refusedTemplate.ms : tolerances.backOff.ms,
      );
    },
    onWatchEvent: checkIdle,
    onWatchOpened: (process) => {
      if (process === leader) expectNothingFor(tolerances.sync.ms);
    },
    onUpdateSent({ call, node }) {
      // Updates one after the other are not idle time.
      waiting = undefined;
      if (call.process !== leader || now() < expectNothingUntil) return;
      check('L5');
      const { nodes, daemonSet: seen } = viewOf(call.process);
      const isAway = ({ ready, node: each }: ObservedNode): boolean => !ready && isEligible(each, seen);
      if (nodes.values().some(isAway)) check('L2');
      if (nodes.get(node)?.since !== undefined) check('L3');
      if (lost) check('L4');
    },
    /** The rollout has converged in spite of the lost event; otherwise that is reported as L1. */
    onConverged() {
      if (lost) check('L4');
    },
    onOperation(operation) {
      const isSilence = operation.do === 'disturb' && operation.how === 'silence';
      const ms = isSilence ? tolerances.silentWatch.ms : TROUBLE.get(operation.do);
      if (ms !== undefined) expectNothingFor(ms);
      if (operation.do === 'disturb' && operation.how === 'drop') lost = true;
    },
  };
};
