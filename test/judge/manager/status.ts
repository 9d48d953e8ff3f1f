import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import type { DaemonRolloutStatus } from '../../../src/words/index.ts';
import { policyOf } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import type { ExposedRule } from '../stages/exposed.ts';
import { isEligible, type PodState, toPodState } from '../state/cluster-state.ts';
import type { ProcessView } from '../state/process-view.ts';
import { tolerances } from '../tolerances.ts';

interface ReportedStatus {
  observedGeneration?: number;
  /** Only in a DaemonRollout: the generation of its DaemonSet. */
  daemonSetGeneration?: number;
  target?: { hash: string };
  nodes?: Record<string, number>;
  causes?: readonly { phase: string; count: number }[];
  conditions?: readonly Condition[];
  updatedNumberScheduled?: number;
  rollout?: number;
  history?: readonly { rollout: number; result: string }[];
}

const statusIn = (body: unknown): ReportedStatus | undefined =>
  (body as { status?: ReportedStatus } | undefined)?.status;

const NOT_PHASES = new Set(['eligible', 'online', 'offlineOutdated']);

/** How many rollouts are kept. */
const HISTORY = 20;

const TOO_MANY_REQUESTS = 429;

/** What is wrong with the history of a status, after the one before; undefined for nothing. */
const historyFault = (before: ReportedStatus | undefined, after: ReportedStatus): string | undefined => {
  const entries = after.history ?? [];
  const numbers = entries.map(({ rollout }) => rollout);
  if (after.target && numbers[0] !== after.rollout) return `begins with ${numbers[0]} during ${after.rollout}`;
  if (numbers.some((number, index) => index > 0 && number >= (numbers[index - 1] ?? 0)))
    return `is not in order: ${numbers.join(', ')}`;
  if (entries.slice(1).some(({ result }) => result === 'InProgress')) return 'has an old rollout that still runs';
  const lost = (before?.history ?? []).find(({ rollout }) => !numbers.includes(rollout));
  return lost && entries.length < HISTORY ? `has lost ${lost.rollout}` : undefined;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** A manager that cannot compute something leaves the counts as they were, and says so. */
const reportsError = ({ conditions = [] }: Pick<ReportedStatus, 'conditions'>): boolean =>
  conditions.some(({ reason }) => reason === 'InternalError');

/** S16: a status is true, by what its writer had observed, and observed generations never decrease. */
export const createStatusCheck = (
  { report, actual, now, daemonSet, rolloutName, viewOf, clockOf }: CheckContext,
  exposedFault: ExposedRule,
): Check => {
  const { check, violation } = report;
  /** By UID of the object. */
  const statuses = new Map<string, ReportedStatus>();
  /** By UID of the object. */
  const generations = new Map<string, number>();

  /** By process: when the API server last answered 429. */
  const refusedAt = new Map<string, number>();
  /** By process and UID: pods in responses, which its watch may not have delivered yet. */
  const answered = new Map<string, Map<string, PodState>>();

  /** A pod may have been Ready before the process observed it. */
  const works = ({ uid, terminating, readySince }: PodState, view: ProcessView, at: number): boolean => {
    const { minReadyMs } = view.daemonSet ? policyOf(view.daemonSet) : { minReadyMs: 0 };
    const actuallySince = actual.pods.get(uid)?.readySince ?? Number.POSITIVE_INFINITY;
    return !terminating && readySince !== undefined && Math.max(at - readySince, now() - actuallySince) >= minReadyMs;
  };

  /** Online nodes that are not at the target, by the process's view. */
  const behind = (view: ProcessView, hash: string, at: number): string[] =>
    [...view.nodes].flatMap(([name, { ready, node }]) => {
      if (!ready || !isEligible(node, view.daemonSet)) return [];
      const pods = view.podsOn(name);
      return pods.some((pod) => pod.hash === hash && works(pod, view, at)) ? [] : [name];
    });

  const checkRollout = (call: Call, status: ReportedStatus, view: ProcessView): void => {
    const { target, nodes, causes, conditions } = status;
    const isCurrent = status.daemonSetGeneration === view.daemonSet?.metadata?.generation;
    if (!nodes || !isCurrent) return;
    check('S16');
    const isFromBefore = reportsError(status);
    const isTrue = (type: string): boolean =>
      conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
    const eligible = [...view.nodes.values()].filter(({ node }) => isEligible(node, view.daemonSet));
    const phases = sum(Object.entries(nodes).flatMap(([name, count]) => (NOT_PHASES.has(name) ? [] : [count])));
    const known = { eligible: eligible.length, offline: eligible.filter(({ ready }) => !ready).length };
    if (isFromBefore) {
      if (isTrue('Complete')) violation('S16', `${call.process} reports Complete, and that it cannot compute that`);
      return;
    }
    const at = clockOf(call.process);
    // What was observed while the status was being written, or was kept back, is part of the next one.
    const isKeptBack =
      now() - (refusedAt.get(call.process) ?? Number.NEGATIVE_INFINITY) < tolerances.statusAfterRefusal.ms;
    const decidedAt = at - (isKeptBack ? tolerances.statusAfterRefusal.ms : tolerances.statusWrite.ms);
    if ((nodes.eligible !== known.eligible || phases !== known.eligible) && view.nodesMovedAt < decidedAt)
      violation(
        'S16',
        `${call.process} reports ${nodes.eligible} nodes, ${phases} by phase, and has observed ${known.eligible}`,
      );
    const isFresh = eligible.some(({ since }) => since !== undefined && since >= decidedAt);
    if (nodes.offline !== known.offline && !isFresh)
      violation('S16', `${call.process} reports ${nodes.offline} offline nodes, and has observed ${known.offline}`);
    if (causes && sum(causes.map(({ count }) => count)) !== phases)
      violation(
        'S16',
        `${call.process} reports causes for ${sum(causes.map(({ count }) => count))} of ${phases} nodes`,
      );
    const miscounted = exposedFault(status as DaemonRolloutStatus, view, decidedAt);
    if (miscounted !== undefined) violation('S16', `${call.process} reports ${miscounted}`);
    if (!isTrue('Complete') || !target) return;
    // A status that was kept back says nothing of nodes that have come online since.
    const isNew = (name: string): boolean => isKeptBack && (view.nodes.get(name)?.since ?? 0) >= decidedAt;
    const left = behind(view, target.hash, at).filter((name) => !isNew(name));
    if (left.length > 0 && view.nodesMovedAt < decidedAt)
      violation('S16', `${call.process} reports Complete while ${left.join(', ')} are not at ${target.hash}`);
    if (isTrue('Reconciling')) violation('S16', `${call.process} reports both Complete and Reconciling`);
  };

  const checkDaemonSet = (call: Call, status: ReportedStatus, view: ProcessView): void => {
    const { updatedNumberScheduled: updated } = status;
    if (updated === undefined || reportsError(status)) return;
    check('S16');
    const known = [...(answered.get(call.process)?.values() ?? [])];
    const at = (fits: (pod: PodState) => boolean): number =>
      [...view.nodes.keys()].filter(
        (name) => view.podsOn(name).some(fits) || known.some((pod) => pod.node === name && fits(pod)),
      ).length;
    const { target } = actual;
    if (target === undefined || view.daemonSet?.metadata?.generation !== actual.daemonSet?.metadata?.generation) return;
    if (status.observedGeneration !== actual.daemonSet?.metadata?.generation) return;
    const current = at(({ hash }) => hash === target);
    if (updated > current)
      violation('S16', `${call.process} reports ${updated} updated pods, and has observed ${current}`);
  };

  return {
    onResponse({ process, verb, resource }, object) {
      if (resource?.plural !== 'pods' || verb === 'list' || verb === 'delete' || !object) return;
      const pods = answered.get(process) ?? new Map<string, PodState>();
      const pod = toPodState(object, undefined, clockOf(process));
      answered.set(process, pods.set(pod.uid, pod));
    },
    onFailure({ process }, status) {
      if (status === TOO_MANY_REQUESTS) refusedAt.set(process, now());
    },
    onSend(call) {
      const plural = call.resource?.plural;
      const status = statusIn(call.body);
      if (!status || (plural !== 'daemonrollouts' && plural !== 'daemonsets')) return;
      const view = viewOf(call.process);
      if (plural === 'daemonrollouts' && call.ref?.name === rolloutName) checkRollout(call, status, view);
      else if (call.resource?.group === daemonSet.group && call.ref?.name === daemonSet.name)
        checkDaemonSet(call, status, view);
    },
    onCommit({ resource, object }) {
      const { uid, name } = object.metadata;
      // The native controller may write what it observed of one DaemonSet to the next one of the same name.
      const isOurs = daemonSet.group !== 'apps' && resource.group === daemonSet.group;
      const isDaemonSet = isOurs && resource.plural === 'daemonsets' && name === daemonSet.name;
      if (!isDaemonSet && !(resource.plural === 'daemonrollouts' && name === rolloutName)) return;
      const status = statusIn(object) ?? {};
      const { observedGeneration, daemonSetGeneration } = status;
      const fault = isDaemonSet ? undefined : historyFault(statuses.get(uid), status);
      if (fault !== undefined) violation('S16', `the history of ${name} ${fault}`);
      statuses.set(uid, status);
      const generation = isDaemonSet ? observedGeneration : daemonSetGeneration;
      const before = generations.get(uid) ?? 0;
      if (generation === undefined) return;
      if (generation < before)
        violation('S16', `the generation that the status of ${name} is about went from ${before} to ${generation}`);
      generations.set(uid, generation);
    },
  };
};
