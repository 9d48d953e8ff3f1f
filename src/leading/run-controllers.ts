import { type Env, sleep } from '../runtime/index.ts';
import type { Elect } from './election.ts';
import type { Controller } from './types.ts';

/** A part of the manager failed; the process cannot continue. */
export class ControllerError extends Error {
  /** `Ended`: a part ended or failed by itself. `NotSettled`: writes were in flight when another process could lead. */
  readonly code: 'Ended' | 'NotSettled';

  constructor(code: ControllerError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ControllerError';
    this.code = code;
  }
}

export interface RunOptions {
  env: Pick<Env, 'clock' | 'log'>;
  controllers: ReadonlyMap<string, Controller>;
  elect: Elect;
  /** How long writes may stay in flight after the lease was lost: until another process may lead. */
  settleWithinMs: number;
}

const SYNC_POLL_MS = 50;
/** A DaemonSet whose pods cannot be listed must not leave all others without a leader forever. */
const SYNC_TIMEOUT_MS = 60_000;

/**
 * Runs the caches of the controllers from the start, and the controllers while this process leads. It takes part in the
 * election once the caches have synced, or after a minute: a leader that cannot reconcile yet only blocks others.
 *
 * Unlike in controller-runtime, a lost lease does not end the process: `lead` resolves when the last in-flight write has
 * settled, so that standing by again is safe, and the caches stay warm. If writes do not settle before another process may
 * lead, this rejects with `NotSettled` immediately, and the caller must exit.
 *
 * On stop the in-flight writes settle first, then the lease is released, then the caches stop.
 */
export const runControllers = async (options: RunOptions, signal: AbortSignal): Promise<void> => {
  const { env, controllers, elect, settleWithinMs } = options;
  const { clock, log } = env;
  const stop = new AbortController();
  const caches = new AbortController();
  const notSettled = Promise.withResolvers<never>();
  // The race that it rejects may already be decided.
  notSettled.promise.catch(() => undefined);
  let failure: ControllerError | undefined;

  /** Stops everything when one part ends by itself: half a manager would look healthy. */
  const keepRunning = async (what: string, work: Promise<void>, until: AbortSignal): Promise<void> => {
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
    failure ??= new ControllerError('Ended', cause === undefined ? `${what} ended by itself` : `${what} failed`, cause);
    stop.abort();
  };

  const lead = async (leading: AbortSignal): Promise<void> => {
    log.info('leading; starting the controllers');
    const late = new AbortController();
    const onEnd = (): void => {
      if (stop.signal.aborted) return;
      log.warn('lost leadership; draining in-flight writes', { withinMs: settleWithinMs });
      sleep(clock, settleWithinMs, late.signal).then(
        () =>
          notSettled.reject(
            new ControllerError(
              'NotSettled',
              `writes were still in flight ${settleWithinMs} ms after the lease was lost`,
            ),
          ),
        () => undefined,
      );
    };
    leading.addEventListener('abort', onEnd, { once: true });
    const controlling = [...controllers].map(([name, controller]) =>
      keepRunning(`controller ${name}`, controller.lead(leading), leading),
    );
    await Promise.all(controlling);
    late.abort();
    leading.removeEventListener('abort', onEnd);
    log.info('the controllers have stopped');
  };

  const runElection = async (): Promise<void> => {
    const deadline = clock.now() + SYNC_TIMEOUT_MS;
    const synced = (): boolean => [...controllers.values()].every((controller) => controller.synced());
    while (!stop.signal.aborted && !synced() && clock.now() < deadline)
      await sleep(clock, SYNC_POLL_MS, stop.signal).catch(() => undefined);
    if (stop.signal.aborted) return;
    if (synced()) log.info('caches have synced');
    else log.warn('caches have not synced; joining the election anyway', { afterMs: SYNC_TIMEOUT_MS });
    await keepRunning('the election', elect(lead, stop.signal), stop.signal);
  };

  const onSignal = (): void => stop.abort();
  if (signal.aborted) onSignal();
  else signal.addEventListener('abort', onSignal, { once: true });
  const caching = [...controllers].map(([name, controller]) =>
    keepRunning(`the cache of controller ${name}`, controller.run(caches.signal), caches.signal),
  );
  try {
    await Promise.race([runElection(), notSettled.promise]);
  } finally {
    signal.removeEventListener('abort', onSignal);
    stop.abort();
    caches.abort();
  }
  await Promise.all(caching);
  if (failure !== undefined) throw failure;
};
