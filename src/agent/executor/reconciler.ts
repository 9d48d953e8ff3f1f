import { type BackoffOptions, backoffMs, type Env } from '../../runtime/index.ts';
import { type DecisionStore, type Step } from '../decisions/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { Decision } from '../types.ts';
import { isTerminating, refKey, type Terms, type TrackedUpdate, type UpdateTracker } from '../updates/index.ts';
import type { AgentEvents } from './events.ts';
import type { Executor } from './executor.ts';
import { type LiveReads, READ_BUDGET_MS } from './live-reads.ts';
import type { Mutex } from './mutex.ts';
import { isRefusal } from './preconditions.ts';
import { type RefusalCode, refuse } from './refusal.ts';
import { failureOf, isReady, type LastRefusal, PROGRESS_MS } from './update-view.ts';

export interface ReconcilerOptions {
  env: Env;
  cache: Pick<PodCache, 'connected' | 'onChange'>;
  tracker: UpdateTracker;
  decisions: DecisionStore;
  executor: Executor;
  liveReads: Pick<LiveReads, 'pod'>;
  mutex: Mutex;
  events: AgentEvents;
  stepOf: (tracked: TrackedUpdate) => Step;
  /** Whether these terms have this device act without its owner by now. */
  isDue: (tracked: TrackedUpdate, terms: Terms) => boolean;
  /** Has the images of the target pulled, where those of another revision were. */
  refreshImages: (tracked: TrackedUpdate) => void;
  /** Something that is shown has changed. */
  changed: () => void;
}

/** Carries decisions out when their time has come, and follows what it began to its end. */
export interface Reconciler {
  /** Looks at everything soon. */
  trigger(): void;
  lastRefusalOf(tracked: TrackedUpdate): LastRefusal | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };
/** Refusals that stand for something wrong, and are told to whoever watches the fleet. */
const WORTH_AN_EVENT: ReadonlySet<RefusalCode> = new Set(['Refused', 'Unreadable', 'NotOta', 'OtherOwner', 'NoOwner']);

interface Failed extends LastRefusal {
  /** Of what was tried: another decision or target starts anew. */
  attempt: string;
  failures: number;
}

export const createReconciler = (options: ReconcilerOptions): Reconciler => {
  const { env, cache, tracker, decisions, executor, mutex, events, stepOf } = options;
  const refusals = new Map<string, Failed>();
  const unsettled = new Map<number, { failures: number; nextAt: number }>();
  const doubted = new Map<string, { id: number; failures: number; nextAt: number }>();
  let dirty = true;
  let wake: (() => void) | undefined;
  let wasConnected = false;

  const trigger = (): void => {
    dirty = true;
    wake?.();
  };
  const attemptKey = ({ record: { announced, uid } }: TrackedUpdate, decision: Decision | undefined): string =>
    `${decision?.id ?? 'deadline'} ${announced.revision} ${uid}`;

  const lastRefusalOf = (tracked: TrackedUpdate): Failed | undefined => {
    const found = refusals.get(refKey(tracked.record));
    return found?.attempt === attemptKey(tracked, decisions.current(tracked.record)) ? found : undefined;
  };

  /** Acts whose answer was lost, and acts that an agent before this one began. Returns when to look again. */
  const settleAll = async (signal: AbortSignal): Promise<number> => {
    let next = Number.POSITIVE_INFINITY;
    for (const id of unsettled.keys())
      if (!decisions.acting().some((decision) => decision.id === id)) unsettled.delete(id);
    if (!cache.connected()) return next;
    for (const decision of decisions.acting()) {
      const before = unsettled.get(decision.id) ?? { failures: 0, nextAt: 0 };
      if (before.nextAt <= env.clock.now()) {
        if (await executor.resolveLostWrite(decision, signal)) {
          unsettled.delete(decision.id);
          continue;
        }
        const failures = before.failures + 1;
        unsettled.set(decision.id, { failures, nextAt: env.clock.now() + backoffMs(failures, BACKOFF, env.random) });
      }
      next = Math.min(next, unsettled.get(decision.id)?.nextAt ?? next);
    }
    return next;
  };

  /** Ends an open decision, unless it was taken up or replaced meanwhile. */
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
   * The end of a decision that nothing is left of, by what the pod says itself: a link that has just healed, or died
   * unnoticed, leaves a cache that is older than the decision. Returns when to look again.
   */
  const supersede = async (tracked: TrackedUpdate, decision: Decision, signal: AbortSignal): Promise<number> => {
    const key = refKey(decision);
    const found = doubted.get(key);
    const before = found?.id === decision.id ? found : { failures: 0, nextAt: 0 };
    if (before.nextAt > env.clock.now()) return before.nextAt;
    const ref = { namespace: decision.namespace, name: tracked.pod?.metadata?.name ?? '' };
    const pod = await options.liveReads.pod(ref, env.clock.now() + READ_BUDGET_MS, signal);
    const step = isRefusal(pod) ? undefined : stepOf({ ...tracked, pod });
    if (step?.kind !== 'supersede') {
      const failures = before.failures + 1;
      const nextAt = env.clock.now() + backoffMs(failures, BACKOFF, env.random);
      doubted.set(key, { id: decision.id, failures, nextAt });
      return nextAt;
    }
    doubted.delete(key);
    await end(decision, 'superseded', 'Superseded', step.message);
    events.record(tracked.record, 'DecisionSuperseded', String(decision.id), step.message);
    return env.clock.now();
  };

  const follow = async (tracked: TrackedUpdate): Promise<number> => {
    const { episode, announced, running } = tracked.record;
    if (!episode || episode.decision.state === 'acting') return Number.POSITIVE_INFINITY;
    const { namespace, daemonSet } = tracked.record;
    const { fromRevision, toRevision, decision } = episode;
    const entry = { namespace, daemonSet, who: decision.by.identity, fromRevision, toRevision };
    const isHere = tracked.pod !== undefined && !isTerminating(tracked.pod) && running.revision === toRevision;
    if (isHere && isReady(tracked)) {
      tracker.setEpisode(tracked.record, null);
      await decisions.note({
        ...entry,
        what: 'Updated',
        result: `Pod ${tracked.pod?.metadata?.name} of ${announced.revision} is ready`,
      });
      return Number.POSITIVE_INFINITY;
    }
    const failure = failureOf(tracked, env.clock.now());
    if (failure && episode.failure !== failure.reason) {
      tracker.setEpisode(tracked.record, { ...episode, failure: failure.reason });
      await decisions.note({ ...entry, what: 'Failed', result: `The new pod does not work: ${failure.detail}` });
    }
    const lateAt = episode.startedAt + PROGRESS_MS + 1;
    return lateAt > env.clock.now() ? lateAt : Number.POSITIVE_INFINITY;
  };

  const attempt = async (tracked: TrackedUpdate, why: 'owner' | 'deadline', signal: AbortSignal): Promise<void> => {
    const { record, pod } = tracked;
    const { namespace, daemonSet, announced, running } = record;
    const decision = decisions.current(record);
    const outcome = await executor.execute(
      {
        pod: { namespace, name: pod?.metadata?.name ?? '' },
        revision: announced.revision,
        endsAt: env.clock.now() + READ_BUDGET_MS,
        decide: async ({ terms }) => {
          const now = decisions.current(record);
          const isSame = now?.id === decision?.id && now?.state === decision?.state;
          if (!isSame) return refuse('Superseded', 403, 'The owner has decided otherwise meanwhile');
          if (why === 'owner' && now) return now;
          if (!options.isDue(tracked, terms))
            return refuse(
              'NotDue',
              403,
              'The deadline was moved or taken back, or has not come by the clock of the API server',
            );
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
    // A deadline's own decision was made on the way.
    const tried = attemptKey(tracked, decisions.current(record));
    const failures = (lastRefusalOf(tracked)?.failures ?? 0) + 1;
    const nextAt = env.clock.now() + backoffMs(failures, BACKOFF, env.random);
    refusals.set(key, { attempt: tried, failures, nextAt, reason: code, message: text });
    env.log.info('an update was not carried out', {
      daemonSet: key,
      code,
      text,
      retryMs: Math.round(nextAt - env.clock.now()),
    });
    if (WORTH_AN_EVENT.has(code)) events.record(record, 'UpdateRefused', `${tried} ${code}`, `${text}.`);
    options.changed();
  };

  /** Looks at one DaemonSet; returns when to look again though nothing happened. */
  const look = async (tracked: TrackedUpdate, signal: AbortSignal): Promise<number> => {
    const { record } = tracked;
    const decision = decisions.current(record);
    if (decision?.once && decision.state === 'open') {
      await end(
        decision,
        'refused',
        'Refused',
        'It was asked for at once, and the agent was stopped before it was begun',
      );
      return env.clock.now();
    }
    const progress = await follow(tracked);
    const step = stepOf(tracked);
    const wakeAt = Math.min(progress, step.wakeAt ?? Number.POSITIVE_INFINITY);
    if (step.kind === 'supersede' && decision) return Math.min(wakeAt, await supersede(tracked, decision, signal));
    doubted.delete(refKey(record));
    if (step.kind === 'wait' && step.reason === 'ImageNotReady' && cache.connected()) options.refreshImages(tracked);
    if (step.kind !== 'act') return wakeAt;
    const lastRefusal = lastRefusalOf(tracked);
    if (lastRefusal && lastRefusal.nextAt > env.clock.now()) return Math.min(wakeAt, lastRefusal.nextAt);
    await attempt(tracked, step.why, signal);
    return Math.min(wakeAt, lastRefusalOf(tracked)?.nextAt ?? Number.POSITIVE_INFINITY);
  };

  const pass = async (signal: AbortSignal): Promise<number> => {
    const isConnected = cache.connected();
    if (isConnected && !wasConnected) {
      // What the link held back need not wait any longer.
      for (const [key, { reason }] of refusals) if (reason === 'Disconnected') refusals.delete(key);
      unsettled.clear();
    }
    wasConnected = isConnected;
    let next = await settleAll(signal);
    for (const { record } of tracker.all()) {
      signal.throwIfAborted();
      const tracked = tracker.get(record);
      if (tracked) next = Math.min(next, await look(tracked, signal));
    }
    return next;
  };

  const waitUntil = async (at: number, signal: AbortSignal): Promise<void> => {
    if (dirty || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stir = (): void => resolve();
    wake = stir;
    const timer = at === Number.POSITIVE_INFINITY ? undefined : env.clock.timer(at - env.clock.now(), stir);
    signal.addEventListener('abort', stir, { once: true });
    await promise;
    signal.removeEventListener('abort', stir);
    timer?.cancel();
    wake = undefined;
  };

  return {
    trigger,
    lastRefusalOf,
    async run(signal) {
      const offs = [cache.onChange(trigger), tracker.onChange(trigger), decisions.onChange(trigger)];
      while (!signal.aborted) {
        dirty = false;
        let next: number;
        try {
          next = await pass(signal);
        } catch (error) {
          if (signal.aborted) break;
          // A full disk, most likely: nothing is done without a decision on it.
          env.log.error('what waits could not be looked at', { error });
          next = env.clock.now() + BACKOFF.baseMs * 10;
          dirty = false;
        }
        await waitUntil(next, signal);
      }
      for (const off of offs) off();
    },
  };
};
