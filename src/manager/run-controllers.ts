import { type Env, sleep } from '../runtime/index.ts';
import type { Controller } from './types.ts';

/**
 * Calls `lead` whenever this process is the leader: its signal aborts when the lease is lost or `signal` aborts. Keeps
 * the lease until `lead` has settled, then gives it up. Resolves after `signal` has aborted and all of that is done.
 */
export type Elect = (lead: (leading: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>;

/** One process without an election: it leads from the start to the end. */
export const withoutElection: Elect = (lead, signal) => lead(signal);

/** A part of the manager did what it must never do; the process cannot go on. */
export class LifecycleError extends Error {
  /** `Ended`: a part ended or failed by itself. `NotSettled`: acts were still in the air when another might lead. */
  readonly code: 'Ended' | 'NotSettled';

  constructor(code: LifecycleError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LifecycleError';
    this.code = code;
  }
}

export interface LifecycleOptions {
  env: Pick<Env, 'clock' | 'log'>;
  controllers: ReadonlyMap<string, Controller>;
  elect: Elect;
  /** How long acts may take to settle after the lease was lost: until another process may lead. */
  settleWithinMs: number;
}

const SYNC_POLL_MS = 50;
/** One DaemonSet whose pods cannot be listed must not keep all others without a leader for ever. */
const SYNC_PATIENCE_MS = 60_000;

/**
 * Runs the controllers' caches from the start and lets them act while this process leads. It stands for election once
 * the caches are filled, or after a minute: a lease in the hands of a process that cannot act yet only keeps others
 * from acting.
 *
 * A lost lease does not end the process, as it does in controller-runtime: `lead` says when the last act has settled,
 * so that standing by again is safe, and the caches stay warm. Should it not settle before another process may lead,
 * this rejects with `NotSettled` without waiting further, and the caller must end the process.
 *
 * On stop the controllers settle first, then the lease is released, then the caches end.
 */
export const runControllers = async (options: LifecycleOptions, signal: AbortSignal): Promise<void> => {
  const { env, controllers, elect, settleWithinMs } = options;
  const { clock, log } = env;
  const stop = new AbortController();
  const caches = new AbortController();
  const notSettled = Promise.withResolvers<never>();
  // It rejects in a race that may be over by then.
  notSettled.promise.catch(() => undefined);
  let failure: LifecycleError | undefined;

  /** A part that ends unasked takes the others down: half a manager looks like a whole one. */
  const mustLast = async (what: string, work: Promise<void>, until: AbortSignal): Promise<void> => {
    let cause: unknown;
    try {
      await work;
      if (until.aborted) return;
    } catch (error) {
      if (until.aborted) {
        log.warn(`${what} failed while stopping`, { error });
        return;
      }
      cause = error;
    }
    failure ??= new LifecycleError('Ended', cause === undefined ? `${what} ended by itself` : `${what} failed`, cause);
    stop.abort();
  };

  const lead = async (leading: AbortSignal): Promise<void> => {
    log.info('leading: the controllers act');
    const late = new AbortController();
    const onEnd = (): void => {
      if (stop.signal.aborted) return;
      log.warn('leading no more: acts in the air settle', { withinMs: settleWithinMs });
      sleep(clock, settleWithinMs, late.signal).then(
        () =>
          notSettled.reject(
            new LifecycleError('NotSettled', `acts were in the air ${settleWithinMs} ms after the lease was lost`),
          ),
        () => undefined,
      );
    };
    leading.addEventListener('abort', onEnd, { once: true });
    const acting = [...controllers].map(([name, controller]) =>
      mustLast(`controller ${name}`, controller.lead(leading), leading),
    );
    await Promise.all(acting);
    late.abort();
    leading.removeEventListener('abort', onEnd);
    log.info('the controllers have settled');
  };

  const standForElection = async (): Promise<void> => {
    const giveUpAt = clock.now() + SYNC_PATIENCE_MS;
    const synced = (): boolean => [...controllers.values()].every((controller) => controller.synced());
    while (!stop.signal.aborted && !synced() && clock.now() < giveUpAt)
      await sleep(clock, SYNC_POLL_MS, stop.signal).catch(() => undefined);
    if (stop.signal.aborted) return;
    if (synced()) log.info('caches are filled');
    else log.warn('caches are not filled, standing for election nevertheless', { afterMs: SYNC_PATIENCE_MS });
    await mustLast('the election', elect(lead, stop.signal), stop.signal);
  };

  const onSignal = (): void => stop.abort();
  if (signal.aborted) onSignal();
  else signal.addEventListener('abort', onSignal, { once: true });
  const caching = [...controllers].map(([name, controller]) =>
    mustLast(`the cache of controller ${name}`, controller.run(caches.signal), caches.signal),
  );
  try {
    await Promise.race([standForElection(), notSettled.promise]);
  } finally {
    signal.removeEventListener('abort', onSignal);
    stop.abort();
    caches.abort();
  }
  await Promise.all(caching);
  if (failure !== undefined) throw failure;
};
