import { once } from 'node:events';
import { connect, isIPv4, isIPv6, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { Clock } from '../../runtime/index.ts';

// RFC 1928 (SOCKS5) and RFC 1929 (its login).
const VERSION = 5;
const NO_LOGIN = 0;
const LOGIN = 2;
const CONNECT = 1;
const REFUSALS = [
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

const take = async (socket: Socket, bytes: number): Promise<Buffer> => {
  for (;;) {
    const chunk: unknown = socket.read(bytes);
    if (chunk instanceof Buffer && chunk.length === bytes) return chunk;
    if (socket.readableEnded || socket.destroyed) throw new Error('the proxy closed the connection');
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
};

const prefixed = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw new Error('a name for the proxy is longer than 255 bytes');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
};

/** The target as the proxy is told it: by name where it has one, so that the proxy resolves it. */
const address = (hostname: string): Buffer => {
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
  const wantsLogin = proxyUrl.username !== '';
  socket.write(Buffer.from(wantsLogin ? [VERSION, 2, NO_LOGIN, LOGIN] : [VERSION, 1, NO_LOGIN]));
  const [, method] = await take(socket, 2);
  if (method === LOGIN && wantsLogin) {
    const [user, password] = [decodeURIComponent(proxyUrl.username), decodeURIComponent(proxyUrl.password)];
    socket.write(Buffer.concat([Buffer.from([1]), prefixed(user), prefixed(password)]));
    const [, status] = await take(socket, 2);
    if (status !== 0) throw new Error('the proxy refused the login');
  } else if (method !== NO_LOGIN) throw new Error('the proxy wants a login of another kind');
  socket.write(
    Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), address(hostname), Buffer.from([port >> 8, port & 0xff])]),
  );
  const [, reply = 1, , kind] = await take(socket, 4);
  if (reply !== 0) throw new Error(`the proxy refused: ${REFUSALS[reply] ?? `code ${reply}`}`);
  // Where the proxy itself is bound to: of no use, but to be read off.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await take(socket, 1))[0] ?? 0);
  await take(socket, length + 2);
};

/**
 * Connects through a SOCKS5 proxy. undici has a client for it, but an experimental one that cannot speak TLS to an
 * address without a name, nor HTTP/2, and keeps its sockets from the watchdog.
 */
export const connectThroughSocks5 =
  (clock: Clock, proxyUrl: URL, timeoutMs: number, secure: buildConnector.connector): buildConnector.connector =>
  (target, callback) => {
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
    const host = proxyUrl.hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(proxyUrl.port || 1080), noDelay: true });
    const timer = clock.timer(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    // What the socket itself says is the cause; that its reader then found nothing is only the consequence.
    let failure: Error | undefined;
    socket.on('error', (error) => {
      failure = error;
    });
    const open = async (): Promise<void> => {
      let refused: unknown;
      try {
        await negotiate(socket, proxyUrl, target.hostname, port);
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
  };
