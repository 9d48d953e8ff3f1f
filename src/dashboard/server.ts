import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type Asset,
  checkOrigin,
  createPage,
  createRateLimiter,
  failure,
  followTlsFiles,
  type HttpResponse,
  json,
  readJson,
  type Site,
  sendResponse,
  type TlsFiles,
  tlsOptions,
} from '../http/index.ts';
import { type BindAddress, listenOn } from '../process/index.ts';
import { type Env, errorText } from '../runtime/index.ts';
import type { IsProxy } from './client-address.ts';
import { NAME, readCommand } from './commands.ts';
import { createConnections, MOST_SOCKETS } from './connections.ts';
import type { Gate, View } from './gate.ts';
import { createStreams } from './streams.ts';

const MOST_BODY_BYTES = 16 * 1024;
/** All callers' commands at the same time: each reads what it needs by itself. */
const MOST_COMMANDS = 8;
/** For a year, as is usual. A host that browsers reach at another port may serve other things without TLS. */
const HTTPS_ONLY = ['strict-transport-security', 'max-age=31536000'] as const;
const USUAL_PORT = /^[^:]+(?::443)?$/;

const SERVER_OPTIONS: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  insecureHTTPParser: false,
  requireHostHeader: false,
};

export interface DashboardServerOptions {
  env: Env;
  listen: BindAddress;
  toListenError: (address: string, cause: Error) => Error;
  tls?: TlsFiles | undefined;
  gate: Gate;
  /** Whether this is the address of a proxy, whose connections are those of many, and which says for which client. Default: none is. */
  isProxy?: IsProxy;
  /** The time that the times of the cluster are compared with, epoch ms. Default: the time of `env`. */
  now?: () => number;
  /** Why pages may show what is old, of a cluster where there are several; empty if they don't. */
  trouble: (cluster: string | undefined) => string;
  page: () => Promise<readonly Asset[]>;
  /** Called for each response, when a stream begins. */
  responded?: (status: number) => void;
  /** How long a client may be silent, and take for the head of a request and for all of it. Defaults: 60,000, 10,000, 30,000. */
  idleMs?: number;
  headersMs?: number;
  requestMs?: number;
}

export interface DashboardServer {
  port: number;
  /** Open streams. */
  readonly viewers: number;
  readonly connections: number;
  close(): Promise<void>;
}

const newServer = async ({ tls, env, headersMs, requestMs }: DashboardServerOptions): Promise<Server> => {
  const timeouts = { headersTimeout: headersMs ?? 10_000, requestTimeout: requestMs ?? 30_000 };
  if (tls === undefined) return createServer({ ...SERVER_OPTIONS, ...timeouts });
  const { createServer: createSecureServer } = await import('node:https');
  const server = createSecureServer({ ...SERVER_OPTIONS, ...timeouts, ...tlsOptions(tls) });
  followTlsFiles(server, tls, env);
  return server;
};

/** Whether the dashboard shows this cluster. An address of another dashboard must not lead to the same names elsewhere. */
const shows = ({ session: { clusters } }: View, cluster: string | undefined): boolean =>
  clusters ? cluster !== undefined && clusters.includes(cluster) : cluster === undefined;

const noSuchCluster = (): HttpResponse => failure(404, 'this dashboard does not show that cluster');
const noSuchRollout = (): HttpResponse => failure(404, 'there is no such rollout, or you may not see it');

/** Serves the page and what it shows to those that the gate admits. */
export const startDashboardServer = async (options: DashboardServerOptions): Promise<DashboardServer> => {
  const { env, listen, gate, trouble } = options;
  const page = createPage(options.page);
  const streams = createStreams({ clock: env.clock, now: options.now ?? (() => env.clock.now()), trouble });
  const rates = createRateLimiter(env.clock);
  const { isProxy = () => false } = options;
  const connections = createConnections(env, isProxy);
  let sites: readonly [Site, ...Site[]] | undefined;
  let commands = 0;

  const runCommand = async (request: IncomingMessage, view: View): Promise<HttpResponse> => {
    const body = await readJson(request, MOST_BODY_BYTES);
    if (body.kind === 'refused') return body.response;
    const command = readCommand(body.value);
    if (!command) return failure(400, 'this is not a command of the dashboard');
    if (!shows(view, command.cluster)) return noSuchCluster();
    if (commands >= MOST_COMMANDS)
      return failure(429, 'too many commands are running: try again soon', { retryAfterSeconds: 1 });
    commands += 1;
    try {
      return json(200, await view.run(command));
    } finally {
      commands -= 1;
    }
  };

  const serveRollout = async (
    response: ServerResponse,
    [, namespace = '', kind = '', name = '', part, node, ...more]: readonly string[],
    cluster: string | undefined,
    view: View,
  ): Promise<HttpResponse | undefined> => {
    const names = [namespace, name, ...(part === 'nodes' ? [node ?? ''] : [])];
    if (!names.every((one) => NAME.test(one))) return noSuchRollout();
    const isPart = part === undefined || part === 'nodes' || (part === 'events' && node === undefined);
    if (!isPart || more.length > 0) return failure(404, 'there is no such path');
    if (!shows(view, cluster)) return noSuchCluster();
    const ref = { cluster, namespace, kind, name };
    const used = await view.rollout(ref);
    if (!used) return noSuchRollout();
    if (part !== undefined)
      try {
        const details = await (node === undefined ? view.events(used.feed, ref) : view.node(used.feed, ref, node));
        return details ? json(200, details) : failure(404, 'the rollout is still being read, or is gone');
      } finally {
        used.done();
      }
    const mayStay = (): Promise<boolean> => view.mayStay({ namespace, kind });
    return streams.open(response, { ...view, mayStay, cluster }, (tell) => {
      const end = used.feed.subscribe(tell);
      return () => {
        end();
        used.done();
      };
    });
  };

  const call = async (
    request: IncomingMessage,
    response: ServerResponse,
    path: readonly string[],
    url: URL,
    view: View,
  ): Promise<HttpResponse | undefined> => {
    const [first = ''] = path;
    if (request.method === 'POST')
      return first === 'commands' && path.length === 1
        ? runCommand(request, view)
        : failure(404, 'there is no such path');
    if (request.method !== 'GET') return failure(405, 'use GET or POST here', { headers: { allow: 'GET, POST' } });
    const cluster = url.searchParams.get('cluster') ?? undefined;
    if (first === 'rollouts' && path.length > 1) return serveRollout(response, path, cluster, view);
    if (path.length > 1) return failure(404, 'there is no such path');
    if (first === 'session') return json(200, view.session);
    if (first === 'labels') {
      if (!shows(view, cluster)) return noSuchCluster();
      return json(200, await view.labels(url.searchParams.get('label') ?? undefined, cluster));
    }
    if (first !== 'rollouts') return failure(404, 'there is no such path');
    const feed = await view.overview();
    return streams.open(response, view, (tell) => feed.subscribe(tell));
  };

  /** Names of the machine itself are those of other servers, too. */
  const isHttpsOnly = ({ headers, socket }: IncomingMessage, host: string): boolean => {
    const isTls = headers['x-forwarded-proto'] === 'https' && isProxy(socket.remoteAddress ?? '');
    const isNamed = sites?.slice(1).some(({ hosts }) => hosts.has(host)) ?? false;
    return (isTls || options.tls !== undefined) && isNamed && USUAL_PORT.test(host);
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<HttpResponse | undefined> => {
    if (!sites) return failure(503, 'starting');
    const host = request.headers.host?.toLowerCase() ?? '';
    const target = request.url ?? '';
    // Also refuses the forms of a request to a proxy.
    const url = /^\/(?!\/)/.test(target) ? URL.parse(target, 'http://127.0.0.1') : null;
    const linkable = url !== null && !url.pathname.startsWith('/api/');
    const foreign = checkOrigin(request, sites.find(({ hosts }) => hosts.has(host)) ?? sites[0], { linkable });
    if (foreign) return foreign;
    if (!url) return failure(400, 'the address is not valid', { close: true });
    if (isHttpsOnly(request, host)) response.setHeader(...HTTPS_ONLY);
    const entered = await gate.enter(request, url);
    if (entered) return entered;
    if (!url.pathname.startsWith('/api/')) {
      const reading = request.method === 'GET' || request.method === 'HEAD';
      const found = reading ? await page.find(url.pathname, request.headers['if-none-match']) : undefined;
      return found ?? failure(404, 'there is no such page');
    }
    const admitted = await gate.admit(request);
    if ('refused' in admitted) return admitted.refused;
    connections.admit(request.socket, admitted.key);
    const seconds = gate.rate === undefined ? 0 : rates.take(admitted.key, gate.rate);
    if (seconds > 0) return failure(429, 'too many requests', { retryAfterSeconds: seconds, close: true });
    let path: string[];
    try {
      path = url.pathname.slice('/api/'.length).split('/').map(decodeURIComponent);
    } catch {
      return failure(400, 'the address is not valid');
    }
    return call(request, response, path, url, admitted);
  };

  const server = await newServer(options);
  server.maxConnections = MOST_SOCKETS;
  server.timeout = options.idleMs ?? 60_000;
  // In front of Node's own listener, which begins the handshake: a connection that is refused must cost nothing more.
  const serveConnection = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (connections.accept(socket)) for (const listener of serveConnection) Reflect.apply(listener, server, [socket]);
  });
  server.on('secureConnection', (socket: Socket) => connections.secured(socket));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // No browser sends a request before it has the response to the one before.
    if (!connections.begin(request.socket, response)) {
      request.socket.destroy();
      return;
    }
    const serve = async (): Promise<void> => {
      const found = await respond(request, response).catch((error: unknown) => failure(502, errorText(error)));
      const close = found?.close || connections.isCrowded(request.socket);
      if (found && !response.headersSent) sendResponse(request, response, { ...found, close });
      options.responded?.(found?.status ?? response.statusCode);
    };
    void serve();
  });
  const port = await listenOn(server, listen, options.toListenError);
  sites = gate.sites(port);
  return {
    port,
    get viewers() {
      return streams.size;
    },
    get connections() {
      return connections.size;
    },
    async close() {
      streams.close();
      connections.close();
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
};
