import { type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector, Client, type Dispatcher, Pool, Socks5ProxyAgent } from 'undici';
import type { Env, Timer } from '../runtime/index.ts';

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
  readonly dispatcher: Dispatcher;
  /** Lets running answers end, opens no new ones. */
  retire(): void;
  /** Cuts everything. */
  destroy(): Promise<void>;
}

/** Of every `deadAfterMs`, one more than this many PINGs and looks are made. */
const LOOKS = 3;
/** The API server closes idle connections after 90 s: closing first avoids writing into a closing one. */
const KEEP_ALIVE_MS = 45_000;

/**
 * Finds connections that died without a word (NAT timeouts, black holes): undici sends HTTP/2 PINGs but does not miss
 * their answers, so this looks whether bytes still come in. Looks are counted, not milliseconds: a machine that slept
 * or an event loop that was blocked must not be taken for a dead link. HTTP/1.1 has no PING; there TCP keep-alive does
 * this work.
 */
const createWatchdog = (env: Env, deadAfterMs: number): { add(socket: Socket): void; stop(): void } => {
  const sockets = new Map<Socket, { bytes: number; silentLooks: number }>();
  let timer: Timer | undefined;
  const look = (): void => {
    timer = undefined;
    for (const [socket, seen] of sockets) {
      const bytes = socket.bytesRead;
      seen.silentLooks = bytes === seen.bytes ? seen.silentLooks + 1 : 0;
      seen.bytes = bytes;
      if (seen.silentLooks >= LOOKS) socket.destroy(new Error(`the connection brought nothing for ${deadAfterMs} ms`));
    }
    arm();
  };
  const arm = (): void => {
    if (timer === undefined && sockets.size > 0) timer = env.clock.timer(deadAfterMs / LOOKS, look);
  };
  const forget = (socket: Socket): void => {
    sockets.delete(socket);
    if (sockets.size === 0) {
      timer?.cancel();
      timer = undefined;
    }
  };
  return {
    add(socket) {
      sockets.set(socket, { bytes: socket.bytesRead, silentLooks: 0 });
      socket.once('close', () => forget(socket));
      arm();
    },
    stop() {
      for (const socket of sockets.keys()) forget(socket);
    },
  };
};

/** Goes through an HTTP proxy by CONNECT. undici's ProxyAgent does the same but keeps its sockets from the watchdog. */
const tunnel = (proxy: Client, proxyUrl: URL, secure: buildConnector.connector): buildConnector.connector => {
  const headers: Record<string, string> = {};
  if (proxyUrl.username) {
    const login = `${decodeURIComponent(proxyUrl.username)}:${decodeURIComponent(proxyUrl.password)}`;
    headers['proxy-authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  return (target, callback) => {
    const port = target.port || (target.protocol === 'https:' ? '443' : '80');
    const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
    proxy.connect({ path: `${host}:${port}`, headers: { ...headers, host: `${host}:${port}` } }).then(
      ({ statusCode, socket }) => {
        if (statusCode !== 200) {
          socket.on('error', () => undefined).destroy();
          callback(new Error(`the proxy ${proxyUrl.host} refused the tunnel with HTTP ${statusCode}`), null);
          return;
        }
        // A CONNECT answer's socket is a net.Socket, typed more loosely by undici.
        const raw = socket as Socket;
        if (target.protocol === 'https:') secure({ ...target, httpSocket: raw }, callback);
        else callback(null, raw);
      },
      // A plain Error: undici would retry the whole connect for ever on its own socket error codes.
      (cause: unknown) => callback(new Error(`no tunnel through the proxy ${proxyUrl.host}`, { cause }), null),
    );
  };
};

export const createLink = (env: Env, options: LinkOptions): Link => {
  const { origin, ca, cert, key, tlsServerName, insecureSkipTlsVerify, deadAfterMs } = options;
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    rejectUnauthorized: !insecureSkipTlsVerify,
  };
  const base = {
    connections: 100,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (options.proxyUrl !== undefined && /^socks5h?:/.test(options.proxyUrl)) {
    const dispatcher = new Socks5ProxyAgent(options.proxyUrl.replace(/^socks5h:/, 'socks5:'), {
      ...base,
      allowH2: false,
      connectTimeout: options.connectTimeoutMs,
      requestTls: tls,
    });
    return { dispatcher, retire: () => void dispatcher.close(), destroy: () => dispatcher.destroy() };
  }
  const watchdog = createWatchdog(env, deadAfterMs);
  const direct = buildConnector({
    ...tls,
    allowH2: options.http2,
    preferH2: options.http2,
    timeout: options.connectTimeoutMs,
    keepAliveInitialDelay: deadAfterMs / 2,
  });
  const proxyUrl = options.proxyUrl === undefined ? undefined : new URL(options.proxyUrl);
  const proxy =
    proxyUrl &&
    new Client(proxyUrl.origin, {
      connectTimeout: options.connectTimeoutMs,
      headersTimeout: options.connectTimeoutMs,
      pipelining: 1,
      allowH2: false,
    });
  const connectVia = proxy && proxyUrl ? tunnel(proxy, proxyUrl, direct) : direct;
  const dispatcher = new Pool(origin, {
    ...base,
    allowH2: options.http2,
    h2Options: { pingInterval: Math.max(1, Math.floor(deadAfterMs / (LOOKS + 1))), maxConcurrentStreams: 100 },
    connect: (target, callback) =>
      connectVia(target, (...result) => {
        const [, socket] = result;
        if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') watchdog.add(socket);
        callback(...result);
      }),
  });
  return {
    dispatcher,
    retire() {
      dispatcher.close().then(
        () => proxy?.destroy(),
        () => undefined,
      );
    },
    async destroy() {
      watchdog.stop();
      await dispatcher.destroy();
      await proxy?.destroy();
    },
  };
};
