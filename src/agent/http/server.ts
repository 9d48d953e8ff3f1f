import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type BindAddress, formatAddress, ListenError } from '../../process/index.ts';
import { type Env, OptionError } from '../../runtime/index.ts';
import { type AuthOptions as CallerOptions, createPeers, isLoopback, loadPeerCredentials } from '../auth/index.ts';
import type { Asset } from '../page/index.ts';
import type { AgentBackend } from '../types.ts';
import { createApi } from './api.ts';
import { type Connections, createConnections } from './connections.ts';
import type { Handler } from './handler.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { type Site, tcpSite, unixSite } from './origin.ts';
import type { TlsFiles } from './tls-files.ts';
import { listenOnUnixSocket } from './unix-socket.ts';

export interface ListenOptions {
  /** Undefined: no TCP socket. */
  tcp: BindAddress | undefined;
  /** Undefined: plain HTTP, which is for loopback only. */
  tls: TlsFiles | undefined;
  /** Path of a Unix socket. */
  unixSocket: string | undefined;
  /** Further values of the Host header, `name` or `name:port`. */
  allowedHosts: readonly string[];
}

export type AuthOptions = Pick<CallerOptions, 'allowedUids' | 'tokens'>;

export interface AgentServerOptions {
  backend: AgentBackend;
  env: Env;
  listen: ListenOptions;
  auth: AuthOptions;
  /** Called when the page is first asked for. */
  page: () => Promise<readonly Asset[]>;
  version: string;
  limits?: Partial<Limits>;
  /** Hears of every answer, and why a request was refused. */
  onResponse?: (status: number, refusal: string | undefined) => void;
}

export interface AgentServer {
  /** `host:port` of the TCP socket, with the port that was bound. */
  readonly address: string | undefined;
  readonly connections: number;
  readonly streams: number;
  /** Ends event streams at once and lets other answers under way end. */
  close(): Promise<void>;
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** Dead or slow requests are looked for this often: the least of what headers and bodies may take. */
const CHECK_MS = 1_000;

const isOpenToOthers = ({ host }: BindAddress): boolean =>
  host === undefined || !(host === 'localhost' || isLoopback(host));

/** Throws an `OptionError` for a bind that would let others in without proof. */
export const checkListen = ({ tcp, tls, unixSocket }: ListenOptions, hasTokens: boolean): void => {
  if (tcp === undefined && unixSocket === undefined)
    throw new OptionError('--listen', '0 needs --unix-socket: else nobody could reach the agent');
  if (tls?.clientCaFile === undefined && !hasTokens && tcp !== undefined && isOpenToOthers(tcp))
    throw new OptionError(
      '--listen',
      `${formatAddress(tcp)} can be reached from other machines: give --tls-cert-file and --tls-private-key-file with --token-file or --client-ca-file, or listen on 127.0.0.1`,
    );
  if (tls === undefined && tcp !== undefined && isOpenToOthers(tcp))
    throw new OptionError(
      '--listen',
      `${formatAddress(tcp)} can be reached from other machines: give --tls-cert-file and --tls-private-key-file, so that tokens do not travel in the open`,
    );
};

const listenOnTcp = (server: Server, address: BindAddress): Promise<number> =>
  new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(new ListenError(formatAddress(address), '--listen', error));
    server.once('error', failed);
    server.listen({ port: address.port, ...(address.host === undefined ? {} : { host: address.host }) }, () => {
      server.off('error', failed);
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : address.port);
    });
  });

/**
 * Serves the agent's API and the owner's page. Rejects with an `OptionError` or a `ListenError` when it cannot, and then
 * serves nothing.
 */
export const createAgentServer = async (options: AgentServerOptions): Promise<AgentServer> => {
  const { backend, env, listen, auth, version, onResponse = () => undefined } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  checkListen(listen, auth.tokens !== undefined);
  const clientCertificates = listen.tls?.clientCaFile !== undefined;
  const credentials = listen.unixSocket === undefined ? undefined : await loadPeerCredentials();
  const { page } = options;
  const { handler, streams } = createApi({
    backend,
    env,
    limits,
    auth: { ...auth, clientCertificates },
    page,
    version,
    onResponse,
  });
  const connections = createConnections(createPeers({ log: env.log, credentials }), limits, {
    allowedUids: auth.allowedUids,
    withCredentials: auth.tokens !== undefined || clientCertificates,
  });
  const serverOptions: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: CHECK_MS,
    insecureHTTPParser: false,
    requireHostHeader: false,
  };
  const servers: Server[] = [];

  const close = async (): Promise<void> => {
    streams.close();
    const late = env.clock.timer(limits.stopMs, () => {
      for (const server of servers) server.closeAllConnections();
    });
    await Promise.all(
      servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            server.closeIdleConnections();
          }),
      ),
    );
    late.cancel();
  };

  try {
    let address: string | undefined;
    if (listen.tcp !== undefined) {
      const { tcp, tls } = listen;
      const names = [...LOOPBACK_NAMES, ...ownName(tcp), ...listen.allowedHosts];
      let site: Site | undefined;
      const server = await newServer(serverOptions, tls, env);
      servers.push(server);
      serve(server, { kind: 'tcp', secure: tls !== undefined, connections, handler, limits, site: () => site });
      const port = await listenOnTcp(server, tcp);
      site = tcpSite(tls === undefined ? 'http' : 'https', port, names);
      address = formatAddress({ host: tcp.host, port });
    }
    if (listen.unixSocket !== undefined) {
      const server = createServer(serverOptions);
      servers.push(server);
      const site = unixSite(listen.allowedHosts);
      serve(server, { kind: 'unix', secure: false, connections, handler, limits, site: () => site });
      const uid = process.getuid?.();
      const others = [...auth.allowedUids].some((each) => each !== 0 && each !== uid) || auth.tokens !== undefined;
      await listenOnUnixSocket(server, listen.unixSocket, others);
    }
    return {
      address,
      get connections() {
        return connections.size;
      },
      get streams() {
        return streams.size;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** An address given to listen on is a name as good as the usual ones: no DNS answer can take it. */
const ownName = ({ host }: BindAddress): string[] =>
  host === undefined || /^(0\.0\.0\.0|::)$/.test(host) ? [] : [host.includes(':') ? `[${host}]` : host];

const newServer = async (options: ServerOptions, tls: TlsFiles | undefined, env: Env): Promise<Server> => {
  if (tls === undefined) return createServer(options);
  const [{ createServer: createSecureServer }, { followTlsFiles, tlsOptions }] = await Promise.all([
    import('node:https'),
    import('./tls-files.ts'),
  ]);
  const server = createSecureServer({ ...options, ...tlsOptions(tls) });
  followTlsFiles(server, tls, env);
  return server;
};

interface Serving {
  kind: 'tcp' | 'unix';
  secure: boolean;
  connections: Connections;
  handler: Handler;
  limits: Limits;
  /** Undefined until the port is known. */
  site: () => Site | undefined;
}

const serve = (server: Server, { kind, secure, connections, handler, limits, site }: Serving): void => {
  server.maxConnections = limits.sockets;
  server.timeout = limits.idleMs;
  server.on('connection', (socket: Socket) => {
    connections.accept(socket, kind);
  });
  if (secure) server.on('secureConnection', (socket: Socket) => connections.secured(socket));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.of(request.socket);
    const here = site();
    // Neither can be missing here; a request that nobody accounts for is not answered.
    if (connection === undefined || here === undefined) request.destroy();
    else void handler(request, response, connection, here);
  });
};
