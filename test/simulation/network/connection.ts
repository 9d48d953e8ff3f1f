import {
  type CallOptions,
  type KubeClient,
  KubeError,
  type KubeObject,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../../src/kube/index.ts';
import { type Clock, sleep } from '../../../src/runtime/index.ts';
import type { Machine } from '../processes/machine.ts';
import type { Call, CallFault, Verb } from './call.ts';
import type { Link } from './link.ts';
import type { StaleWatchCache, WatchCache } from './watch-cache.ts';

export interface ConnectionOptions {
  /** The API server's own client: a call is a function call. */
  server: KubeClient;
  time: Clock;
  machine: Machine;
  link: Link;
  watchCache: WatchCache;
  /** Called once for each call, before it is sent. */
  faultOf: (call: Call) => CallFault | undefined;
  observer: ConnectionObserver;
}

/** Observes the calls and watches of one process. */
export interface ConnectionObserver {
  /** The process sends a call. */
  onSend(call: Call): void;
  /** A call reaches the server. Returns what to call once it was executed, with the error if it failed. */
  onArrival(call: Call): (error: unknown) => void;
  /** The process receives a response; it receives an error, or stops waiting. */
  onResponse(call: Call, object: unknown): void;
  onFailure(call: Call): void;
  /** A watch is opened, with a snapshot or for new events only; `watch` names what it selects. */
  onWatchOpened(watch: string, plural: string, withSnapshot: boolean): void;
  /** The watch has ended, or the process has closed it. */
  onWatchClosed(watch: string, plural: string): void;
  /** The process receives an event. */
  onWatchEvent(watch: string, plural: string, event: WatchEvent<object>): void;
}

/** Observes what a process receives. */
export type ProcessObserver = Pick<
  ConnectionObserver,
  'onResponse' | 'onFailure' | 'onWatchOpened' | 'onWatchEvent' | 'onWatchClosed'
>;

const DEFAULT_TIMEOUT_MS = 30_000;

const isWrite = (verb: Verb): boolean => verb !== 'get' && verb !== 'list';

const losses = {
  Timeout: 'timed out',
  Transport: 'the connection broke',
  Malformed: 'the response is not a JSON object',
} as const;
const lost = (verb: Verb, code: keyof typeof losses): KubeError =>
  new KubeError(code, `${verb}: ${losses[code]}`, { happened: isWrite(verb) ? 'unknown' : 'no' });

const refusals = {
  409: () => new KubeError('Conflict', 'injected: the object has been modified', { status: 409 }),
  410: () => new KubeError('Gone', 'injected: too old resource version', { status: 410 }),
  422: () => new KubeError('Invalid', 'injected: denied by an admission plugin', { status: 422 }),
  429: () => new KubeError('TooManyRequests', 'injected: later', { status: 429, retryAfterSeconds: 1 }),
  500: (happened: 'no' | 'unknown') => new KubeError('InternalError', 'injected: etcd', { status: 500, happened }),
  503: (happened: 'no' | 'unknown') => new KubeError('ServiceUnavailable', 'injected', { status: 503, happened }),
} as const;
export type RefusalStatus = keyof typeof refusals;

/** The client of a process: its calls travel over a link, through faults, and wake the process only while its machine runs. */
export const createConnection = ({
  server,
  time,
  machine,
  link,
  watchCache,
  faultOf,
  observer,
}: ConnectionOptions): KubeClient => {
  const call = <R>(facts: Omit<Call, 'process' | 'at'>, { signal, timeoutMs }: CallOptions, act: () => Promise<R>) =>
    new Promise<R>((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const made: Call = { ...facts, process: machine.name, at: time.now() };
      observer.onSend(made);
      const fail = (error: unknown): void => {
        observer.onFailure(made);
        reject(error);
      };
      const fault = faultOf(made);
      // The timeout runs on the process's clock: a paused process does not time out before it is resumed.
      const deadline = machine.clock.timer(timeoutMs ?? DEFAULT_TIMEOUT_MS, () =>
        settle(() => fail(lost(made.verb, 'Timeout'))),
      );
      const onAbort = (): void => settle(() => fail(signal?.reason));
      let isOver = false;
      const settle = (end: () => void): void => {
        // A caller that has given up does not receive the response.
        if (isOver) return;
        isOver = true;
        deadline.cancel();
        signal?.removeEventListener('abort', onAbort);
        end();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const respond = (end: () => void): void =>
        void time.timer(link.travelMs(), () => link.whenUp(() => machine.deliver(() => settle(end))));

      const execute = async (): Promise<void> => {
        const executed = observer.onArrival(made);
        let end: () => void;
        let refused: unknown;
        try {
          const result = await act();
          end = () => {
            observer.onResponse(made, result);
            resolve(result);
          };
        } catch (error) {
          refused = error;
          end = () => fail(error);
        }
        executed(refused);
        switch (fault?.kind) {
          case 'lose-answer':
            return;
          case 'reset-answer':
            return respond(() => fail(lost(made.verb, 'Transport')));
          case 'truncate':
            return respond(() => fail(lost(made.verb, 'Malformed')));
          case 'crash':
            return machine.kill();
          case 'stop':
            if (fault.when === 'after') stop(fault.ms);
            return respond(end);
          case 'refuse':
          case 'lose-request':
          case 'reset-request':
          case undefined:
            return respond(end);
        }
      };
      const stop = (ms: number): void => {
        machine.pause();
        time.timer(ms, () => machine.resume());
      };
      const send = (): void => {
        if (fault?.kind === 'refuse')
          respond(() => fail(refusals[fault.status](isWrite(made.verb) ? 'unknown' : 'no')));
        else if (fault?.kind === 'reset-request') respond(() => fail(lost(made.verb, 'Transport')));
        else if (fault?.kind !== 'lose-request')
          // What was sent reaches the server even if the process dies; a cut link keeps it in the socket.
          time.timer(link.travelMs(), () => link.whenUp(() => void execute()));
      };
      if (fault?.kind === 'crash' && fault.when === 'before') machine.kill();
      if (fault?.kind === 'stop' && fault.when === 'before') stop(fault.ms);
      // A process that is stopped here has decided already: it sends the call when it continues.
      machine.deliver(send);
    });

  async function* watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const { signal, onOpen, ...asked } = options;
    signal?.throwIfAborted();
    await call(
      { verb: 'get', resource, ref: undefined, body: undefined, options: undefined },
      { ...(signal && { signal }) },
      () => Promise.resolve(),
    );
    const over = new AbortController();
    const name = `${resource.plural}?${options.labelSelector ?? ''}&${options.namespace ?? ''}`;
    observer.onWatchOpened(name, resource.plural, options.sendInitialEvents === true);
    const queue: WatchEvent<T>[] = [];
    let ended: { error: unknown } | 'ended' | undefined;
    let wake: (() => void) | undefined;
    const stir = (): void => {
      wake?.();
      wake = undefined;
    };
    const finish = (how: NonNullable<typeof ended>): void => {
      ended ??= how;
      stir();
    };
    const onAbort = (): void => finish({ error: signal?.reason });
    signal?.addEventListener('abort', onAbort, { once: true });
    const stream = link.stream(resource.plural, !options.sendInitialEvents, {
      push: (event: unknown) =>
        machine.deliver(() => {
          observer.onWatchEvent(name, resource.plural, event as WatchEvent<object>);
          queue.push(event as WatchEvent<T>);
          stir();
        }),
      fail: (error: KubeError) => machine.deliver(() => finish({ error })),
      close: () => machine.deliver(() => finish('ended')),
    });
    // The server's stream is read immediately: the link holds back what is slow.
    const follow = async (place: WatchOptions): Promise<void> => {
      const opened = { ...place, signal: over.signal, onOpen: () => machine.deliver(() => onOpen?.()) };
      for await (const event of server.watch(resource, opened)) stream.take(event);
    };
    /** A server that is behind serves an older state, and continues from there once it has caught up. */
    const followStale = async (stale: StaleWatchCache): Promise<void> => {
      const { sendInitialEvents, ...rest } = asked;
      let from = asked.resourceVersion;
      if (sendInitialEvents) {
        if (watchCache.isOutdated(resource, stale.version)) stale.onEffect();
        from = String(stale.version);
        for (const object of watchCache.list(resource, asked, stale.version)) stream.take({ type: 'ADDED', object });
        stream.take({ type: 'BOOKMARK', resourceVersion: from, initialEventsEnd: true });
      } else stale.onEffect();
      await sleep(time, Math.max(0, stale.until - time.now()), over.signal);
      await follow({ ...rest, ...(from !== undefined && { resourceVersion: from }) });
    };
    const pump = async (): Promise<void> => {
      const stale = watchCache.stale();
      try {
        await (stale ? followStale(stale) : follow(asked));
        stream.end(undefined);
      } catch (error) {
        if (!over.signal.aborted) stream.end(error);
      }
    };
    void pump();
    try {
      for (;;) {
        const event = queue.shift();
        if (event) {
          yield event;
          continue;
        }
        if (ended === 'ended') return;
        if (ended) throw ended.error;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      observer.onWatchClosed(name, resource.plural);
      over.abort(new Error('the watch is closed'));
      stream.drop();
    }
  }

  const refOf = ({ metadata }: KubeObject) => ({
    name: metadata?.name ?? '',
    ...(metadata?.namespace === undefined ? {} : { namespace: metadata.namespace }),
  });
  /** Signal and timeout are handled here; the rest goes to the server. */
  const split = <O extends CallOptions>(options: O): [CallOptions, Omit<O, keyof CallOptions>] => {
    const { signal, timeoutMs, ...rest } = options;
    return [{ ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) }, rest];
  };
  const none = { ref: undefined, body: undefined, options: undefined };

  return {
    server: server.server,
    get: (resource, ref, options = {}) =>
      call({ ...none, verb: 'get', resource, ref }, options, () => server.get(resource, ref)),
    list: (resource, options = {}) => {
      const [own, rest] = split(options);
      return call({ ...none, verb: 'list', resource, options: rest }, own, () => server.list(resource, rest));
    },
    create: (resource, object, options = {}) => {
      const [own, rest] = split(options);
      return call({ verb: 'create', resource, ref: refOf(object), body: object, options: rest }, own, () =>
        server.create(resource, object, rest),
      );
    },
    replace: (resource, object, options = {}) => {
      const [own, rest] = split(options);
      return call({ verb: 'update', resource, ref: refOf(object), body: object, options: rest }, own, () =>
        server.replace(resource, object, rest),
      );
    },
    patch: (resource, ref, body, options) => {
      const [own, rest] = split(options);
      return call({ verb: 'patch', resource, ref, body, options: rest }, own, () =>
        server.patch(resource, ref, body, rest),
      );
    },
    delete: (resource, ref, options = {}) => {
      const [own, rest] = split(options);
      return call({ ...none, verb: 'delete', resource, ref, options: rest }, own, () =>
        server.delete(resource, ref, rest),
      );
    },
    watch: (resource, options = {}) => watch(resource, options),
    raw: (path, options = {}) => call({ ...none, verb: 'get', resource: undefined }, options, () => server.raw(path)),
    close: () => Promise.resolve(),
  };
};
