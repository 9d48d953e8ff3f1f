import type { Delivery, Notifier } from '../controller/index.ts';
import { createSeatQueue } from '../kube/index.ts';
import { backoffMs, type Clock, type Env, linkedController, sleep } from '../runtime/index.ts';
import type { NotificationsConfig } from './config.ts';
import type { Target } from './config-schema.ts';
import { requestFor } from './messages.ts';
import type { Post, PostResult } from './post.ts';

/** `delivered`; `failed`, and tried again; `dropped`, and given up. */
export type NotificationResult = 'delivered' | 'failed' | 'dropped';

export interface NotifierOptions {
  env: Env;
  config: () => NotificationsConfig;
  post: Post;
  userAgent: string;
  /** The clock of the world, by which receivers judge the age of a signature. */
  wallClock: Pick<Clock, 'now'>;
  onResult: (target: string, result: NotificationResult) => void;
}

interface Item {
  delivery: Delivery;
  settled: () => void;
}

/** What one target is to hear of one DaemonSet, in order. */
interface Lane {
  items: Set<Item>;
  signal: AbortSignal;
}

/** What waits in memory. More than that waits in the DaemonRollouts. */
const MAX_WAITING = 1_000;
const BACKOFF = { baseMs: 1_000, maxMs: 300_000 };
/** A receiver may ask for more than our own back-off, but not for ever. */
const MAX_RETRY_AFTER_MS = 3_600_000;
const GIVE_UP_MS = 24 * 3_600_000;
/** Requests at the same time, and those to one target. A slow target takes no seat from others. */
const SEATS = { total: 8, perGroup: 2, slowMs: 2_000 };

const hears = (target: Target, kind: string, namespace: string): boolean =>
  (target.kinds?.some((each) => each === kind) ?? true) &&
  (target.namespaces?.some((each) =>
    each.endsWith('*') ? namespace.startsWith(each.slice(0, -1)) : namespace === each,
  ) ??
    true);

/** Sends notifications, each until its target has it or a day is over. A target that fails delays no other. */
export const createNotifier = (options: NotifierOptions): Notifier & { configChanged(): void } => {
  const { env, config, post, userAgent, wallClock, onResult } = options;
  const { clock, log } = env;
  const lanes = new Map<string, Lane>();
  const seats = createSeatQueue({ clock, ...SEATS });
  let waiting = 0;
  /** The lanes that wait for their next attempt. */
  const resting = new Set<AbortController>();

  const attempt = async ({ target: name, ...delivery }: Delivery, signal: AbortSignal): Promise<PostResult> => {
    const { targets, cluster } = config();
    const target = targets.get(name);
    if (!target) return { kind: 'refused', why: 'the configuration no longer has this target' };
    const leave = await seats.acquire(name, signal);
    try {
      const said = { userAgent, now: wallClock.now() };
      return await post(requestFor(target, { ...delivery, target: name }, cluster, said), signal);
    } finally {
      leave();
    }
  };

  /** True when nothing is left to do; else when the receiver wants to be asked again. */
  const tell = async ({ delivery, settled }: Item, signal: AbortSignal): Promise<true | number> => {
    const result = await attempt(delivery, signal);
    signal.throwIfAborted();
    const { target, id, daemonSet, notification } = delivery;
    const isOld = clock.now() - Date.parse(notification.at) > GIVE_UP_MS;
    const ended = result.kind === 'delivered' ? 'delivered' : result.kind === 'refused' || isOld ? 'dropped' : 'failed';
    onResult(target, ended);
    const { namespace, name } = daemonSet;
    const fields = { target, id, kind: notification.kind, namespace, name };
    if (result.kind === 'delivered') log.info('delivered a notification', fields);
    else if (ended === 'dropped') log.error('dropped a notification', { ...fields, why: result.why });
    else log.warn('failed to deliver a notification; retrying', { ...fields, why: result.why });
    if (ended === 'failed') return result.kind === 'failed' ? (result.retryAfterMs ?? 0) : 0;
    settled();
    return true;
  };

  /** Waits for the next attempt: less, when a new configuration may have cured what failed. */
  const rest = async (delayMs: number, signal: AbortSignal): Promise<void> => {
    const { controller, unlink } = linkedController(signal);
    resting.add(controller);
    await sleep(clock, delayMs, controller.signal).catch(() => undefined);
    resting.delete(controller);
    unlink();
    signal.throwIfAborted();
  };

  const serve = async (key: string, lane: Lane): Promise<void> => {
    const { items, signal } = lane;
    let failures = 0;
    while (items.size > 0) {
      let askedMs: number | undefined;
      for (const item of items) {
        const done = await tell(item, signal);
        if (done === true) {
          items.delete(item);
          waiting -= 1;
        } else askedMs = Math.max(askedMs ?? 0, done);
      }
      failures = askedMs === undefined ? 0 : failures + 1;
      if (askedMs === undefined) continue;
      await rest(Math.max(backoffMs(failures, BACKOFF, env.random), Math.min(askedMs, MAX_RETRY_AFTER_MS)), signal);
    }
    // At once: what is added later finds no lane that is ending.
    if (lanes.get(key) === lane) lanes.delete(key);
  };

  const open = (key: string, signal: AbortSignal): Lane => {
    const lane: Lane = { items: new Set(), signal };
    lanes.set(key, lane);
    const failed = (error: unknown): void => {
      if (!signal.aborted) log.error('sending notifications failed unexpectedly', { error });
      waiting -= lane.items.size;
      if (lanes.get(key) === lane) lanes.delete(key);
    };
    // In a turn of its own: nothing is sent before the caller has noted that it is.
    void Promise.resolve()
      .then(() => serve(key, lane))
      .catch(failed);
    return lane;
  };

  return {
    terms(namespace) {
      const { targets, stragglersAfterMs } = config();
      return {
        stragglersAfterMs,
        targetsOf: (kind) =>
          [...targets.values()].filter((each) => hears(each, kind, namespace)).map((each) => each.name),
      };
    },
    send(delivery, settled, signal) {
      if (waiting >= MAX_WAITING || signal.aborted) return false;
      const key = `${delivery.target} ${delivery.daemonSet.uid}`;
      const known = lanes.get(key);
      // The lane of an earlier term of leadership ends by itself.
      const lane = known?.signal === signal ? known : open(key, signal);
      lane.items.add({ delivery, settled });
      waiting += 1;
      return true;
    },
    configChanged() {
      for (const each of resting) each.abort();
    },
  };
};
