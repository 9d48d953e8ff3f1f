import type { KubeObject, Resource } from '../../src/kube/index.ts';
import type { Clock } from '../../src/runtime/index.ts';
import type { ApiServer, Change } from '../types.ts';

/** One change as an informer delivers it. */
export interface InformerEvent<T> {
  type: Change['type'];
  object: T;
  previous: T | undefined;
}

/** Faults that can be injected into a running controller. */
export interface Controls {
  /** Stops the controller: it keeps its caches and receives no events. */
  pause(): void;
  resume(): void;
  /** Delays its watch events by this many milliseconds. Default 0. */
  lag(ms: number): void;
  /** Makes each sync take this many milliseconds. Default 0. */
  slow(ms: number): void;
}

/** A running controller. */
export interface Controller extends Controls {
  close(): void;
}

/** A controller's informers, with the controls that stop and slow it. */
export interface Informers extends Controller {
  readonly paused: boolean;
  readonly slowMs: number;
  /** Delivers the present objects as ADDED, then each change in commit order. */
  addHandler<T extends KubeObject, K>(resource: Resource<T>, handle: (event: InformerEvent<K>) => void): void;
  /** Delivers each change of any kind but Event, from now on. */
  addHandlerForAll(handle: (change: Change) => void): void;
  /** Called after `resume`. */
  onResume(handle: () => void): void;
}

interface Delayed {
  change: Change;
  dueAt: number;
}

const keyOf = ({ group, plural }: Resource): string => `${group}/${plural}`;

const NO_HANDLERS: readonly ((change: Change) => void)[] = [];

// Events are many and short-lived, and the handlers for all kinds don't need them.
const EVENTS = 'events';

/**
 * Unless delayed or paused, handlers run inside the write that caused the event: they must only record it, and act
 * later.
 */
export const createInformers = (apiServer: ApiServer, clock: Clock): Informers => {
  const handlers = new Map<string, ((change: Change) => void)[]>();
  const every: ((change: Change) => void)[] = [];
  const resumed: (() => void)[] = [];
  let delayed: Delayed[] = [];
  let paused = false;
  let lagMs = 0;
  let slowMs = 0;
  let closed = false;
  let scheduled = false;
  /** Handlers by Resource object: changes of one kind always carry the same one. */
  let known = new WeakMap<Resource, readonly ((change: Change) => void)[]>();

  const handlersOf = (resource: Resource): readonly ((change: Change) => void)[] => {
    let found = known.get(resource);
    if (!found) {
      found = handlers.get(keyOf(resource)) ?? NO_HANDLERS;
      known.set(resource, found);
    }
    return found;
  };
  const deliver = (change: Change): void => {
    for (const handle of handlersOf(change.resource)) handle(change);
    if (change.resource.plural !== EVENTS) for (const handle of every) handle(change);
  };
  const drain = (): void => {
    scheduled = false;
    if (paused || closed) return;
    let next = 0;
    for (; next < delayed.length; next += 1) {
      const one = delayed[next];
      if (!one || one.dueAt > clock.now()) break;
      deliver(one.change);
    }
    delayed = delayed.slice(next);
    schedule();
  };
  const schedule = (): void => {
    const [first] = delayed;
    if (!first || scheduled || paused) return;
    scheduled = true;
    clock.timer(first.dueAt - clock.now(), drain);
  };

  const end = apiServer.subscribe((change) => {
    const wanted = every.length > 0 && change.resource.plural !== EVENTS;
    if (!wanted && handlersOf(change.resource).length === 0) return;
    if (!paused && lagMs === 0 && delayed.length === 0) deliver(change);
    else {
      delayed.push({ change, dueAt: clock.now() + lagMs });
      schedule();
    }
  });

  return {
    get paused() {
      return paused;
    },
    get slowMs() {
      return slowMs;
    },
    addHandler<T extends KubeObject, K>(resource: Resource<T>, handle: (event: InformerEvent<K>) => void) {
      const list = handlers.get(keyOf(resource)) ?? [];
      list.push(({ type, object, previous }) =>
        handle({ type, object: object as unknown as K, previous: previous as unknown as K | undefined }),
      );
      handlers.set(keyOf(resource), list);
      known = new WeakMap();
      for (const object of apiServer.list<K>(resource)) handle({ type: 'ADDED', object, previous: undefined });
    },
    addHandlerForAll: (handle) => void every.push(handle),
    onResume: (handle) => void resumed.push(handle),
    pause() {
      paused = true;
    },
    resume() {
      if (!paused) return;
      paused = false;
      drain();
      for (const handle of resumed) handle();
    },
    lag(ms) {
      lagMs = ms;
    },
    slow(ms) {
      slowMs = ms;
    },
    close() {
      closed = true;
      end();
    },
  };
};
