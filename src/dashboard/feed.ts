import { type Env, sleep } from '../runtime/index.ts';

export type Listener<M> = (message: M) => void;

/** A source of messages for any number of pages. */
export interface Feed<M> {
  /** Delivers the whole state, if it is known, and every change from then on. Returns the end of the subscription. */
  subscribe(listener: Listener<M>): () => void;
}

/** Who listens to one feed. `whole`: everything that is known, for who comes later; undefined for nothing yet. */
export const createSubscribers = <M extends object>(whole: () => M | undefined) => {
  const listeners = new Set<Listener<M>>();
  /** The same message for all who come before the next change: it is encoded once. */
  let latest: M | undefined;
  return {
    subscribe(listener: Listener<M>): () => void {
      listeners.add(listener);
      latest ??= whole();
      if (latest) listener(latest);
      return () => void listeners.delete(listener);
    },
    /** Something has changed; call it after `whole` shows it. */
    publish(message: M): void {
      latest = undefined;
      for (const listener of listeners) listener(message);
    },
  };
};

interface Kept<F> {
  feed: F;
  users: number;
  stop: AbortController;
  ended: Promise<void>;
}

/** A page that is loaded again, or goes from one rollout to another and back, finds its watches still open. */
const LINGER_MS = 30_000;

/** Feeds by key: each is followed once for all who look at it, and for a while after the last of them has gone. */
export const createFeeds = <F extends { run(signal: AbortSignal): Promise<void> }>({ clock }: Pick<Env, 'clock'>) => {
  const kept = new Map<string, Kept<F>>();
  const leave = async (key: string, one: Kept<F>): Promise<void> => {
    one.users -= 1;
    await sleep(clock, LINGER_MS, one.stop.signal).catch(() => undefined);
    if (one.users > 0 || kept.get(key) !== one) return;
    kept.delete(key);
    one.stop.abort();
  };
  return {
    /** The feed of this key; call `done` when it is no longer used. */
    use(key: string, create: () => F): { feed: F; done: () => void } {
      let one = kept.get(key);
      if (!one) {
        const stop = new AbortController();
        const feed = create();
        one = { feed, users: 0, stop, ended: feed.run(stop.signal) };
        kept.set(key, one);
      }
      one.users += 1;
      const mine = one;
      let isDone = false;
      return {
        feed: mine.feed,
        done() {
          if (!isDone) void leave(key, mine);
          isDone = true;
        },
      };
    },
    async close(): Promise<void> {
      const all = [...kept.values()];
      kept.clear();
      for (const { stop } of all) stop.abort();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
};
