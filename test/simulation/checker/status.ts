import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import type { Call } from '../network/call.ts';
import type { Check, CheckContext } from './check.ts';
import { isEligible, type PodState, toPodState } from './cluster-state.ts';
import type { ProcessView } from './process-view.ts';
import { termsOf } from './terms.ts';

interface SaidStatus {
  observedGeneration?: number;
  target?: { hash: string };
  nodes?: Record<string, number>;
  causes?: readonly { phase: string; count: number }[];
  conditions?: readonly Condition[];
  updatedNumberScheduled?: number;
}

const statusIn = (body: unknown): SaidStatus | undefined => (body as { status?: SaidStatus } | undefined)?.status;

const NOT_PHASES = new Set(['eligible', 'online', 'offlineOutdated']);

/** So long may pass between a decision and its write. */
const FRESH_MS = 1_000;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** S16: what is said of a rollout is so, by what whoever says it was told; and generations never fall. */
export const createStatusCheck = ({
  report,
  actual,
  now,
  daemonSet,
  rolloutName,
  viewOf,
  clockOf,
}: CheckContext): Check => {
  const { check, violation } = report;
  /** By object's UID. */
  const generations = new Map<string, number>();

  /** Pods that a process knows by answers, by UID: its watch may not have brought them yet. */
  const answered = new Map<string, Map<string, PodState>>();

  /** Of what was so before it was told, the pod's own time says since when. */
  const works = ({ uid, terminating, readySince }: PodState, view: ProcessView, at: number): boolean => {
    const { minReadyMs } = view.daemonSet ? termsOf(view.daemonSet) : { minReadyMs: 0 };
    const inTruth = actual.pods.get(uid)?.readySince ?? Number.POSITIVE_INFINITY;
    return !terminating && readySince !== undefined && Math.max(at - readySince, now() - inTruth) >= minReadyMs;
  };

  /** Online nodes that are not at the target, as the process was told of them. */
  const behind = (view: ProcessView, hash: string, at: number): string[] =>
    [...view.nodes].flatMap(([name, { ready, node }]) => {
      if (!ready || !isEligible(node, view.daemonSet)) return [];
      const pods = view.podsOn(name);
      return pods.some((pod) => pod.hash === hash && works(pod, view, at)) ? [] : [name];
    });

  const judgeRollout = (call: Call, status: SaidStatus, view: ProcessView): void => {
    const { target, nodes, causes, conditions } = status;
    const isCurrent = status.observedGeneration === view.daemonSet?.metadata?.generation;
    if (!nodes || !isCurrent) return;
    check('S16');
    const isTrue = (type: string): boolean =>
      conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
    const eligible = [...view.nodes.values()].filter(({ node }) => isEligible(node, view.daemonSet));
    const phases = sum(Object.entries(nodes).flatMap(([name, count]) => (NOT_PHASES.has(name) ? [] : [count])));
    const told = { eligible: eligible.length, offline: eligible.filter(({ ready }) => !ready).length };
    if (nodes.eligible !== told.eligible || phases !== told.eligible)
      violation(
        'S16',
        `${call.process} speaks of ${nodes.eligible} nodes, ${phases} by phase, and was told of ${told.eligible}`,
      );
    // What was told while the status was on its way to be written is in the next one.
    const at = clockOf(call.process);
    const isFresh = eligible.some(({ since }) => since !== undefined && at - since < FRESH_MS);
    if (nodes.offline !== told.offline && !isFresh)
      violation('S16', `${call.process} says that ${nodes.offline} nodes are offline, and was told of ${told.offline}`);
    if (causes && sum(causes.map(({ count }) => count)) !== phases)
      violation('S16', `${call.process} gives causes of ${sum(causes.map(({ count }) => count))} nodes of ${phases}`);
    if (!isTrue('Complete') || !target) return;
    const left = behind(view, target.hash, clockOf(call.process));
    if (left.length > 0)
      violation('S16', `${call.process} says complete while ${left.join(', ')} are not at ${target.hash}`);
    if (isTrue('Reconciling')) violation('S16', `${call.process} says complete, and that it goes on`);
  };

  const judgeDaemonSet = (call: Call, status: SaidStatus, view: ProcessView): void => {
    const { updatedNumberScheduled: updated } = status;
    if (updated === undefined) return;
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
      violation('S16', `${call.process} says ${updated} pods are updated, and was told of ${current}`);
  };

  return {
    onResponse({ process, verb, resource }, object) {
      if (resource?.plural !== 'pods' || verb === 'list' || verb === 'delete' || !object) return;
      const pods = answered.get(process) ?? new Map<string, PodState>();
      const pod = toPodState(object, undefined, clockOf(process));
      answered.set(process, pods.set(pod.uid, pod));
    },
    onSend(call) {
      const plural = call.resource?.plural;
      const status = statusIn(call.body);
      if (!status || (plural !== 'daemonrollouts' && plural !== 'daemonsets')) return;
      const view = viewOf(call.process);
      if (plural === 'daemonrollouts' && call.ref?.name === rolloutName) judgeRollout(call, status, view);
      else if (call.resource?.group === daemonSet.group && call.ref?.name === daemonSet.name)
        judgeDaemonSet(call, status, view);
    },
    onCommit({ resource, object }) {
      const { uid, name } = object.metadata;
      // Kubernetes' own controller may write what it saw of one DaemonSet to the next of the same name.
      const isOurs = daemonSet.group !== 'apps' && resource.group === daemonSet.group;
      const isDaemonSet = isOurs && resource.plural === 'daemonsets' && name === daemonSet.name;
      if (!isDaemonSet && !(resource.plural === 'daemonrollouts' && name === rolloutName)) return;
      const generation = statusIn(object)?.observedGeneration;
      const before = generations.get(uid) ?? 0;
      if (generation === undefined) return;
      if (generation < before)
        violation('S16', `${name} was observed at generation ${before}, and now at ${generation}`);
      generations.set(uid, generation);
    },
  };
};
