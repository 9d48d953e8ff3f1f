import type { KubeClient } from '../kube/index.ts';
import { anySignal, type Env, sleep, untilAborted } from '../runtime/index.ts';
import { discover, nameOf } from './discovery.ts';
import type { Controller, RequiredApi } from './types.ts';

/** Reads one small discovery document: soon enough after an installation, and cheap for the API server. */
const CHECK_MS = 5_000;
/** An API server that has just started, or one of several that lags, may not serve its CRDs yet. */
const ABSENT_CHECKS = 2;

interface Active<C extends Controller> {
  controller: C;
  /** Ends its leadership; the caches outlive it. */
  leading: AbortController;
  caching: AbortController;
  /** Settles when its caches have stopped. */
  ran: Promise<void>;
  /** Settles when it has stopped leading. */
  led: Promise<void>;
}

export interface GatedController<C extends Controller> extends Controller {
  /** Undefined while the API server does not serve its kind. */
  active(): C | undefined;
}

/**
 * A controller that is active only while the API server serves its kind. Without the kind it has no caches and counts as
 * synced, which is logged once. It starts within five seconds after the kind is installed; when the kind is removed,
 * in-flight writes settle and the caches are dropped.
 */
export const gateOnDiscovery = <C extends Controller>(
  { clock, log }: Pick<Env, 'clock' | 'log'>,
  client: Pick<KubeClient, 'raw' | 'server'>,
  kind: RequiredApi,
  create: () => C,
): GatedController<C> => {
  let active: Active<C> | undefined;
  /** The state logged last; undefined before the first answer of the API server. */
  let logged: 'served' | 'absent' | undefined;
  let absentChecks = 0;
  /** What keeps the API server from giving its first answer. Later, the caches say so. */
  let problem: string | undefined;
  let changed = Promise.withResolvers<void>();

  const set = (next: Active<C> | undefined): void => {
    active = next;
    changed.resolve();
    changed = Promise.withResolvers();
  };

  const stop = async ({ leading, caching, ran, led }: Active<C>): Promise<void> => {
    leading.abort();
    await led;
    caching.abort();
    await ran;
    set(undefined);
  };

  /** `lost` is called when the caches end by themselves. */
  const start = (signal: AbortSignal, lost: () => void): void => {
    const controller = create();
    const caching = new AbortController();
    const ran = controller.run(anySignal(signal, caching.signal));
    const ended = (): void => {
      if (!caching.signal.aborted) lost();
    };
    ran.then(ended, ended);
    set({ controller, leading: new AbortController(), caching, ran, led: Promise.resolve() });
  };

  const check = async (signal: AbortSignal, lost: () => void): Promise<void> => {
    const found = await discover(client, kind, signal);
    if (signal.aborted) return;
    if (found.kind === 'unknown') {
      const { what, error } = found;
      if (logged === undefined && what !== problem) log.warn(what, { error });
      problem = what;
      return;
    }
    absentChecks = found.kind === 'absent' ? absentChecks + 1 : 0;
    if (active && found.kind === 'absent' && absentChecks < ABSENT_CHECKS) return;
    if (found.kind === 'absent' && logged !== 'absent') log.info(found.what);
    if (found.kind === 'served' && logged === 'absent') log.info(`the API server now serves ${nameOf(kind)}`);
    logged = found.kind;
    if (found.kind === 'absent' && active) await stop(active);
    if (found.kind === 'served' && !active) start(signal, lost);
  };

  return {
    async run(signal) {
      const over = new AbortController();
      const endRun = (): void => over.abort();
      signal.addEventListener('abort', endRun, { once: true });
      try {
        while (!signal.aborted && !over.signal.aborted) {
          await check(signal, endRun);
          await sleep(clock, CHECK_MS, over.signal).catch(() => undefined);
        }
      } finally {
        signal.removeEventListener('abort', endRun);
        await active?.ran;
      }
    },
    async lead(signal) {
      const stopped = untilAborted(signal);
      while (!signal.aborted) {
        const { promise } = changed;
        if (active) {
          const { controller, leading } = active;
          active.led = controller.lead(anySignal(signal, leading.signal));
          await active.led;
          // A controller that ends by itself ends this one, too.
          if (!signal.aborted && !leading.signal.aborted) return;
        }
        await Promise.race([promise, stopped]);
      }
    },
    synced: () => logged !== undefined && (active === undefined || active.controller.synced()),
    active: () => active?.controller,
  };
};
