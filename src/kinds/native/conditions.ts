import type { DaemonSet, DaemonSetCondition } from 'kubernetes-types/apps/v1.d.ts';
import {
  createInFlightWrites,
  createStatusPace,
  decidedOnAgain,
  type ManageInput,
  type ReconcilerContext,
} from '../../controller/index.ts';
import { daemonSets, isKubeError, type KubeClient } from '../../kube/index.ts';
import {
  type ConditionState,
  conditionsOnDaemonSet,
  decide,
  errorOnDaemonSet,
  type PodFacts,
  type PolicyError,
  type Summary,
  toTimestamp,
} from '../../rollout/index.ts';
import { plainText } from '../../text/index.ts';
import { FIELD_MANAGER } from '../../words/index.ts';
import { type NativeView, ownConditions } from './native-view.ts';

const NEVER = Number.POSITIVE_INFINITY;
const TIMEOUT_MS = 10_000;
const WRITE = 'conditions';

const withTimes = (
  wanted: readonly ConditionState[],
  present: readonly DaemonSetCondition[],
  now: number,
): DaemonSetCondition[] =>
  wanted.map(({ type, status, reason, message }) => {
    const text = status ? 'True' : 'False';
    const before = present.find((condition) => condition.type === type);
    const lastTransitionTime =
      before?.status === text && before.lastTransitionTime ? before.lastTransitionTime : toTimestamp(now);
    return { type, status: text, lastTransitionTime, reason, message: plainText(message) };
  });

/** Whether two conditions say the same, whenever each was written. */
const isAlike = (one: DaemonSetCondition, other: DaemonSetCondition): boolean =>
  one.type === other.type &&
  one.status === other.status &&
  one.reason === other.reason &&
  (one.message ?? '') === (other.message ?? '');

/** Removes our conditions from a DaemonSet that is no longer managed. */
export const removeConditions = async (
  client: KubeClient,
  daemonSet: DaemonSet,
  signal: AbortSignal,
): Promise<void> => {
  const present = ownConditions(daemonSet);
  if (present.length === 0) return;
  const { namespace = '', name = '', uid } = daemonSet.metadata ?? {};
  const conditions = present.map(({ type }) => ({ type, $patch: 'delete' }));
  const options = { type: 'strategic', subresource: 'status', fieldManager: FIELD_MANAGER, signal } as const;
  await client.patch(daemonSets, { namespace, name }, { metadata: { uid }, status: { conditions } }, options);
};

type Context = Pick<
  ReconcilerContext<NativeView, PodFacts>,
  'client' | 'env' | 'enqueue' | 'accept' | 'refused' | 'ledger' | 'events'
>;

/** Keeps conditions in the DaemonSet's own status, for tools that look at nothing else. A rollout never waits for them. */
export const createConditionWriter = ({ client, env, enqueue, accept, refused, ledger, events }: Context) => {
  const { clock, log } = env;
  const pace = createStatusPace(clock);
  /** What our last write was about. */
  let toldGeneration: number | undefined;
  const writes = createInFlightWrites({
    clock,
    limit: 1,
    onWriteDone: enqueue,
    failed: (_key, error) => log.warn('failed to write the status conditions of the DaemonSet', { error }),
  });

  const write = async (view: NativeView, conditions: DaemonSetCondition[], signal: AbortSignal) => {
    // The precondition keeps a process that was suspended here from overwriting what a later leader wrote.
    const { namespace, name, uid, resourceVersion } = view;
    const options = { type: 'strategic', subresource: 'status', fieldManager: FIELD_MANAGER } as const;
    try {
      const written = await client.patch(
        daemonSets,
        { namespace, name },
        { metadata: { uid, resourceVersion }, status: { conditions } },
        { ...options, timeoutMs: TIMEOUT_MS, signal, ...decidedOnAgain },
      );
      pace.written(false);
      toldGeneration = view.generation;
      accept(written);
    } catch (error) {
      if (signal.aborted) return 'unchanged';
      // Changed, deleted or recreated.
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
      refused(resourceVersion);
      return 'unchanged';
    }
    return 'succeeded';
  };

  /** Starts a write if these conditions differ from the present ones. Returns when to try again, epoch ms. */
  const update = (view: NativeView, states: readonly ConditionState[]): number => {
    const now = clock.now();
    const wanted = withTimes(states, view.conditions, now);
    if (wanted.every((condition) => view.conditions.some((other) => isAlike(condition, other))) || writes.has(WRITE))
      return NEVER;
    // The native controller observes a new generation at once, and a tool that reads both would mistake the end of the last
    // rollout for that of this one.
    const dueAt = pace.dueAt(false);
    if (now < dueAt && view.generation === toldGeneration) return dueAt;
    return writes.start(WRITE, (signal) => write(view, wanted, signal));
  };

  const conditionsFor = (view: NativeView, summary: Summary): ConditionState[] =>
    conditionsOnDaemonSet(ledger, summary, {
      generation: view.generation,
      rollout: view.name,
      daemonSet: { ...view, short: 'ds' },
      present: view.conditions,
    });

  return {
    /** Starts a write if the conditions have changed. Returns when to call it again, epoch ms; Infinity for never. */
    update({ view, decision: { summary } }: ManageInput<NativeView>): number {
      if (!ledger.state.target && summary.hold?.kind !== 'invalid') return NEVER;
      return update(view, conditionsFor(view, summary));
    },
    /** Says why a DaemonSet that can have no DaemonRollout is not rolled out, with the Event that would follow from its status. */
    reportInvalid(view: NativeView, errors: readonly PolicyError[]): number {
      const { summary } = decide(ledger, { kind: 'invalid', errors }, clock.now());
      const states = conditionsFor(view, summary);
      for (const { type, reason, message } of states)
        if (type === 'Stalled' && !view.conditions.some((known) => known.type === type && known.message === message))
          events.warnOnce(message, reason, 'Validate', message);
      return update(view, states);
    },
    /** Says that something about the DaemonSet cannot be computed. */
    reportError: (view: NativeView, what: string): number => update(view, errorOnDaemonSet(what, view)),
    drain: (graceMs: number): Promise<void> => writes.drain(graceMs),
  };
};
