import type { PlainRequest, PlainResponse } from '../../../embedded/index.ts';
import type { ClientOptions, WatchEvent } from '../../../src/kube/index.ts';
import {
  type Connection,
  type HttpRequest,
  type HttpResponse,
  RoundTripError,
} from '../../../src/kube/testing/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { Machine } from '../processes/machine.ts';
import { type Call, type CallFault, toCall } from './call.ts';
import type { Credentials } from './credentials.ts';
import type { KnownTexts } from './known-texts.ts';
import type { Link } from './link.ts';
import { refusalOf, responseOf, troubled } from './response.ts';
import type { ServerTrouble } from './server-faults.ts';
import type { WatchCache } from './watch-cache.ts';
import { createWatchOpener, watchNameOf } from './watches.ts';

type Connect = NonNullable<ClientOptions['connect']>;

/** What a client is given instead of sockets and files. */
export type Transport = Required<Pick<ClientOptions, 'environment' | 'readFile' | 'parse' | 'stringify' | 'connect'>>;

export interface ConnectionOptions {
  /** The API server. */
  handle: (request: PlainRequest) => Promise<PlainResponse>;
  time: Clock;
  machine: Machine;
  link: Link;
  watchCache: WatchCache;
  credentials: Credentials;
  texts: KnownTexts;
  /** Called once for each call, before it is sent. */
  faultOf: (call: Call) => CallFault | undefined;
  /** Called once for each call that reaches the server. */
  troubleOf: (call: Call) => ServerTrouble | undefined;
  observer: ConnectionObserver;
}

/** Observes the calls and watches of one process. */
export interface ConnectionObserver {
  /** The process sends a call. */
  onSend(call: Call): void;
  /** A call reaches the server. Returns what to call once it was executed, with the error if it failed. */
  onArrival(call: Call): (error: string | undefined) => void;
  /** The process receives a response; it receives an error, with the status of the response if there is one, or stops waiting. */
  onResponse(call: Call, object: unknown): void;
  onFailure(call: Call, status?: number): void;
  /** The process receives a list, as it does before a watch without a snapshot; `watch` names what it selects. */
  onListed(watch: string, plural: string, items: readonly object[]): void;
  /** A watch is opened, with a snapshot or for new events only; `watch` names what it selects. */
  onWatchOpened(watch: string, plural: string, withSnapshot: boolean): void;
  /** The watch has ended, or the process has closed it. */
  onWatchClosed(watch: string, plural: string): void;
  /** The process receives an event. */
  onWatchEvent(watch: string, plural: string, event: WatchEvent<object>): void;
}

/** Observes what a process sends and receives. */
export type ProcessObserver = Pick<
  ConnectionObserver,
  'onSend' | 'onResponse' | 'onFailure' | 'onListed' | 'onWatchOpened' | 'onWatchEvent' | 'onWatchClosed'
>;

const headersOf = (list: readonly string[]): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < list.length; index += 2) headers.set(list[index] ?? '', list[index + 1] ?? '');
  return headers;
};

/** What observers are shown of a response: of a list, only that there was one. */
const observed = ({ verb, resource }: Call, value: unknown): unknown =>
  resource && (verb === 'list' ? { kind: 'List' } : value);

const wasReset = (): RoundTripError => new RoundTripError(true, new Error('injected: the connection broke'));

/**
 * The connections of a process: its requests travel over a link, through faults, and wake the process only while its machine
 * runs. Everything above them is the client that ships.
 */
export const createConnect = (options: ConnectionOptions): Connect => {
  const { handle, time, machine, link, credentials, texts, faultOf, troubleOf, observer } = options;
  const openWatch = createWatchOpener(options);
  const stop = (ms: number): void => {
    machine.pause();
    time.timer(ms, () => machine.resume());
  };

  const send = (request: HttpRequest, authority: string | undefined, signal: AbortSignal): Promise<HttpResponse> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const call = toCall(request, texts.parse, machine.name, time.now());
      observer.onSend(call);
      const fault = faultOf(call);
      let isOver = false;
      const settle = (end: () => void): void => {
        // A caller that has given up does not receive the response.
        if (isOver) return;
        isOver = true;
        signal.removeEventListener('abort', onAbort);
        end();
      };
      const fail = (error: unknown): void => {
        observer.onFailure(call);
        reject(error);
      };
      const onAbort = (): void => settle(() => fail(signal.reason));
      signal.addEventListener('abort', onAbort, { once: true });
      const respond = (end: () => void): void =>
        void time.timer(link.travelMs(), () => link.whenUp(() => machine.deliver(() => settle(end))));
      const refuse = (response: HttpResponse): void =>
        respond(() => {
          observer.onFailure(call, response.status);
          resolve(response);
        });

      const end = (response: PlainResponse, headers: ReadonlyMap<string, string>): (() => void) => {
        if (response.is === 'stream')
          return () => {
            observer.onResponse(call, undefined);
            resolve(responseOf(200, openWatch(call, request, headers, signal), time.now()));
          };
        const { status, contentType, value } = response;
        const body = status < 300 && typeof value === 'object' ? texts.textFor(value) : response.body();
        const answer = responseOf(
          status,
          fault?.kind === 'truncate' ? body.slice(0, body.length / 2) : body,
          time.now(),
          {
            'content-type': contentType,
          },
        );
        return () => {
          if (status >= 400 || fault?.kind === 'truncate') observer.onFailure(call, status);
          else observer.onResponse(call, observed(call, value));
          if (call.verb === 'list' && call.resource && status === 200 && fault?.kind !== 'truncate') {
            // Only the list itself says which kind its items are of.
            const { apiVersion, items = [] } = value as { apiVersion?: string; items?: readonly object[] };
            const typed = items.map((item) => ({ apiVersion, ...item }));
            observer.onListed(watchNameOf(call, request), call.resource.plural, typed);
          }
          resolve(answer);
        };
      };
      const headers = headersOf(request.headers);
      const execute = async (): Promise<void> => {
        const executed = observer.onArrival(call);
        const { method, path, body } = request;
        const value = call.body ?? call.options;
        const response = await handle({ method, path, headers, signal, value, ...(body !== undefined && { body }) });
        const isError = response.is === 'text' && response.status >= 400;
        executed(isError ? (response.value as { message: string }).message : undefined);
        if (fault?.kind === 'lose-answer') return;
        if (fault?.kind === 'reset-answer') return respond(() => fail(wasReset()));
        if (fault?.kind === 'crash') return machine.kill();
        if (fault?.kind === 'stop' && fault.when === 'after') stop(fault.ms);
        respond(end(response, headers));
      };
      const arrive = (): void => {
        if (!credentials.accepts(headers.get('authorization'))) return refuse(refusalOf(401, time.now()));
        const { delayMs, refusal } = troubleOf(call) ?? { delayMs: 0 };
        const answer = (): void => (refusal ? refuse(troubled(refusal, time.now())) : void execute());
        if (delayMs > 0) time.timer(delayMs, answer);
        else answer();
      };
      const leave = (): void => {
        if (!credentials.isTrusted(authority))
          respond(() => fail(new RoundTripError(false, new Error("unable to verify the server's certificate"))));
        else if (fault?.kind === 'refuse') refuse(refusalOf(fault.status, time.now()));
        else if (fault?.kind === 'reset-request') respond(() => fail(wasReset()));
        else if (fault?.kind !== 'lose-request')
          // What was sent reaches the server even if the process dies; a cut link keeps it in the socket.
          time.timer(link.travelMs(), () => link.whenUp(arrive));
      };
      if (fault?.kind === 'crash' && fault.when === 'before') machine.kill();
      if (fault?.kind === 'stop' && fault.when === 'before') stop(fault.ms);
      // A process that is stopped here has decided already: it sends the call when it continues.
      machine.deliver(leave);
    });

  return (_env, { ca }): Connection => ({
    send: (request, signal) => send(request, ca, signal),
    drain: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  });
};
