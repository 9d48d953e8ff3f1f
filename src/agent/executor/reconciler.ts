import { type BackoffOptions, backoffMs, type Env } from '../../runtime/index.ts';
import { type DecisionStore, type Steps, StorageError } from '../decisions/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { Troubles } from '../troubles.ts';
import type { Decision, RefusalCode } from '../types.ts';
import { isTerminating, refKey, type TrackedUpdate, type UpdateTracker } from '../updates/index.ts';
import type { Mutex } from './concurrency.ts';
import type { AgentEvents } from './events.ts';
import type { Executor } from './executor.ts';
import { type LiveReads, patienceOf } from './live-reads.ts';
import { isRefusal, refuse } from './refusal.ts';
import { failureOf, isReady, type LastRefusal, PROGRESS_MS, tookSeconds } from './update-view.ts';

export interface ReconcilerOptions {
  env: Env;
  cache: Pick<PodCache, 'connected' | 'onChange'>;
  tracker: UpdateTracker;
  decisions: DecisionStore;
  executor: Executor;
  liveReads: Pick<LiveReads, 'pod'>;
  mutex: Mutex;
  events: AgentEvents;
  steps: Steps;
  /** Where updates whose next step cannot be computed are reported. */
  troubles: Pick<Troubles, 'report' | 'clear'>;
  /** Requests the images of the target if the pod's condition is for another revision. */
  refreshImages: (tracked: TrackedUpdate) => void;
  /** Called when the view of an update has changed. */
  changed: () => void;
}

/** Carries out decisions when they are due, and follows updates until the new pod is ready. */
export interface Reconciler {
  /** Reconciles everything soon. */
  trigger(): void;
  lastRefusalOf(tracked: TrackedUpdate): LastRefusal | undefined;
  /** Why the last try to reconcile the update failed; undefined if it did not. */
  problemOf(tracked: TrackedUpdate): string | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };
const FAILURE_RETRY_MS = 10_000;
/** Timers do not follow a clock that is set: a window may have opened long before they fire. */
const LONGEST_WAIT_MS = 30_000;
/** Refusals that indicate a problem and are recorded as Events. */
const WITH_EVENT: ReadonlySet<RefusalCode> = new Set([
  'Refused',
  'Unreadable',
  'Unrestricted',
  'NotOta',
  'OtherOwner',
  'NoOwner',
]);

interface Retry {
  failures: number;
  nextAt: number;
}

/** An update that could not be reconciled. */
interface Failed {
  /** What failed: something else is tried at once. */
  attempt: string;
  nextAt: number;
  /** For people; undefined for a disk that refuses, which the device's status tells. */
  problem: string | undefined;
}

interface Refused extends LastRefusal, Retry {
  /** What was attempted: another decision or target starts with a new back-off. */
  attempt: string;
}

export const createReconciler = (options: ReconcilerOptions): Reconciler => {
  const { env, cache, tracker, decisions, executor, mutex, events, steps, troubles } = options;
  const failed = new Map<string, Failed>();
  const refusals = new Map<string, Refused>();
  /** Lost writes by decision. */
  const lostWrites = new Map<number, Retry>();
  /** Decisions that the cache shows as superseded, by DaemonSet. */
  const doubts = new Map<string, Retry & { id: number }>();
  let dirty = true;
  let wake: (() => void) | undefined;
  let wasConnected = false;

  const trigger = (): void => {
    dirty = true;
    wake?.();
  };
  const nextRetry = (before: Retry | undefined): Retry => {
    const failures = (before?.failures ?? 0) + 1;
    return { failures, nextAt: env.clock.now() + backoffMs(failures, BACKOFF, env.random) };
  };
  const attemptKey = ({ record: { announced, uid } }: TrackedUpdate, decision: Decision | undefined): string =>
    `${decision?.id ?? 'deadline'} ${announced.revision} ${uid}`;

  const lastRefusalOf = (tracked: TrackedUpdate): Refused | undefined => {
    const found = refusals.get(refKey(tracked.record));
    return found?.attempt === attemptKey(tracked, decisions.current(tracked.record)) ? found : undefined;
  };

  /** Resolves writes whose response was lost, including those of an earlier process. Returns when to try again. */
  const resolveLostWrites = async (signal: AbortSignal): Promise<number> => {
    let next = Number.POSITIVE_INFINITY;
    for (const id of lostWrites.keys())
      if (!decisions.acting().some((decision) => decision.id === id)) lostWrites.delete(id);
    if (!cache.connected()) return next;
    for (const decision of decisions.acting()) {
      const before = lostWrites.get(decision.id);
      if ((before?.nextAt ?? 0) <= env.clock.now()) {
        const isResolved = await executor.resolveLostWrite(decision, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          env.log.error('failed to determine the outcome of an update: retrying', { decision: decision.id, error });
          return false;
        });
        if (isResolved) {
          lostWrites.delete(decision.id);
          continue;
        }
        lostWrites.set(decision.id, nextRetry(before));
      }
      next = Math.min(next, lostWrites.get(decision.id)?.nextAt ?? next);
    }
    return next;
  };

  /** Ends an open decision, unless it has started or was replaced meanwhile. */
  const end = async (
    decision: Decision,
    state: 'refused' | 'superseded',
    what: string,
    result: string,
  ): Promise<void> => {
    await mutex.run(async () => {
      const now = decisions.current(decision);
      if (now?.id === decision.id && now.state === 'open') await decisions.settle(decision.id, state, what, result);
    });
  };

  /**
   * Ends a superseded decision, if a live read of the pod confirms it: after a reconnect, or with a connection that died
   * unnoticed, the cache may be older than the decision. Returns when to look again.
   */
  const supersede = async (tracked: TrackedUpdate, decision: Decision, signal: AbortSignal): Promise<number> => {
    const key = refKey(decision);
    const found = doubts.get(key);
    const before = found?.id === decision.id ? found : undefined;
    if (before && before.nextAt > env.clock.now()) return before.nextAt;
    const ref = { namespace: decision.namespace, name: tracked.pod?.metadata?.name ?? '' };
    const pod = await options.liveReads.pod(ref, patienceOf('decision', env.clock.now()), signal);
    const step = isRefusal(pod) ? undefined : steps.next({ ...tracked, pod });
    if (step?.kind !== 'supersede') {
      const retry = nextRetry(before);
      doubts.set(key, { id: decision.id, ...retry });
      return retry.nextAt;
    }
    doubts.delete(key);
    await end(decision, 'superseded', 'Superseded', step.message);
    events.record(tracked.record, 'DecisionSuperseded', String(decision.id), step.message);
    return env.clock.now();
  };

  /** Follows an update in progress until the new pod is ready, or shows it as failed. Returns when to look again. */
  const followProgress = async (tracked: TrackedUpdate): Promise<number> => {
    const { record, pod } = tracked;
    const { namespace, daemonSet, updateInProgress, announced, running } = record;
    if (!updateInProgress || updateInProgress.decision.state === 'acting') return Number.POSITIVE_INFINITY;
    const { fromRevision, toRevision, decision } = updateInProgress;
    const entry = { namespace, daemonSet, who: decision.by.identity, fromRevision, toRevision };
    const isNewPod = pod !== undefined && !isTerminating(pod) && running.revision === toRevision;
    if (isNewPod && isReady(tracked)) {
      const seconds = tookSeconds(tracked);
      tracker.setUpdateInProgress(record, null);
      const result = `Pod ${pod.metadata?.name} of ${announced.revision} is ready`;
      const took = seconds === undefined ? {} : { tookSeconds: seconds };
      await decisions.note({ ...entry, what: 'Updated', result, ...took });
      return Number.POSITIVE_INFINITY;
    }
    const failure = failureOf(tracked, env.clock.now());
    if (failure && updateInProgress.failure !== failure.reason) {
      const { reason, detail } = failure;
      tracker.setUpdateInProgress(record, { ...updateInProgress, failure: reason });
      await decisions.note({ ...entry, what: 'Failed', result: `The new pod does not work: ${detail}`, reason });
    }
    const lateAt = updateInProgress.startedAt + PROGRESS_MS + 1;
    return lateAt > env.clock.now() ? lateAt : Number.POSITIVE_INFINITY;
  };

  const update = async (tracked: TrackedUpdate, why: 'owner' | 'deadline', signal: AbortSignal): Promise<void> => {
    const { record, pod } = tracked;
    const { namespace, daemonSet, announced, running } = record;
    const decision = decisions.current(record);
    const outcome = await executor.execute(
      {
        pod: { namespace, name: pod?.metadata?.name ?? '' },
        revision: announced.revision,
        waiting: 'decision',
        decide: async ({ terms }) => {
          const now = decisions.current(record);
          const isSame = now?.id === decision?.id && now?.state === decision?.state;
          if (!isSame) return refuse('Superseded', 403, 'The owner has made another decision meanwhile');
          if (why === 'owner' && now) return now;
          if (!steps.isDue(tracked, terms))
            return refuse('NotDue', 403, "The deadline was moved or removed, or is not due by the API server's clock");
          return decisions.decide({
            namespace,
            daemonSet,
            revision: announced.revision,
            choice: { choice: 'approve', when: { type: 'now' } },
            by: { identity: 'agent', via: 'agent' },
            fromRevision: running.revision || null,
          });
        },
      },
      signal,
    );
    const key = refKey(record);
    if (outcome.kind !== 'refused') {
      refusals.delete(key);
      return;
    }
    const { code, text } = outcome.refusal;
    // With a deadline, the decision was only made during the attempt.
    const attempt = attemptKey(tracked, decisions.current(record));
    const retry = nextRetry(lastRefusalOf(tracked));
    refusals.set(key, { attempt, ...retry, reason: code, message: text });
    const retryMs = Math.round(retry.nextAt - env.clock.now());
    env.log.info('an update was refused', { daemonSet: key, code, text, retryMs });
    if (WITH_EVENT.has(code)) events.record(record, 'UpdateRefused', `${attempt} ${code}`, `${text}.`);
    options.changed();
  };

  const reconcileOne = async (tracked: TrackedUpdate, signal: AbortSignal): Promise<number> => {
    const { record } = tracked;
    const decision = decisions.current(record);
    if (decision?.once && decision.state === 'open') {
      await end(decision, 'refused', 'Refused', 'The agent stopped before the update started');
      return env.clock.now();
    }
    const progress = await followProgress(tracked);
    const step = steps.next(tracked);
    const wakeAt = Math.min(progress, step.wakeAt ?? Number.POSITIVE_INFINITY);
    if (step.kind === 'supersede' && decision) return Math.min(wakeAt, await supersede(tracked, decision, signal));
    doubts.delete(refKey(record));
    if (step.kind === 'wait' && step.reason === 'ImageNotReady' && cache.connected()) options.refreshImages(tracked);
    if (step.kind !== 'act') return wakeAt;
    const lastRefusal = lastRefusalOf(tracked);
    if (lastRefusal && lastRefusal.nextAt > env.clock.now()) return Math.min(wakeAt, lastRefusal.nextAt);
    await update(tracked, step.why, signal);
    return Math.min(wakeAt, lastRefusalOf(tracked)?.nextAt ?? Number.POSITIVE_INFINITY);
  };

  const stateKey = (tracked: TrackedUpdate): string => {
    const { uid, resourceVersion } = tracked.pod?.metadata ?? {};
    return `${attemptKey(tracked, decisions.current(tracked.record))} ${uid} ${resourceVersion}`;
  };
  const failureOfAttempt = (tracked: TrackedUpdate): Failed | undefined => {
    const found = failed.get(refKey(tracked.record));
    return found?.attempt === stateKey(tracked) ? found : undefined;
  };

  /**
   * Reconciles one DaemonSet. Returns when to reconcile it again even without an event. When that fails, the others continue, and
   * it is tried again: soon, and at once for another decision or another state of the pod.
   */
  const reconcile = async (tracked: TrackedUpdate, signal: AbortSignal): Promise<number> => {
    const key = refKey(tracked.record);
    // The tracker tells when it can be computed again.
    if (tracked.problem !== undefined) return Number.POSITIVE_INFINITY;
    const before = failureOfAttempt(tracked);
    if (before && before.nextAt > env.clock.now()) return before.nextAt;
    try {
      const next = await reconcileOne(tracked, signal);
      troubles.clear('step', key);
      if (failed.delete(key)) options.changed();
      return next;
    } catch (error) {
      signal.throwIfAborted();
      // Without a decision on disk, nothing is done.
      const isDisk = error instanceof StorageError;
      if (isDisk) env.log.error('failed to reconcile an update: retrying', { daemonSet: key, error });
      const problem = isDisk ? undefined : troubles.report('step', key, error, tracked.record);
      const nextAt = env.clock.now() + FAILURE_RETRY_MS;
      failed.set(key, { attempt: stateKey(tracked), nextAt, problem });
      options.changed();
      return nextAt;
    }
  };

  const reconcileAll = async (signal: AbortSignal): Promise<number> => {
    const isConnected = cache.connected();
    if (isConnected && !wasConnected) {
      // Don't wait for the back-off of failures that the lost connection caused.
      for (const [key, { reason }] of refusals) if (reason === 'Disconnected') refusals.delete(key);
      lostWrites.clear();
    }
    wasConnected = isConnected;
    let next = await resolveLostWrites(signal);
    for (const { record } of tracker.all()) {
      signal.throwIfAborted();
      const tracked = tracker.get(record);
      if (tracked) next = Math.min(next, await reconcile(tracked, signal));
    }
    return next;
  };

  const waitUntil = async (at: number, signal: AbortSignal): Promise<void> => {
    if (dirty || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const onAbort = (): void => resolve();
    const waitMs = Math.min(at - env.clock.now(), LONGEST_WAIT_MS);
    const timer = at === Number.POSITIVE_INFINITY ? undefined : env.clock.timer(waitMs, resolve);
    signal.addEventListener('abort', onAbort, { once: true });
    await promise;
    signal.removeEventListener('abort', onAbort);
    timer?.cancel();
    wake = undefined;
  };

  return {
    trigger,
    lastRefusalOf,
    problemOf: (tracked) => failureOfAttempt(tracked)?.problem,
    async run(signal) {
      const unsubscribe = [cache.onChange(trigger), tracker.onChange(trigger), decisions.onChange(trigger)];
      while (!signal.aborted) {
        dirty = false;
        let next: number;
        try {
          next = await reconcileAll(signal);
        } catch (error) {
          if (signal.aborted) break;
          env.log.error('failed to reconcile the updates: retrying', { error });
          next = env.clock.now() + FAILURE_RETRY_MS;
        }
        await waitUntil(next, signal);
      }
      for (const off of unsubscribe) off();
    },
  };
};
