import type { KubeClient } from '../kube/index.ts';
import { anySignal, type Env, sleep, untilAborted } from '../runtime/index.ts';
import { discover, nameOf } from './discovery.ts';
import type { Controller, RequiredApi } from './types.ts';

/** One small discovery document: soon enough for whoever installs the kind, nothing to the API server. */
const LOOK_MS = 5_000;
/** An API server that has just started may not know its custom kinds yet, and of several one may be behind. */
const ABSENT_LOOKS = 2;

interface Present {
  controller: Controller;
  /** Ends its acts; its caches outlive them. */
  acting: AbortController;
  caching: AbortController;
  /** Settles when its caches have ended. */
  ran: Promise<void>;
  /** Settles when its acts have. */
  led: Promise<void>;
}

/**
 * A controller that is there only while the API server serves its kind. Without the kind it keeps no cache and counts as
 * synced, for there is nothing to serve; the log says so once. When the kind is installed it begins within five seconds;
 * when it is removed, acts settle and the caches are dropped.
 */
export const gateOnDiscovery = (
  { clock, log }: Pick<Env, 'clock' | 'log'>,
  client: Pick<KubeClient, 'raw' | 'server'>,
  kind: RequiredApi,
  create: () => Controller,
): Controller => {
  let present: Present | undefined;
  /** What the log said last; undefined before the first answer of the API server. */
  let said: 'served' | 'absent' | undefined;
  let absentLooks = 0;
  let changed = Promise.withResolvers<void>();

  const set = (next: Present | undefined): void => {
    present = next;
    changed.resolve();
    changed = Promise.withResolvers();
  };

  const end = async ({ acting, caching, ran, led }: Present): Promise<void> => {
    acting.abort();
    await led;
    caching.abort();
    await ran;
    set(undefined);
  };

  /** `lost` is called when its caches end unasked. */
  const begin = (signal: AbortSignal, lost: () => void): void => {
    const controller = create();
    const caching = new AbortController();
    const ran = controller.run(anySignal(signal, caching.signal));
    const told = (): void => {
      if (!caching.signal.aborted) lost();
    };
    ran.then(told, told);
    set({ controller, acting: new AbortController(), caching, ran, led: Promise.resolve() });
  };

  const look = async (signal: AbortSignal, lost: () => void): Promise<void> => {
    const found = await discover(client, kind, signal);
    if (signal.aborted || found.kind === 'unknown') return;
    absentLooks = found.kind === 'absent' ? absentLooks + 1 : 0;
    if (present && found.kind === 'absent' && absentLooks < ABSENT_LOOKS) return;
    if (found.kind === 'absent' && said !== 'absent') log.info(found.what);
    if (found.kind === 'served' && said === 'absent') log.info(`the API server serves ${nameOf(kind)} now`);
    said = found.kind;
    if (found.kind === 'absent' && present) await end(present);
    if (found.kind === 'served' && !present) begin(signal, lost);
  };

  return {
    async run(signal) {
      const over = new AbortController();
      const stop = (): void => over.abort();
      signal.addEventListener('abort', stop, { once: true });
      try {
        while (!signal.aborted && !over.signal.aborted) {
          await look(signal, stop);
          await sleep(clock, LOOK_MS, over.signal).catch(() => undefined);
        }
      } finally {
        signal.removeEventListener('abort', stop);
        await present?.ran;
      }
    },
    async lead(signal) {
      const stopped = untilAborted(signal);
      while (!signal.aborted) {
        const { promise } = changed;
        if (present) {
          const { controller, acting } = present;
          present.led = controller.lead(anySignal(signal, acting.signal));
          await present.led;
          // Whoever runs us must hear of a controller that ends by itself.
          if (!signal.aborted && !acting.signal.aborted) return;
        }
        await Promise.race([promise, stopped]);
      }
    },
    synced: () => said !== undefined && (present === undefined || present.controller.synced()),
    rollouts: () => present?.controller.rollouts() ?? [],
  };
};
