import { isDeepStrictEqual } from 'node:util';
import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import { createAir, type ReconcilerContext, turnAfter } from '../../controller/index.ts';
import { compareVersions, isKubeError } from '../../kube/index.ts';
import { type Decision, explainHold, formatPolicyError, toTimestamp } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { AdvancedDaemonSetStatus } from '../api/types.ts';
import { advancedDaemonSets } from '../api/types.ts';
import type { Conflict } from '../conflicting-controllers.ts';
import type { AwaitedPods } from '../lifecycle/finalizer.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import type { Blocked } from '../revisions/target.ts';
import type { TotalCounts } from './counts.ts';

/** A DaemonSet's status is written at most once in this time. */
const WRITE_EVERY_MS = 1_000;
const TIMEOUT_MS = 10_000;
const WRITE = 'status';

export interface StatusInput {
  view: AdvancedView;
  /** Undefined: the DaemonSet is being deleted. */
  decision: Pick<Decision, 'summary'> | undefined;
  /** Why the rollout has nothing to do from here, such as that owners decide; undefined while it has. */
  resting?: string | undefined;
  counts: Readonly<TotalCounts>;
  /** Hash of the revision that the DaemonSet asks for as it is now; undefined while that is not on record. */
  hash: string | undefined;
  blocked: Blocked | undefined;
  /** What the API server says of pods that it refuses. */
  refusal: string | undefined;
  awaited: AwaitedPods;
  now: number;
}

const farewellOf = ({ count, first }: AwaitedPods): string => {
  if (count === 0) return 'The DaemonSet is being deleted.';
  const names = `${first.join(', ')}${count > first.length ? ' and others' : ''}`;
  return `The DaemonSet is deleted once the preDelete hook has let ${count === 1 ? 'this pod' : `these ${count} pods`} go: ${names}.`;
};

/** Why nothing can go on before a person does something; undefined when that is not so. */
const stalledBy = ({ view, decision, blocked, refusal }: StatusInput): Blocked | undefined => {
  if (blocked) return blocked;
  const { policy } = view;
  if (policy.kind === 'invalid')
    return { reason: 'InvalidPolicy', message: policy.errors.map(formatPolicyError).join(' ') };
  if (refusal !== undefined) return { reason: 'FailedCreate', message: refusal };
  const hold = decision?.summary.hold;
  return hold?.kind === 'halted'
    ? { reason: 'Halted', message: explainHold(hold, policy.policy.words).what }
    : undefined;
};

const conditionsOf = (input: StatusInput): Condition[] => {
  const { view, decision, resting, counts, blocked, awaited, now } = input;
  const stalled = stalledBy(input);
  const complete = decision?.summary.complete === true;
  const numbers = `${counts.updated} of ${counts.desired} nodes have a pod of the current revision, ${counts.available} an available pod.`;
  const made = (type: string, on: boolean, reason: string, message: string): Condition => {
    const status = on ? 'True' : 'False';
    const before = view.status.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : toTimestamp(now);
    return { type, status, observedGeneration: view.generation, lastTransitionTime, reason, message };
  };
  if (view.deleted && !blocked) {
    const message = farewellOf(awaited);
    return [
      made('Ready', false, 'Deleted', message),
      made('Reconciling', true, 'Deleted', message),
      made('Stalled', false, 'NothingInTheWay', ''),
    ];
  }
  const ready = complete && !stalled;
  // Somebody else is to go on, and every node has a pod meanwhile.
  const idle = !complete && counts.current >= counts.desired ? resting : undefined;
  const going = !complete && !stalled && idle === undefined;
  const why = complete ? 'Complete' : (idle ?? 'Incomplete');
  return [
    made('Ready', ready, stalled?.reason ?? why, stalled?.message ?? numbers),
    made('Reconciling', going, stalled?.reason ?? why, numbers),
    made('Stalled', stalled !== undefined, stalled?.reason ?? 'NothingInTheWay', stalled?.message ?? ''),
  ];
};

/** Obstacles under which somebody else may be writing the numbers. */
const keepsNumbers: ReadonlySet<string> = new Set<Conflict['reason']>(['OpenKruiseManager', 'LeaseForbidden']);

/** The status that a DaemonSet is to have. */
export const statusOf = (input: StatusInput): AdvancedDaemonSetStatus => {
  const { view, counts, hash, blocked } = input;
  // While OpenKruise's manager is, or may be, at work the numbers are its own: two who write them would never end.
  if (blocked && keepsNumbers.has(blocked.reason)) return { ...view.status, conditions: conditionsOf(input) };
  const observed = hash !== undefined || blocked || view.deleted;
  return {
    ...view.status,
    currentNumberScheduled: counts.current,
    desiredNumberScheduled: counts.desired,
    numberMisscheduled: counts.misscheduled,
    numberReady: counts.ready,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    updatedNumberScheduled: counts.updated,
    ...(observed && { observedGeneration: view.generation }),
    ...(hash !== undefined && { updateRevision: hash, daemonSetHash: hash }),
    conditions: conditionsOf(input),
  };
};

/** Writes the status when it says something new, at most once a second, and never two at a time. */
export const createStatusWriter = ({
  client,
  env,
  enqueue,
}: Pick<ReconcilerContext<AdvancedView, CachedPod>, 'client' | 'env' | 'enqueue'>) => {
  const { clock, log } = env;
  let writtenAt = Number.NEGATIVE_INFINITY;
  /** Our last write, until the watch of the DaemonSet has it. */
  let last: { status: AdvancedDaemonSetStatus; resourceVersion: string } | undefined;
  const air = createAir({
    clock,
    most: 1,
    ended: enqueue,
    failed: (_key, error) => log.error('writing the status failed', { error }),
  });

  const write = async (view: AdvancedView, status: AdvancedDaemonSetStatus, signal: AbortSignal): Promise<void> => {
    const { namespace, name, uid } = view;
    const { collisionCount: _, ...ours } = status;
    // Somebody who was asleep on the way here must not say what was true before another leader, or the user, wrote.
    const { resourceVersion } = last ?? view;
    try {
      const answer = await client.patch(
        advancedDaemonSets,
        { namespace, name },
        { metadata: { uid, resourceVersion }, status: ours },
        { type: 'merge', subresource: 'status', timeoutMs: TIMEOUT_MS, signal },
      );
      last = { status, resourceVersion: answer.metadata.resourceVersion ?? '' };
    } catch (error) {
      // Gone, or made anew: the watch will say so.
      if (!signal.aborted && !isKubeError(error, 'NotFound', 'Conflict', 'Invalid'))
        log.warn('the status could not be written', { error });
    }
  };

  return {
    /** The view with the status that it will have once the watch has caught up with us. */
    seen(view: AdvancedView): AdvancedView {
      if (last && (compareVersions(view.resourceVersion, last.resourceVersion) ?? 0) >= 0) last = undefined;
      return last ? { ...view, status: { ...last.status, ...collisionsOf(view.status) } } : view;
    },
    /** Resolves with when to be called again, epoch ms; Infinity when all is said. */
    keep(view: AdvancedView, status: AdvancedDaemonSetStatus): number {
      if (isDeepStrictEqual(view.status, status)) return Number.POSITIVE_INFINITY;
      const now = clock.now();
      const turn = turnAfter(writtenAt, WRITE_EVERY_MS, now);
      if (now < turn) return turn;
      if (air.has(WRITE)) return Number.POSITIVE_INFINITY;
      writtenAt = now;
      air.launch(WRITE, (signal) => write(view, status, signal));
      return Number.POSITIVE_INFINITY;
    },
    stop: (graceMs: number): Promise<void> => air.stop(graceMs),
  };
};

const collisionsOf = ({ collisionCount }: AdvancedDaemonSetStatus): Pick<AdvancedDaemonSetStatus, 'collisionCount'> =>
  collisionCount === undefined ? {} : { collisionCount };
