import { type BackoffOptions, backoffMs } from '../../kube/index.ts';
import type { Env } from '../../runtime/index.ts';
import { type DecisionBook, type Step } from '../decisions/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { Decision } from '../types.ts';
import { type Here, isTerminating, type KnownUpdates, refKey, type Terms } from '../updates/index.ts';
import type { CarryOut } from './carry-out.ts';
import { isRefusal } from './checks.ts';
import type { Exclusive } from './exclusive.ts';
import { type Fresh, READ_MS } from './fresh.ts';
import { type RefusalCode, refuse } from './refusal.ts';
import type { Tell } from './tell.ts';
import { failureOf, isReady, PROGRESS_MS, type Setback } from './view.ts';

export interface EngineOptions {
  env: Env;
  cache: Pick<PodCache, 'connected' | 'onChange'>;
  known: KnownUpdates;
  book: DecisionBook;
  carryOut: CarryOut;
  fresh: Pick<Fresh, 'pod'>;
  exclusive: Exclusive;
  tell: Tell;
  stepOf: (here: Here) => Step;
  /** Whether these terms have this device act without its owner by now. */
  isDue: (here: Here, terms: Terms) => boolean;
  /** Has the images of the target pulled, where those of another revision were. */
  pullStale: (here: Here) => void;
  /** Something that is shown has changed. */
  changed: () => void;
}

/** Carries decisions out when their time has come, and follows what it began to its end. */
export interface Engine {
  /** Looks at everything soon. */
  kick(): void;
  setbackOf(here: Here): Setback | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 300_000 };
/** Refusals that stand for something wrong, and are told to whoever watches the fleet. */
const WORTH_AN_EVENT: ReadonlySet<RefusalCode> = new Set(['Refused', 'Unreadable', 'NotOta', 'OtherOwner', 'NoOwner']);

interface Failed extends Setback {
  /** Of what was tried: another decision or target starts anew. */
  about: string;
  failures: number;
}

export const createEngine = (options: EngineOptions): Engine => {
  const { env, cache, known, book, carryOut, exclusive, tell, stepOf } = options;
  const setbacks = new Map<string, Failed>();
  const unsettled = new Map<number, { failures: number; nextAt: number }>();
  const doubted = new Map<string, { id: number; failures: number; nextAt: number }>();
  let dirty = true;
  let wake: (() => void) | undefined;
  let wasConnected = false;

  const kick = (): void => {
    dirty = true;
    wake?.();
  };
  const aboutOf = ({ known: { announced, uid } }: Here, decision: Decision | undefined): string =>
    `${decision?.id ?? 'deadline'} ${announced.revision} ${uid}`;

  const setbackOf = (here: Here): Failed | undefined => {
    const found = setbacks.get(refKey(here.known));
    return found?.about === aboutOf(here, book.current(here.known)) ? found : undefined;
  };

  /** Acts whose answer was lost, and acts that an agent before this one began. Returns when to look again. */
  const settleAll = async (signal: AbortSignal): Promise<number> => {
    let next = Number.POSITIVE_INFINITY;
    for (const id of unsettled.keys()) if (!book.acting().some((decision) => decision.id === id)) unsettled.delete(id);
    if (!cache.connected()) return next;
    for (const decision of book.acting()) {
      const before = unsettled.get(decision.id) ?? { failures: 0, nextAt: 0 };
      if (before.nextAt <= env.clock.now()) {
        if (await carryOut.settle(decision, signal)) {
          unsettled.delete(decision.id);
          continue;
        }
        const failures = before.failures + 1;
        unsettled.set(decision.id, { failures, nextAt: env.clock.now() + backoffMs(env, failures, BACKOFF) });
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
    await exclusive.run(async () => {
      const now = book.current(decision);
      if (now?.id === decision.id && now.state === 'open') await book.settle(decision.id, state, what, result);
    });
  };

  /**
   * The end of a decision that nothing is left of, by what the pod says itself: a link that has just healed, or died
   * unnoticed, leaves a cache that is older than the decision. Returns when to look again.
   */
  const supersede = async (here: Here, decision: Decision, signal: AbortSignal): Promise<number> => {
    const key = refKey(decision);
    const found = doubted.get(key);
    const before = found?.id === decision.id ? found : { failures: 0, nextAt: 0 };
    if (before.nextAt > env.clock.now()) return before.nextAt;
    const ref = { namespace: decision.namespace, name: here.pod?.metadata?.name ?? '' };
    const pod = await options.fresh.pod(ref, env.clock.now() + READ_MS, signal);
    const step = isRefusal(pod) ? undefined : stepOf({ ...here, pod });
    if (step?.kind !== 'supersede') {
      const failures = before.failures + 1;
      const nextAt = env.clock.now() + backoffMs(env, failures, BACKOFF);
      doubted.set(key, { id: decision.id, failures, nextAt });
      return nextAt;
    }
    doubted.delete(key);
    await end(decision, 'superseded', 'Superseded', step.message);
    tell.event(here.known, 'DecisionSuperseded', String(decision.id), step.message);
    return env.clock.now();
  };

  const follow = async (here: Here): Promise<number> => {
    const { episode, announced, running } = here.known;
    if (!episode || episode.decision.state === 'acting') return Number.POSITIVE_INFINITY;
    const { namespace, daemonSet } = here.known;
    const { fromRevision, toRevision, decision } = episode;
    const entry = { namespace, daemonSet, who: decision.by.identity, fromRevision, toRevision };
    const isHere = here.pod !== undefined && !isTerminating(here.pod) && running.revision === toRevision;
    if (isHere && isReady(here)) {
      known.setEpisode(here.known, null);
      await book.note({
        ...entry,
        what: 'Updated',
        result: `Pod ${here.pod?.metadata?.name} of ${announced.revision} is ready`,
      });
      return Number.POSITIVE_INFINITY;
    }
    const failure = failureOf(here, env.clock.now());
    if (failure && episode.failure !== failure.reason) {
      known.setEpisode(here.known, { ...episode, failure: failure.reason });
      await book.note({ ...entry, what: 'Failed', result: `The new pod does not work: ${failure.detail}` });
    }
    const lateAt = episode.startedAt + PROGRESS_MS + 1;
    return lateAt > env.clock.now() ? lateAt : Number.POSITIVE_INFINITY;
  };

  const attempt = async (here: Here, why: 'owner' | 'deadline', signal: AbortSignal): Promise<void> => {
    const { known: about, pod } = here;
    const { namespace, daemonSet, announced, running } = about;
    const decision = book.current(about);
    const outcome = await carryOut.run(
      {
        pod: { namespace, name: pod?.metadata?.name ?? '' },
        revision: announced.revision,
        endsAt: env.clock.now() + READ_MS,
        decide: async ({ terms }) => {
          const now = book.current(about);
          const isSame = now?.id === decision?.id && now?.state === decision?.state;
          if (!isSame) return refuse('Superseded', 403, 'The owner has decided otherwise meanwhile');
          if (why === 'owner' && now) return now;
          if (!options.isDue(here, terms))
            return refuse(
              'NotDue',
              403,
              'The deadline was moved or taken back, or has not come by the clock of the API server',
            );
          return book.decide({
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
    const key = refKey(about);
    if (outcome.kind !== 'refused') {
      setbacks.delete(key);
      return;
    }
    const { code, text } = outcome.refusal;
    // A deadline's own decision was made on the way.
    const tried = aboutOf(here, book.current(about));
    const failures = (setbackOf(here)?.failures ?? 0) + 1;
    const nextAt = env.clock.now() + backoffMs(env, failures, BACKOFF);
    setbacks.set(key, { about: tried, failures, nextAt, reason: code, message: text });
    env.log.info('an update was not carried out', {
      daemonSet: key,
      code,
      text,
      retryMs: Math.round(nextAt - env.clock.now()),
    });
    if (WORTH_AN_EVENT.has(code)) tell.event(about, 'UpdateRefused', `${tried} ${code}`, `${text}.`);
    options.changed();
  };

  /** Looks at one DaemonSet; returns when to look again though nothing happened. */
  const look = async (here: Here, signal: AbortSignal): Promise<number> => {
    const { known: about } = here;
    const decision = book.current(about);
    if (decision?.once && decision.state === 'open') {
      await end(
        decision,
        'refused',
        'Refused',
        'It was asked for at once, and the agent was stopped before it was begun',
      );
      return env.clock.now();
    }
    const progress = await follow(here);
    const step = stepOf(here);
    const wakeAt = Math.min(progress, step.wakeAt ?? Number.POSITIVE_INFINITY);
    if (step.kind === 'supersede' && decision) return Math.min(wakeAt, await supersede(here, decision, signal));
    doubted.delete(refKey(about));
    if (step.kind === 'wait' && step.reason === 'ImageNotReady' && cache.connected()) options.pullStale(here);
    if (step.kind !== 'act') return wakeAt;
    const setback = setbackOf(here);
    if (setback && setback.nextAt > env.clock.now()) return Math.min(wakeAt, setback.nextAt);
    await attempt(here, step.why, signal);
    return Math.min(wakeAt, setbackOf(here)?.nextAt ?? Number.POSITIVE_INFINITY);
  };

  const pass = async (signal: AbortSignal): Promise<number> => {
    const isConnected = cache.connected();
    if (isConnected && !wasConnected) {
      // What the link held back need not wait any longer.
      for (const [key, { reason }] of setbacks) if (reason === 'Disconnected') setbacks.delete(key);
      unsettled.clear();
    }
    wasConnected = isConnected;
    let next = await settleAll(signal);
    for (const { known: about } of known.all()) {
      signal.throwIfAborted();
      const here = known.get(about);
      if (here) next = Math.min(next, await look(here, signal));
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
    kick,
    setbackOf,
    async run(signal) {
      const offs = [cache.onChange(kick), known.onChange(kick), book.onChange(kick)];
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
