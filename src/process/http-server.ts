import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { errorText } from '../runtime/index.ts';
import { type BindAddress, formatAddress } from './flags.ts';

export interface Answer {
  status: number;
  contentType: string;
  body: string;
}

/** Handlers by path. Only GET and HEAD reach them. */
export type Routes = Readonly<Record<string, () => Answer | Promise<Answer>>>;

export interface RunningServer {
  /** With the actual port when 0 was requested. */
  readonly address: string;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** The address cannot be bound. The cause has the system's error code. */
export class ListenError extends Error {
  readonly code = 'CannotListen';

  constructor(address: string, flags: string, cause: unknown) {
    const why = errorText(cause);
    super(`cannot listen on ${address} (${why}): give another address with ${flags}, or 0 for none`, { cause });
    this.name = 'ListenError';
  }
}

// Connections that wait to be accepted, the most that Linux allows by default. It drops what exceeds them without an answer, and
// a client repeats that after 1, 3 and 7 s: with Node's own 511, strangers who connect fast keep everybody out for seconds.
const BACKLOG = 4_096;

/** Resolves with the port that was bound. `toError` makes the rejection of what the system refused. */
export const listenOn = (
  server: Server,
  address: BindAddress,
  toError: (address: string, cause: Error) => Error,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const failed = (cause: Error): void => reject(toError(formatAddress(address), cause));
    const { host, port } = address;
    server.once('error', failed);
    server.listen({ port, backlog: BACKLOG, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', failed);
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });

// Probes and scrapes are small: a slow client must not hold its socket longer than this.
const REQUEST_TIMEOUT_MS = 10_000;

export const text = (status: number, body: string): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${body}\n`,
});

const answer = async (routes: Routes, request: IncomingMessage): Promise<Answer> => {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const route = routes[path];
  if (route === undefined) return text(404, `not found; available: ${Object.keys(routes).join(' ')}`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'only GET and HEAD');
  try {
    return await route();
  } catch (error) {
    return text(500, error instanceof Error ? error.message : 'failed');
  }
};

/** Listens on one address. `flags` names the flags that set it, for the error. */
export const startHttpServer = async (address: BindAddress, routes: Routes, flags: string): Promise<RunningServer> => {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, contentType, body } = await answer(routes, request);
    response.writeHead(status, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(body),
      'x-content-type-options': 'nosniff',
      ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      void respond(request, response);
    },
  );
  const port = await listenOn(server, address, (bound, cause) => new ListenError(bound, flags, cause));
  return {
    address: formatAddress({ host: address.host, port }),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        // Idle keep-alive connections of a scraper would keep the process alive for minutes.
        server.closeAllConnections();
      }),
  };
};
