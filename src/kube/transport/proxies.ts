import { once } from 'node:events';
import { connect, isIPv4, isIPv6, Socket } from 'node:net';
import { type buildConnector, Client } from 'undici';
import type { Clock } from '../../runtime/index.ts';

type Connector = buildConnector.connector;

export interface ProxyOptions {
  clock: Clock;
  /** For the proxy's answer. */
  timeoutMs: number;
  /** Establishes TLS with the target on a socket that the proxy has connected. */
  secure: Connector;
}

export interface Proxy {
  /** Connects to a target through the proxy. */
  readonly connect: Connector;
  close(): Promise<void>;
}

/** Where a target listens. */
const portOf = ({ port, protocol }: Parameters<Connector>[0]): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

/** Tunnels with CONNECT. undici's ProxyAgent does so too, but hides its sockets from the watchdog. */
const httpProxy = (proxyUrl: URL, { timeoutMs, secure }: ProxyOptions): Proxy => {
  const proxy = new Client(proxyUrl.origin, {
    connectTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    pipelining: 1,
    allowH2: false,
  });
  const login: Record<string, string> = {};
  if (proxyUrl.username) {
    const pair = `${decodeURIComponent(proxyUrl.username)}:${decodeURIComponent(proxyUrl.password)}`;
    login['proxy-authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return {
    close: () => proxy.destroy(),
    connect: (target, callback) => {
      const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
      const path = `${host}:${portOf(target)}`;
      proxy.connect({ path, headers: { ...login, host: path } }, (cause, answer) => {
        // Always a plain Error: undici retries a connect forever on its own socket error codes.
        if (cause) {
          callback(new Error(`no tunnel through the proxy ${proxyUrl.host}`, { cause }), null);
          return;
        }
        const { statusCode, socket } = answer;
        if (statusCode !== 200 || !(socket instanceof Socket)) {
          socket.on('error', () => undefined).destroy();
          callback(new Error(`the proxy ${proxyUrl.host} refused the tunnel with HTTP ${statusCode}`), null);
        } else if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      });
    },
  };
};

// SOCKS5 (RFC 1928) and its username/password authentication (RFC 1929).
const VERSION = 5;
const NO_LOGIN = 0;
const LOGIN = 2;
const CONNECT = 1;
const REPLIES = [
  '',
  'general failure',
  'not allowed by its rules',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'time to live expired',
  'command not supported',
  'address type not supported',
];

const read = async (socket: Socket, bytes: number): Promise<Buffer> => {
  for (;;) {
    const chunk: unknown = socket.read(bytes);
    if (chunk instanceof Buffer && chunk.length === bytes) return chunk;
    if (socket.readableEnded || socket.destroyed) throw new Error('the proxy closed the connection');
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
};

const prefixed = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw new Error('a name sent to the proxy is longer than 255 bytes');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
};

/** The target's address. A host name is sent as it is, so that the proxy resolves it. */
const encodeAddress = (hostname: string): Buffer => {
  if (isIPv4(hostname)) return Buffer.from([1, ...hostname.split('.').map(Number)]);
  if (!isIPv6(hostname)) return Buffer.concat([Buffer.from([3]), prefixed(hostname)]);
  const [head = '', tail = ''] = hostname.split('::');
  const groups = (part: string): string[] => part.split(':').filter((group) => group !== '');
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)];
  return Buffer.from([
    4,
    ...all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  ]);
};

const negotiate = async (socket: Socket, proxyUrl: URL, hostname: string, port: number): Promise<void> => {
  const hasLogin = proxyUrl.username !== '';
  socket.write(Buffer.from(hasLogin ? [VERSION, 2, NO_LOGIN, LOGIN] : [VERSION, 1, NO_LOGIN]));
  const [, method] = await read(socket, 2);
  if (method === LOGIN && hasLogin) {
    const [user, password] = [decodeURIComponent(proxyUrl.username), decodeURIComponent(proxyUrl.password)];
    socket.write(Buffer.concat([Buffer.from([1]), prefixed(user), prefixed(password)]));
    const [, status] = await read(socket, 2);
    if (status !== 0) throw new Error('the proxy refused the login');
  } else if (method !== NO_LOGIN) throw new Error('the proxy requires another authentication method');
  socket.write(
    Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), encodeAddress(hostname), Buffer.from([port >> 8, port & 0xff])]),
  );
  const [, reply = 1, , kind] = await read(socket, 4);
  if (reply !== 0) throw new Error(`the proxy refused: ${REPLIES[reply] ?? `code ${reply}`}`);
  // The address that the proxy is bound to: unused, but it precedes the tunnel's data.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await read(socket, 1))[0] ?? 0);
  await read(socket, length + 2);
};

/**
 * Connects through a SOCKS5 proxy. undici's client for it is experimental: it cannot speak TLS to an address without a
 * name, has no HTTP/2, and hides its sockets from the watchdog.
 */
const socks5Proxy = (proxyUrl: URL, { clock, timeoutMs, secure }: ProxyOptions): Proxy => ({
  close: () => Promise.resolve(),
  connect: (target, callback) => {
    const host = proxyUrl.hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(proxyUrl.port || 1080), noDelay: true });
    const timer = clock.timer(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    // The socket's own error is the cause; a read that then finds nothing is only its consequence.
    let failure: Error | undefined;
    socket.on('error', (error) => {
      failure = error;
    });
    const open = async (): Promise<void> => {
      let refused: unknown;
      try {
        await negotiate(socket, proxyUrl, target.hostname, portOf(target));
      } catch (error) {
        refused = failure ?? error;
      }
      timer.cancel();
      if (refused !== undefined) {
        socket.destroy();
        const why = refused instanceof Error ? refused.message : '';
        callback(new Error(`no tunnel through the proxy ${proxyUrl.host}: ${why}`, { cause: refused }), null);
      } else if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
      else callback(null, socket);
    };
    void open();
  },
});

/** A proxy by its URL: `socks5:` or HTTP. */
export const createProxy = (proxyUrl: URL, options: ProxyOptions): Proxy =>
  (proxyUrl.protocol.startsWith('socks5') ? socks5Proxy : httpProxy)(proxyUrl, options);
