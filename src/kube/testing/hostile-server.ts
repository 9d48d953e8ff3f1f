import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Identity } from '../../runtime/index.ts';

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** What the tests see of one server. */
export interface HostileServer {
  readonly url: string;
  readonly port: number;
  /** `METHOD path` of each request so far. */
  readonly requests: string[];
  readonly sockets: Set<Socket>;
  readonly sessions: Set<ServerHttp2Session>;
  /** Connections made so far. */
  readonly connections: number;
  close(): Promise<void>;
}

export interface HostileServerOptions {
  protocol: 'http' | 'https' | 'h2';
  identity?: Identity;
  /** Asks clients for a certificate of this authority. */
  clientCa?: string;
  maxConcurrentStreams?: number;
}

/** A server that does to each request whatever the handler says. */
export const startServer = async (
  { protocol, identity, clientCa, maxConcurrentStreams }: HostileServerOptions,
  handle: (request: Request, response: Response) => void,
): Promise<HostileServer> => {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  let connections = 0;
  const onRequest = (request: Request, response: Response): void => {
    requests.push(`${request.method} ${request.url}`);
    response.on('error', () => undefined);
    handle(request, response);
  };
  const tls = {
    ...identity,
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
  };
  const server =
    protocol === 'http'
      ? createServer(onRequest)
      : protocol === 'https'
        ? createTlsServer(tls, onRequest)
        : createSecureServer(
            { ...tls, allowHTTP1: true, ...(maxConcurrentStreams ? { settings: { maxConcurrentStreams } } : {}) },
            onRequest,
          ).on('session', (session) => {
            sessions.add(session);
            session.on('error', () => undefined);
            session.on('close', () => sessions.delete(session));
          });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${protocol === 'http' ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    sockets,
    sessions,
    get connections() {
      return connections;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};
