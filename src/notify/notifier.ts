import type { Delivery, Notifier } from '../controller/index.ts';
import { backoffMs, type Clock, createPace, type Env, type Pace, type Timer } from '../runtime/index.ts';
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
  signal: AbortSignal;
  onAbort: () => void;
}

/** How often it has failed in a row, and when it may be tried again. */
interface Rest {
  failures: number;
  until: number;
}

/** What one target is to hear of one namespace. What it is to hear of one DaemonSet is in order. */
interface Lane extends Rest {
  items: Set<Item>;
}

/**
 * What one target is to hear, by namespace, one after the other. The namespaces take turns: neither many notifications nor
 * one that the receiver can't take keep it from hearing of the others.
 */
interface Line extends Rest {
  lanes: Map<string, Lane>;
  pace: Pace;
  busy: boolean;
  timer?: Timer;
}

/** What waits in memory for one target in one namespace. More than that waits in the DaemonRollouts. */
const MAX_WAITING = 1_000;
const BACKOFF = { baseMs: 1_000, maxMs: 300_000 };
/** A target gets ten requests a second, and twenty ahead of that after a rest. */
const PACE = { intervalMs: 100, mostEarly: 20 };
/** A receiver may ask for more than our own back-off, but not for ever. */
const MAX_RETRY_AFTER_MS = 3_600_000;
const GIVE_UP_MS = 24 * 3_600_000;

const hears = (target: Target, kind: string, namespace: string): boolean =>
  (target.kinds?.some((each) => each === kind) ?? true) &&
  (target.namespaces?.some((each) =>
    each.endsWith('*') ? namespace.startsWith(each.slice(0, -1)) : namespace === each,
  ) ??
    true);

/** Sends notifications, each until its target has it or a day has ended. A target that fails delays no other. */
export const createNotifier = (options: NotifierOptions): Notifier & { configChanged(): void } => {
  const { env, config, post, userAgent, wallClock, onResult } = options;
  const { clock, log } = env;
  /** By target. */
  const lines = new Map<string, Line>();

  const attempt = async ({ delivery, signal }: Item): Promise<PostResult> => {
    const { targets, cluster } = config();
    const target = targets.get(delivery.target);
    if (!target) return { kind: 'refused', why: 'the configuration no longer has this target' };
    const said = { userAgent, now: wallClock.now() };
    return post(requestFor(target, delivery, cluster, said), signal);
  };

  const say = ({ delivery }: Item, result: NotificationResult, why?: string): void => {
    const { target, id, daemonSet, notification } = delivery;
    onResult(target, result);
    const fields = { target, id, kind: notification.kind, namespace: daemonSet.namespace, name: daemonSet.name };
    if (result === 'delivered') log.info('delivered a notification', fields);
    else if (result === 'dropped') log.error('dropped a notification', { ...fields, why });
    else log.warn('failed to deliver a notification; retrying', { ...fields, why });
  };

  /** False if it is out already. */
  const takeOut = (line: Line, item: Item): boolean => {
    const { namespace } = item.delivery.daemonSet;
    const items = line.lanes.get(namespace)?.items;
    const wasIn = items?.delete(item) ?? false;
    if (items?.size === 0) line.lanes.delete(namespace);
    item.signal.removeEventListener('abort', item.onAbort);
    return wasIn;
  };

  const end = (line: Line, item: Item, result: 'delivered' | 'dropped', why?: string): void => {
    if (!takeOut(line, item)) return;
    say(item, result, why);
    item.settled();
  };

  const failed = (rest: Rest, askedMs = 0): void => {
    rest.failures += 1;
    const ownMs = backoffMs(rest.failures, BACKOFF, env.random);
    rest.until = clock.now() + Math.max(ownMs, Math.min(askedMs, MAX_RETRY_AFTER_MS));
  };

  const tell = async (line: Line, lane: Lane, item: Item): Promise<void> => {
    const result = await attempt(item).catch((error: unknown): PostResult => {
      log.error('sending a notification failed unexpectedly', { error });
      return { kind: 'failed', why: 'an unexpected error' };
    });
    if (item.signal.aborted) return;
    line.pace.done();
    if (result.kind !== 'failed') {
      line.failures = 0;
      lane.failures = 0;
      if (result.kind === 'delivered') end(line, item, 'delivered');
      else end(line, item, 'dropped', result.why);
      return;
    }
    failed(line, result.retryAfterMs);
    failed(lane);
    // While one is tried at a time, the others grow old as well.
    for (const { items } of line.lanes.values())
      for (const old of items)
        if (clock.now() - Date.parse(old.delivery.notification.at) > GIVE_UP_MS) end(line, old, 'dropped', result.why);
    if (!lane.items.has(item)) return;
    say(item, 'failed', result.why);
    // Other DaemonSets of the namespace come first, as it may be this one that the receiver can't take.
    for (const own of [...lane.items].filter((each) => each.delivery.daemonSet.uid === item.delivery.daemonSet.uid)) {
      lane.items.delete(own);
      lane.items.add(own);
    }
  };

  const serveNext = (line: Line): void => {
    const { lanes, pace } = line;
    line.timer?.cancel();
    if (line.busy || lanes.size === 0) return;
    const now = clock.now();
    const mayAt = Math.max(line.until, pace.nextAt());
    const at = mayAt > now ? mayAt : Math.min(...lanes.values().map(({ until }) => until));
    if (at > now) {
      line.timer = clock.timer(at - now, () => serveNext(line));
      return;
    }
    for (const [namespace, lane] of lanes) {
      const [item] = lane.items;
      if (!item || lane.until > now) continue;
      lanes.delete(namespace);
      lanes.set(namespace, lane);
      line.busy = true;
      void tell(line, lane, item).finally(() => {
        line.busy = false;
        serveNext(line);
      });
      return;
    }
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
      if (signal.aborted) return undefined;
      const { target, daemonSet } = delivery;
      const pace = createPace(clock, PACE.intervalMs, PACE.mostEarly);
      const line: Line = lines.get(target) ?? { lanes: new Map(), failures: 0, until: 0, pace, busy: false };
      lines.set(target, line);
      const lane: Lane = line.lanes.get(daemonSet.namespace) ?? { items: new Set(), failures: 0, until: 0 };
      if (lane.items.size >= MAX_WAITING) return undefined;
      line.lanes.set(daemonSet.namespace, lane);
      const onAbort = (): void => {
        takeOut(line, item);
        serveNext(line);
      };
      const item: Item = { delivery, settled, signal, onAbort };
      signal.addEventListener('abort', onAbort);
      lane.items.add(item);
      serveNext(line);
      return (why) => end(line, item, 'dropped', why);
    },
    configChanged() {
      for (const line of lines.values()) {
        for (const rest of [line, ...line.lanes.values()]) rest.until = 0;
        serveNext(line);
      }
    },
  };
};
