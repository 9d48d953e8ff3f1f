import { buildConnector, Client, Pool } from 'undici';
import type { Env } from '../../runtime/index.ts';
import type { Sender } from './exchange.ts';
import { createHttp2Clients, type Http2Clients } from './http2-clients.ts';
import { createProbe, type Probe } from './protocol-probe.ts';
import { connectThrough } from './proxy-tunnel.ts';
import { connectThroughSocks5 } from './socks5.ts';
import { createWatchdog, LOOKS } from './watchdog.ts';

export interface LinkOptions {
  /** Scheme, host and port. */
  origin: string;
  ca?: string;
  cert?: string;
  key?: string;
  insecureSkipTlsVerify: boolean;
  tlsServerName?: string;
  proxyUrl?: string;
  http2: boolean;
  connectTimeoutMs: number;
  /** An HTTP/2 connection that brings no byte for this long, PING answers included, is torn down. */
  deadAfterMs: number;
}

/** The connections to one API server made with one set of TLS credentials. */
export interface Link {
  /** Connects where needed, and resolves with what to send the next request by. */
  ready(): Promise<Sender>;
  /** Lets running answers end, opens no new ones, and resolves when the last has ended. */
  retire(): Promise<void>;
  /** Cuts everything. */
  destroy(): Promise<void>;
}

/** The API server closes idle connections after 90 s: closing first avoids writing into a closing one. */
const KEEP_ALIVE_MS = 45_000;
/** Over HTTP/1.1 every watch and every running call holds one. */
const MAX_CONNECTIONS = 100;

export const createLink = (env: Env, options: LinkOptions): Link => {
  const { origin, ca, cert, key, tlsServerName, insecureSkipTlsVerify, deadAfterMs } = options;
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    rejectUnauthorized: !insecureSkipTlsVerify,
  };
  const common = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const http1 = { ...common, connections: MAX_CONNECTIONS, pipelining: 1, allowH2: false };
  const secure = buildConnector({
    ...tls,
    allowH2: options.http2,
    preferH2: options.http2,
    timeout: options.connectTimeoutMs,
    // Where no PING is possible, TCP's own probes find the dead.
    keepAliveInitialDelay: deadAfterMs / 2,
  });
  const proxyUrl = options.proxyUrl === undefined ? undefined : new URL(options.proxyUrl);
  const throughSocks = proxyUrl?.protocol.startsWith('socks5') ?? false;
  const proxy =
    proxyUrl && !throughSocks
      ? new Client(proxyUrl.origin, {
          connectTimeout: options.connectTimeoutMs,
          headersTimeout: options.connectTimeoutMs,
          pipelining: 1,
          allowH2: false,
        })
      : undefined;
  const connect =
    proxyUrl === undefined
      ? secure
      : proxy === undefined
        ? connectThroughSocks5(env.clock, proxyUrl, options.connectTimeoutMs, secure)
        : connectThrough(proxy, proxyUrl, secure);
  const watchdog = createWatchdog(env, deadAfterMs);
  let pool: Pool | undefined;
  let clients: Http2Clients | undefined;
  let probing: Promise<Probe> | undefined;
  let lastProbe: Probe | undefined;
  let ended = false;

  const newSender = (probe: Probe): Sender => {
    if (!probe.http2) {
      pool ??= new Pool(origin, { ...http1, connect: probe.connector });
      return pool;
    }
    clients ??= createHttp2Clients(origin, {
      ...common,
      pingInterval: Math.max(1, Math.floor(deadAfterMs / (LOOKS + 1))),
      connect: (target, callback) =>
        probe.connector(target, (...result) => {
          const [, socket] = result;
          // Typed as null after an error, but undici leaves it out.
          if (socket) watchdog.add(socket);
          callback(...result);
        }),
    });
    return clients;
  };

  return {
    async ready() {
      const sender = clients ?? pool;
      if (sender !== undefined) return sender;
      if (!options.http2 || origin.startsWith('http:'))
        return newSender({ http2: false, connector: connect, close: () => undefined });
      probing ??= createProbe(origin, connect).finally(() => {
        probing = undefined;
      });
      const probe = await probing;
      if (ended) {
        probe.close();
        throw new Error('the connection was closed');
      }
      lastProbe = probe;
      return newSender(probe);
    },
    async retire() {
      ended = true;
      lastProbe?.close();
      await Promise.all([pool?.close(), clients?.close()]);
      await proxy?.destroy();
    },
    async destroy() {
      ended = true;
      watchdog.stop();
      lastProbe?.close();
      await Promise.all([pool?.destroy(), clients?.destroy()]);
      await proxy?.destroy();
    },
  };
};
