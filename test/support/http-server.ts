import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { after } from 'node:test';
import type { Identity } from '../../src/runtime/index.ts';
import { createTestAuthority } from './certificates.ts';

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** A server for tests, with what reached it. */
export interface TestServer {
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

export interface TestServerOptions {
  protocol: 'http' | 'https' | 'h2';
  identity?: Identity;
  /** Requests client certificates of this authority. */
  clientCa?: string;
  maxConcurrentStreams?: number;
  /** Default: any that is free. */
  port?: number;
}

/** Starts a server on loopback whose handler decides over every request. `close` breaks all connections. */
export const startTestServer = async (
  { protocol, identity, clientCa, maxConcurrentStreams, port: wanted = 0 }: TestServerOptions,
  handle: (request: Request, response: Response) => void,
): Promise<TestServer> => {
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
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
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

// node:http and node:http2 overload these two methods differently: name what they have in common.
type Head = { writeHead(status: number, headers: Record<string, string>): unknown };

export const startJson = (response: Response, status = 200, headers: Record<string, string> = {}): void => {
  const head: Head = response;
  head.writeHead(status, { 'content-type': 'application/json', ...headers });
};

export const writeText = (response: Response, text: string | Uint8Array): void => {
  const body: { write(chunk: string | Uint8Array): unknown } = response;
  body.write(text);
};

export const sendJson = (
  response: Response,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void => {
  startJson(response, status, headers);
  response.end(JSON.stringify(value));
};

export const readBody = async (request: Request): Promise<string> => {
  const chunks: Uint8Array[] = [];
  const bytes: AsyncIterable<Uint8Array> = request;
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

/** Calls `answer` with the complete body of the request. */
export const onBody = (request: Request, answer: (body: string) => void): void => {
  void (async () => answer(await readBody(request)))();
};

/** An authority, and servers over HTTP, or HTTPS with its certificates, that are closed after the tests of the file. */
export const createTestServers = () => {
  const authority = createTestAuthority();
  const opened: TestServer[] = [];
  after(() => Promise.all(opened.map((server) => server.close())));
  return {
    authority,
    /** `tls`: also with another certificate than one for 127.0.0.1. */
    async serve(
      answer: (request: Request, response: Response) => void,
      tls: boolean | Identity = false,
    ): Promise<TestServer> {
      const identity = tls === true ? authority.issue('server') : tls;
      const server = await startTestServer(identity ? { protocol: 'https', identity } : { protocol: 'http' }, answer);
      opened.push(server);
      return server;
    },
  };
};
