import { buildConnector, Pool } from 'undici';
import { type Env, withSignal } from '../../runtime/index.ts';
import { createHttp2Clients, type Http2Clients } from './http2-clients.ts';
import { createProbe, type Probe } from './protocol-probe.ts';
import { createProxy } from './proxies.ts';
import { type HttpRequest, type HttpResponse, RoundTripError, roundTrip, type Sender } from './round-trip.ts';
import { CHECKS, createWatchdog } from './watchdog.ts';

export interface ConnectionOptions {
  /** Scheme, host and port. */
  origin: string;
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
  insecureSkipTlsVerify: boolean;
  tlsServerName: string | undefined;
  proxyUrl: string | undefined;
  /** Offer HTTP/2. */
  http2: boolean;
  connectTimeoutMs: number;
  /** An HTTP/2 connection that receives nothing for this long, PING answers included, is closed. */
  deadAfterMs: number;
}

/** The sockets to one API server that share one set of TLS credentials. */
export interface Connection {
  /** One request and its answer; connects where needed. Rejects like `roundTrip`. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** Lets running answers finish, accepts no further requests, and resolves when the last answer is complete. */
  drain(): Promise<void>;
  /** Closes all sockets now. */
  destroy(): Promise<void>;
}

/** The API server closes idle connections after 90 s: closing first avoids writing into a closing one. */
const KEEP_ALIVE_MS = 45_000;

export const createConnection = (env: Env, options: ConnectionOptions): Connection => {
  const { origin, ca, cert, key, tlsServerName, insecureSkipTlsVerify, connectTimeoutMs, deadAfterMs } = options;
  const common = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const secure = buildConnector({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    rejectUnauthorized: !insecureSkipTlsVerify,
    allowH2: options.http2,
    preferH2: options.http2,
    timeout: connectTimeoutMs,
    // HTTP/1.1 has no PING: there TCP keep-alive finds dead connections.
    keepAliveInitialDelay: deadAfterMs / 2,
  });
  const proxy =
    options.proxyUrl === undefined
      ? undefined
      : createProxy(new URL(options.proxyUrl), { clock: env.clock, timeoutMs: connectTimeoutMs, secure });
  const connect = proxy?.connect ?? secure;
  const watchdog = createWatchdog(env, deadAfterMs);
  let pool: Pool | undefined;
  let clients: Http2Clients | undefined;
  let probing: Promise<Probe> | undefined;
  let lastProbe: Probe | undefined;
  let closed = false;

  const createSender = (probe: Pick<Probe, 'http2' | 'connector'>): Sender => {
    if (!probe.http2) {
      // Every watch and every call in flight needs its own connection: a limit here would let watches keep out calls.
      pool ??= new Pool(origin, {
        ...common,
        connections: null,
        pipelining: 1,
        allowH2: false,
        connect: probe.connector,
      });
      return pool;
    }
    clients ??= createHttp2Clients(origin, {
      ...common,
      pingInterval: Math.max(1, Math.floor(deadAfterMs / (CHECKS + 1))),
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

  const ready = async (): Promise<Sender> => {
    const sender = clients ?? pool;
    if (sender !== undefined) return sender;
    if (!options.http2 || origin.startsWith('http:')) return createSender({ http2: false, connector: connect });
    probing ??= createProbe(origin, connect).finally(() => {
      probing = undefined;
    });
    const probe = await probing;
    if (closed) {
      probe.close();
      throw new Error('the connection was closed');
    }
    lastProbe = probe;
    return createSender(probe);
  };

  return {
    async send(request, signal) {
      let sender: Sender;
      try {
        sender = await withSignal(ready(), signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw new RoundTripError(false, error);
      }
      return roundTrip(sender, origin, request, signal);
    },
    async drain() {
      closed = true;
      lastProbe?.close();
      await Promise.all([pool?.close(), clients?.close()]);
      await proxy?.close();
    },
    async destroy() {
      closed = true;
      watchdog.stop();
      lastProbe?.close();
      await Promise.all([pool?.destroy(), clients?.destroy()]);
      await proxy?.close();
    },
  };
};
