import type { PlainResponse } from '../../../embedded/index.ts';
import type { ClientOptions } from '../../../src/kube/index.ts';
import {
  type Connection,
  type HttpRequest,
  type HttpResponse,
  RoundTripError,
} from '../../../src/kube/testing/index.ts';
import { type Call, toCall } from './call.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { refusalOf, responseOf, troubled } from './response.ts';
import { createWatchOpener, watchNameOf } from './watches.ts';

type Connect = NonNullable<ClientOptions['connect']>;

/** What a client is given instead of sockets and files. */
export type Transport = Required<Pick<ClientOptions, 'environment' | 'readFile' | 'parse' | 'stringify' | 'connect'>>;

const headersOf = (headers: HttpRequest['headers']): ReadonlyMap<string, string> =>
  new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]));

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
