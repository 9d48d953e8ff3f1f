import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { followTlsFiles, type Site, type TlsFiles, tcpSite, tlsOptions, unixSite } from '../../http/index.ts';
import { type BindAddress, formatAddress, ListenError, listenOn } from '../../process/index.ts';
import { type AuthOptions as CallerOptions, createPeers, loadPeerCredentials } from '../auth/index.ts';
import { createConnections } from './connections.ts';
import { type ApiOptions, createApi } from './handler.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { checkListen, type ListenOptions, listenOnUnixSocket } from './listen.ts';

export type AuthOptions = Pick<CallerOptions, 'allowedUids' | 'tokens'>;

export interface AgentServerOptions extends Pick<ApiOptions, 'backend' | 'env' | 'page' | 'version'> {
  listen: ListenOptions;
  auth: AuthOptions;
  limits?: Partial<Limits>;
  /** Called with every response, and why a request was refused. */
  onResponse?: ApiOptions['onResponse'];
}

export interface AgentServer {
  /** `host:port` of the TCP socket, with the port that was bound. */
  readonly address: string | undefined;
  readonly connections: number;
  readonly streams: number;
  /** Ends event streams at once and waits for pending responses. */
  close(): Promise<void>;
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** How often to look for requests that exceed their timeout. */
const CHECK_MS = 1_000;

/** An IP address to listen on is a safe Host header: no DNS record can claim it. */
const hostNameOf = ({ host }: BindAddress): string[] =>
  host === undefined || /^(0\.0\.0\.0|::)$/.test(host) ? [] : [host.includes(':') ? `[${host}]` : host];

const newServer = async (
  options: ServerOptions,
  tls: TlsFiles | undefined,
  env: AgentServerOptions['env'],
): Promise<Server> => {
  if (tls === undefined) return createServer(options);
  const { createServer: createSecureServer } = await import('node:https');
  const server = createSecureServer({ ...options, ...tlsOptions(tls) });
  followTlsFiles(server, tls, env);
  return server;
};

/**
 * Serves the agent's API and the owner's page. Rejects with an `OptionError` or a `ListenError` when it can't listen, and
 * then serves nothing.
 */
export const createAgentServer = async (options: AgentServerOptions): Promise<AgentServer> => {
  const { backend, env, listen, auth, page, version, onResponse = () => undefined } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  checkListen(listen, auth.tokens !== undefined);
  const clientCertificates = listen.tls?.clientCaFile !== undefined;
  const credentials = listen.unixSocket === undefined ? undefined : await loadPeerCredentials();
  const api = { backend, env, limits, auth: { ...auth, clientCertificates }, page, version, onResponse };
  const { handler, streams } = createApi(api);
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

  /** `site` is undefined until the port is known. */
  const serve = (server: Server, kind: 'tcp' | 'unix', site: () => Site | undefined): void => {
    servers.push(server);
    server.maxConnections = limits.sockets;
    server.timeout = limits.idleMs;
    server.on('connection', (socket: Socket) => {
      connections.accept(socket, kind);
    });
    // Emitted by TLS servers only.
    server.on('secureConnection', (socket: Socket) => connections.secured(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = connections.of(request.socket);
      const here = site();
      // Neither can be missing; a request without an account gets no response.
      if (connection === undefined || here === undefined) request.destroy();
      else void handler(request, response, connection, here);
    });
  };

  const close = async (): Promise<void> => {
    streams.close();
    const timeout = env.clock.timer(limits.stopMs, () => {
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
    timeout.cancel();
  };

  try {
    let address: string | undefined;
    if (listen.tcp !== undefined) {
      const { tcp, tls } = listen;
      const names = [...LOOPBACK_NAMES, ...hostNameOf(tcp), ...listen.allowedHosts];
      let site: Site | undefined;
      const server = await newServer(serverOptions, tls, env);
      serve(server, 'tcp', () => site);
      const port = await listenOn(server, tcp, (bound, cause) => new ListenError(bound, '--listen', cause));
      site = tcpSite(tls === undefined ? 'http' : 'https', port, names);
      address = formatAddress({ host: tcp.host, port });
    }
    if (listen.unixSocket !== undefined) {
      const server = createServer(serverOptions);
      const site = unixSite(listen.allowedHosts);
      serve(server, 'unix', () => site);
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
