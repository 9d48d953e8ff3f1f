import {
  isKubeError,
  type KubeClient,
  type KubeObject,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../kube/index.ts';
import type { Clock } from '../../runtime/index.ts';

/** Whether the API server is reachable, as far as the agent's own requests show. */
export interface ApiConnection {
  /** Every watch is open, and no request since then has failed to get a response. */
  readonly connected: boolean;
  /** A request got no response, and there was no response to any request since. */
  readonly unresponsive: boolean;
  /** When `connected` last changed, epoch milliseconds. */
  readonly since: number;
  /** A request got a response, of any status. */
  answered(): void;
  /** A request that was sent at `sentAt` failed. If it got no response, the watches may not have noticed yet. */
  failed(error: unknown, sentAt: number): void;
  /** Wraps the client to observe its requests. `name` identifies the watch. */
  observe(name: string, client: Pick<KubeClient, 'list' | 'watch'>): Pick<KubeClient, 'list' | 'watch'>;
}

type WatchState = 'down' | 'open' | 'between';

/** A request that was given up sooner says nothing about the link: a slow one needs this long to connect and respond. */
const SILENT_MS = 15_000;

/**
 * When the server ends a watch in good order, as it does every few minutes, the connection counts as up until the next watch
 * fails.
 */
export const createApiConnection = (clock: Clock, onChange: () => void, onContact: () => void): ApiConnection => {
  const watches = new Map<string, WatchState>();
  let silent = false;
  let contactAt = Number.NEGATIVE_INFINITY;
  let connected = false;
  let since = clock.now();

  const update = (): void => {
    const now = !silent && watches.size > 0 && [...watches.values()].every((state) => state !== 'down');
    if (now === connected) return;
    connected = now;
    since = clock.now();
    onChange();
  };
  const set = (name: string, state: WatchState): void => {
    watches.set(name, state);
    update();
  };
  const contact = (): void => {
    contactAt = clock.now();
    onContact();
  };
  const answered = (): void => {
    silent = false;
    contact();
    update();
  };

  async function* follow<T extends KubeObject>(
    name: string,
    client: Pick<KubeClient, 'watch'>,
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    let ended = false;
    const onOpen = (): void => {
      // A watch that sends the initial state counts as open once that state is complete.
      if (!options.sendInitialEvents) set(name, 'open');
      answered();
    };
    try {
      for await (const event of client.watch(resource, { ...options, onOpen })) {
        answered();
        yield event;
        // The reader asked for the next event, so the initial state is in its cache.
        if (event.type === 'BOOKMARK' && event.initialEventsEnd) set(name, 'open');
      }
      ended = true;
    } finally {
      set(name, ended && watches.get(name) === 'open' ? 'between' : 'down');
    }
  }

  return {
    get connected() {
      return connected;
    },
    get unresponsive() {
      return silent;
    },
    get since() {
      return since;
    },
    answered,
    failed(error, sentAt) {
      if (isKubeError(error) && error.status > 0) answered();
      if (!isKubeError(error, 'Transport', 'Timeout') || error.status > 0) return;
      const isSlow = error.code === 'Timeout' && clock.now() - Math.max(sentAt, contactAt) < SILENT_MS;
      if (isSlow) return;
      silent = true;
      update();
    },
    observe(name, client) {
      watches.set(name, 'down');
      return {
        list: async (resource, options) => {
          const page = await client.list(resource, options);
          contact();
          return page;
        },
        watch: (resource, options = {}) => follow(name, client, resource, options),
      };
    },
  };
};
