import { isDeepStrictEqual } from 'node:util';
import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import {
  createInFlightWrites,
  createStatusPace,
  decidedOnAgain,
  type ReconcilerContext,
} from '../../../controller/index.ts';
import { isKubeError } from '../../../kube/index.ts';
import {
  type ConditionState,
  conditionsOnError,
  type Decision,
  explainHold,
  formatPolicyError,
  isOnDaemonSet,
  toTimestamp,
} from '../../../rollout/index.ts';
import { plainText } from '../../../text/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { type AdvancedDaemonSetStatus, advancedDaemonSets } from '../api/types.ts';
import type { Conflict } from '../conflicting-controllers.ts';
import type { AwaitedPods } from '../lifecycle/finalizer.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import type { Blocked } from '../revisions/target.ts';
import type { NodeCounts } from './counts.ts';

const NEVER = Number.POSITIVE_INFINITY;
const TIMEOUT_MS = 10_000;
const WRITE = 'status';

export interface StatusInput {
  view: AdvancedView;
  /** Undefined: the DaemonSet is being deleted. */
  decision: Pick<Decision, 'summary'> | undefined;
  /** The conditions of the DaemonRollout. */
  rollout?: readonly ConditionState[];
  counts: Readonly<NodeCounts>;
  /** Hash of the current revision; undefined while it is not recorded. */
  hash: string | undefined;
  blocked: Blocked | undefined;
  awaited: AwaitedPods;
  now: number;
}

const deletionMessage = ({ count, first }: AwaitedPods): string => {
  if (count === 0) return 'The DaemonSet is being deleted.';
  const names = `${first.join(', ')}${count > first.length ? ' and others' : ''}`;
  return `Waiting for the preDelete hook to release ${count === 1 ? '1 pod' : `${count} pods`} before the DaemonSet is deleted: ${names}.`;
};

/** Why the DaemonSet is stuck until somebody acts; undefined if it isn't. */
const stalledBy = ({ view, decision, rollout, blocked }: StatusInput): Blocked | undefined => {
  if (blocked) return blocked;
  const { policy } = view;
  if (policy.kind === 'invalid')
    return { reason: 'InvalidPolicy', message: policy.errors.map(formatPolicyError).join(' ') };
  const stalled = rollout?.find(({ type }) => type === 'Stalled');
  if (stalled?.status && stalled.reason === 'FailedCreate') return { reason: stalled.reason, message: stalled.message };
  const hold = decision?.summary.hold;
  return hold?.kind === 'halted'
    ? { reason: 'Halted', message: explainHold(hold, policy.policy.words).what }
    : undefined;
};

const conditionsOf = (input: StatusInput): Condition[] => {
  const { view, decision, rollout, counts, blocked, awaited, now } = input;
  const ofRollout = (type: ConditionState['type']) => rollout?.find((each) => each.type === type);
  const condition = (type: string, isTrue: boolean, reason: string, message: string): Condition => {
    const status = isTrue ? 'True' : 'False';
    const before = view.status.conditions?.find((each) => each.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : toTimestamp(now);
    const plain = plainText(message);
    return { type, status, observedGeneration: view.generation, lastTransitionTime, reason, message: plain };
  };
  if (view.deleted && !blocked) {
    const message = deletionMessage(awaited);
    return [
      condition('Ready', false, 'Deleted', message),
      condition('Reconciling', true, 'Deleted', message),
      condition('Stalled', false, 'NothingInTheWay', ''),
    ];
  }
  const stalled = stalledBy(input);
  const complete = decision?.summary.complete === true;
  const progress = `${counts.updated} of ${counts.desired} nodes have a pod of the current revision, ${counts.available} have an available pod.`;
  // Every node has a pod, and the next step is for somebody else.
  const reconciling = ofRollout('Reconciling');
  const isIdle = !complete && counts.current >= counts.desired && reconciling?.status === false;
  const idle = isIdle ? reconciling.reason : undefined;
  const isReady = complete || (isIdle && ofRollout('Ready')?.status === true);
  const paused = ofRollout('Paused');
  const drift = ofRollout('ImageDrift');
  const reason = stalled?.reason ?? (complete ? 'Complete' : (idle ?? 'Incomplete'));
  return [
    condition('Ready', isReady && !stalled, reason, stalled?.message ?? progress),
    condition('Reconciling', !complete && !stalled && idle === undefined, reason, progress),
    condition('Stalled', stalled !== undefined, stalled?.reason ?? 'NothingInTheWay', stalled?.message ?? ''),
    condition('Paused', paused?.status === true, paused?.reason ?? 'NotPaused', paused?.message ?? ''),
    ...(drift && isOnDaemonSet(drift, view.status.conditions)
      ? [condition(drift.type, drift.status, drift.reason, drift.message)]
      : []),
  ];
};

/** The status while something about the DaemonSet cannot be computed: what was last written, with conditions that say so. */
export const statusOnError = (view: AdvancedView, what: string, now: number): AdvancedDaemonSetStatus => {
  const present = view.status.conditions ?? [];
  const changed = conditionsOnError(what).map((state): Condition => {
    const status = state.status ? 'True' : 'False';
    const before = present.find(({ type }) => type === state.type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : toTimestamp(now);
    return { ...state, status, observedGeneration: view.generation, lastTransitionTime };
  });
  const others = present.filter(({ type }) => !changed.some((condition) => condition.type === type));
  return { ...view.status, conditions: [...changed, ...others] };
};

/** Conflicts in which another controller may be writing the counts. */
const othersWriteCounts: ReadonlySet<string> = new Set<Conflict['reason']>(['OpenKruiseManager', 'LeaseForbidden']);

export const statusOf = (input: StatusInput): AdvancedDaemonSetStatus => {
  const { view, counts, hash, blocked } = input;
  // Two controllers that both write the counts would overwrite each other for ever.
  if (blocked && othersWriteCounts.has(blocked.reason)) return { ...view.status, conditions: conditionsOf(input) };
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

type StatusContext = Pick<
  ReconcilerContext<AdvancedView, CachedPod>,
  'client' | 'env' | 'enqueue' | 'accept' | 'refused'
>;

/** Writes the status when it has changed, at the pace of a DaemonRollout's and one write at a time. */
export const createStatusWriter = ({ client, env, enqueue, accept, refused }: StatusContext) => {
  const { clock, log } = env;
  const pace = createStatusPace(clock);
  const writes = createInFlightWrites({
    clock,
    limit: 1,
    onWriteDone: enqueue,
    failed: (_key, error) => log.error('writing the status failed unexpectedly', { error }),
  });

  const write = async (view: AdvancedView, status: AdvancedDaemonSetStatus, signal: AbortSignal): Promise<void> => {
    // The precondition keeps a process that was suspended here from overwriting a newer status.
    const { namespace, name, uid, resourceVersion } = view;
    const { collisionCount: _, ...ours } = status;
    try {
      const written = await client.patch(
        advancedDaemonSets,
        { namespace, name },
        { metadata: { uid, resourceVersion }, status: ours },
        { type: 'merge', subresource: 'status', timeoutMs: TIMEOUT_MS, signal, ...decidedOnAgain },
      );
      accept(written);
    } catch (error) {
      // Changed, deleted or recreated: the watch tells.
      if (isKubeError(error, 'Conflict')) refused(resourceVersion);
      if (!signal.aborted && !isKubeError(error, 'NotFound', 'Conflict', 'Invalid'))
        log.warn('failed to write the status', { error });
    }
  };

  return {
    /** Starts a write if the status has changed. Returns when to call it again, epoch ms; Infinity for never. */
    update(view: AdvancedView, status: AdvancedDaemonSetStatus, moving: boolean): number {
      if (writes.has(WRITE) || isDeepStrictEqual(view.status, status)) return NEVER;
      const dueAt = pace.dueAt(moving);
      if (dueAt > clock.now()) return dueAt;
      pace.written(moving);
      return writes.start(WRITE, async (signal) => {
        await write(view, status, signal);
        return 'succeeded';
      });
    },
    drain: (graceMs: number): Promise<void> => writes.drain(graceMs),
  };
};
