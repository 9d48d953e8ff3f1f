import type { KubeClient, KubeObject, Resource, WatchEvent, WatchOptions } from '../../kube/index.ts';
import type { Clock } from '../../runtime/index.ts';

/** Whether the API server can be reached, as far as this side knows without asking. */
export interface ApiConnection {
  /** Every watch that was begun is open, and nothing since has said that the link is dead. */
  readonly connected: boolean;
  /** A call met silence, and nothing was heard since. */
  readonly unresponsive: boolean;
  /** Since when `connected` is what it is, epoch milliseconds. */
  readonly since: number;
  /** A call was answered: whatever it said, the link is alive. */
  answered(): void;
  /** A call met silence or a broken link, though the watches may not have noticed yet. */
  unanswered(): void;
  /** The client with its watches watched. `name` tells them apart. */
  observe(name: string, client: Pick<KubeClient, 'list' | 'watch'>): Pick<KubeClient, 'list' | 'watch'>;
}

type Stream = 'down' | 'open' | 'between';

/**
 * A stream that the server ended in good order leaves the link up until the next one fails: servers end each watch every
 * few minutes.
 */
export const createApiConnection = (clock: Clock, onChange: () => void, onContact: () => void): ApiConnection => {
  const streams = new Map<string, Stream>();
  let silent = false;
  let connected = false;
  let since = clock.now();

  const update = (): void => {
    const now = !silent && streams.size > 0 && [...streams.values()].every((stream) => stream !== 'down');
    if (now === connected) return;
    connected = now;
    since = clock.now();
    onChange();
  };
  const set = (name: string, stream: Stream): void => {
    streams.set(name, stream);
    update();
  };
  const answered = (): void => {
    silent = false;
    onContact();
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
      // A watch with the initial state is open for us once that state is whole.
      if (!options.sendInitialEvents) set(name, 'open');
      answered();
    };
    try {
      for await (const event of client.watch(resource, { ...options, onOpen })) {
        answered();
        yield event;
        // Whoever reads has asked for more: the initial state is in its cache.
        if (event.type === 'BOOKMARK' && event.initialEventsEnd) set(name, 'open');
      }
      ended = true;
    } finally {
      set(name, ended && streams.get(name) === 'open' ? 'between' : 'down');
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
    unanswered() {
      silent = true;
      update();
    },
    observe(name, client) {
      streams.set(name, 'down');
      return {
        list: async (resource, options) => {
          const page = await client.list(resource, options);
          onContact();
          return page;
        },
        watch: (resource, options = {}) => follow(name, client, resource, options),
      };
    },
  };
};
