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
  past: WatchCache;
  /** Asked when a watch begins; undefined: the API server does not lag. */
  lagging: () => StaleWatchCache | undefined;
  /** Asked once a call, before it leaves. */
  faultOf: (call: Call) => CallFault | undefined;
  observer: ConnectionObserver;
}

/** Who looks on. */
export interface ConnectionObserver {
  /** The process sends a call. */
  onSend(call: Call): void;
  /** A call reaches the server. Returns what is to hear whether it was carried out. */
  onArrival(call: Call): (error: unknown) => void;
  /** The answer to a call reaches the process; an error does, or the process waits no longer. */
  onResponse(call: Call, object: unknown): void;
  onFailure(call: Call): void;
  /** A watch is opened, with what is there or with what is new; `watch` says what is selected. */
  onWatchOpened(watch: string, plural: string, withSnapshot: boolean): void;
  /** It has ended, or its process has let it go. */
  onWatchClosed(watch: string, plural: string): void;
  /** An event reaches the process. */
  onWatchEvent(watch: string, plural: string, event: WatchEvent<object>): void;
}

/** What a process is told. */
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
  422: () => new KubeError('Invalid', 'injected: an admission plugin says no', { status: 422 }),
  429: () => new KubeError('TooManyRequests', 'injected: later', { status: 429, retryAfterSeconds: 1 }),
  500: (happened: 'no' | 'unknown') => new KubeError('InternalError', 'injected: etcd', { status: 500, happened }),
  503: (happened: 'no' | 'unknown') => new KubeError('ServiceUnavailable', 'injected', { status: 503, happened }),
} as const;
export type RefusalStatus = keyof typeof refusals;

/** A process's connection to the API server: over a link that takes time, through faults, as its machine lets it. */
export const createConnection = ({
  server,
  time,
  machine,
  link,
  past,
  lagging,
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
      // The deadline is the process's own: a paused one does not time out before it is resumed.
      const deadline = machine.clock.timer(timeoutMs ?? DEFAULT_TIMEOUT_MS, () =>
        settle(() => fail(lost(made.verb, 'Timeout'))),
      );
      const onAbort = (): void => settle(() => fail(signal?.reason));
      let isOver = false;
      const settle = (end: () => void): void => {
        // Who has given a call up does not hear its answer.
        if (isOver) return;
        isOver = true;
        deadline.cancel();
        signal?.removeEventListener('abort', onAbort);
        end();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const answer = (end: () => void): void =>
        void time.timer(link.travelMs(), () => link.whenUp(() => machine.deliver(() => settle(end))));

      const carryOut = async (): Promise<void> => {
        const told = observer.onArrival(made);
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
        told(refused);
        switch (fault?.kind) {
          case 'lose-answer':
            return;
          case 'reset-answer':
            return answer(() => fail(lost(made.verb, 'Transport')));
          case 'truncate':
            return answer(() => fail(lost(made.verb, 'Malformed')));
          case 'crash':
            return machine.kill();
          case 'stop':
            if (fault.when === 'after') stop(fault.ms);
            return answer(end);
          case 'refuse':
          case 'lose-request':
          case 'reset-request':
          case undefined:
            return answer(end);
        }
      };
      const stop = (ms: number): void => {
        machine.pause();
        time.timer(ms, () => machine.resume());
      };
      const leave = (): void => {
        if (fault?.kind === 'refuse') answer(() => fail(refusals[fault.status](isWrite(made.verb) ? 'unknown' : 'no')));
        else if (fault?.kind === 'reset-request') answer(() => fail(lost(made.verb, 'Transport')));
        else if (fault?.kind !== 'lose-request')
          // What a process has sent reaches the server, whether it lives on or not; a cut link keeps it in the socket.
          time.timer(link.travelMs(), () => link.whenUp(() => void carryOut()));
      };
      if (fault?.kind === 'crash' && fault.when === 'before') machine.kill();
      if (fault?.kind === 'stop' && fault.when === 'before') stop(fault.ms);
      // A process that is stopped here had made up its mind: it sends this when it goes on.
      machine.deliver(leave);
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
    // The server's own stream is read at once: what a slow link holds back is the link's to keep.
    const follow = async (place: WatchOptions): Promise<void> => {
      const opened = { ...place, signal: over.signal, onOpen: () => machine.deliver(() => onOpen?.()) };
      for await (const event of server.watch(resource, opened)) stream.take(event);
    };
    /** A server that lags tells what was, and goes on from there once it has caught up. */
    const followLagging = async (lag: StaleWatchCache): Promise<void> => {
      const { sendInitialEvents, ...rest } = asked;
      let from = asked.resourceVersion;
      if (sendInitialEvents) {
        if (past.isOutdated(resource, lag.version)) lag.onEffect();
        from = String(lag.version);
        for (const object of past.list(resource, asked, lag.version)) stream.take({ type: 'ADDED', object });
        stream.take({ type: 'BOOKMARK', resourceVersion: from, initialEventsEnd: true });
      } else lag.onEffect();
      await sleep(time, Math.max(0, lag.until - time.now()), over.signal);
      await follow({ ...rest, ...(from !== undefined && { resourceVersion: from }) });
    };
    const pump = async (): Promise<void> => {
      const lag = lagging();
      try {
        await (lag ? followLagging(lag) : follow(asked));
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
      over.abort(new Error('the watch is over'));
      stream.drop();
    }
  }

  return {
    server: server.server,
    get: (resource, ref, given = {}) =>
      call({ verb: 'get', resource, ref, body: undefined, options: undefined }, given, () => server.get(resource, ref)),
    list: (resource, given = {}) => {
      const { signal: _signal, timeoutMs: _timeout, ...asked } = given;
      return call({ verb: 'list', resource, ref: undefined, body: undefined, options: asked }, given, () =>
        server.list(resource, asked),
      );
    },
    create: (resource, object, given = {}) => {
      const ref = {
        name: object.metadata?.name ?? '',
        ...(object.metadata?.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
      };
      const { signal: _signal, timeoutMs: _timeout, ...asked } = given;
      return call({ verb: 'create', resource, ref, body: object, options: asked }, given, () =>
        server.create(resource, object, asked),
      );
    },
    replace: (resource, object, given = {}) => {
      const ref = {
        name: object.metadata?.name ?? '',
        ...(object.metadata?.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
      };
      const { signal: _signal, timeoutMs: _timeout, ...asked } = given;
      return call({ verb: 'update', resource, ref, body: object, options: asked }, given, () =>
        server.replace(resource, object, asked),
      );
    },
    patch: (resource, ref, body, given) => {
      const { signal: _signal, timeoutMs: _timeout, ...asked } = given;
      return call({ verb: 'patch', resource, ref, body, options: asked }, given, () =>
        server.patch(resource, ref, body, asked),
      );
    },
    delete: (resource, ref, given = {}) => {
      const { signal: _signal, timeoutMs: _timeout, ...asked } = given;
      return call({ verb: 'delete', resource, ref, body: undefined, options: asked }, given, () =>
        server.delete(resource, ref, asked),
      );
    },
    watch: (resource, given = {}) => watch(resource, given),
    raw: (path, given = {}) =>
      call({ verb: 'get', resource: undefined, ref: undefined, body: undefined, options: undefined }, given, () =>
        server.raw(path),
      ),
    close: () => Promise.resolve(),
  };
};
