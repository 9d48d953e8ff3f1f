import { Agent, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { Dialer } from './dialer.ts';
import type { Send } from './round-trip.ts';
import { KEEP_ALIVE_MS } from './sockets.ts';

export interface Http1 {
  send: Send;
  /** Closes connections that are idle now, and the others when their responses are complete. */
  drain(): void;
}

/** The API server closes idle connections after 90 s: closing first avoids writing into a closing one. */
const IDLE_MS = 45_000;

/** Requests over HTTP/1.1, on one connection for each that is in flight. `spare` is a connection that exists already. */
export const createHttp1 = (dialer: Dialer, host: string, spare?: Socket): Http1 => {
  let first = spare;
  const connect = async (): Promise<Socket> => {
    const socket = first;
    first = undefined;
    return socket?.writable ? socket : dialer.connect(['http/1.1']);
  };
  // Every watch and every call in flight needs its own connection: a limit here would let watches keep out calls.
  const agent = new Agent({
    keepAlive: true,
    keepAliveMsecs: KEEP_ALIVE_MS,
    timeout: IDLE_MS,
    maxSockets: Infinity,
  });
  agent.createConnection = (_options, callback = () => undefined) => {
    callbackify(connect)(callback);
    return undefined;
  };
  return {
    send({ method, path, headers, body }, onResponse) {
      const request = httpRequest({ agent, method, path, headers: { host, ...headers } });
      request.on('response', (response) => onResponse(response.statusCode, response.headers, response)).end(body);
      return request;
    },
    drain() {
      first?.destroy();
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    },
  };
};
