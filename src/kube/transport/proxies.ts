import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import { type Address, addressOf, startTls } from './sockets.ts';

/** Asks the proxy on this socket to connect to a target. Resolves with the socket to the target. */
type OpenTunnel = (socket: Socket, target: Address, proxyUrl: URL) => Promise<Socket>;

export interface Proxy {
  /** Where it listens. */
  readonly address: Address;
  /** Has the proxy at the other end of the socket connect to the target. */
  openTunnel(socket: Socket, target: Address): Promise<Socket>;
}

const openHttpTunnel: OpenTunnel = async (socket, { host, port }, proxyUrl) => {
  const { protocol, username, password } = proxyUrl;
  const path = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const headers: Record<string, string> = { host: path };
  if (username) {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers['proxy-authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  const link = protocol === 'https:' ? await startTls(socket, addressOf(proxyUrl)) : socket;
  await new Promise<void>((resolve, reject) => {
    httpRequest({ createConnection: () => link, method: 'CONNECT', path, headers })
      .on('error', reject)
      .on('connect', ({ statusCode }) =>
        statusCode === 200 ? resolve() : reject(new Error(`it refused the tunnel with HTTP ${statusCode}`)),
      )
      .end();
  });
  return link;
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

const openSocksTunnel: OpenTunnel = async (socket, { host, port }, proxyUrl) => {
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
    Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), encodeAddress(host), Buffer.from([port >> 8, port & 0xff])]),
  );
  const [, reply = 1, , kind] = await read(socket, 4);
  if (reply !== 0) throw new Error(`the proxy refused: ${REPLIES[reply] ?? `code ${reply}`}`);
  // The address that the proxy is bound to: unused, but it precedes the tunnel's data.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await read(socket, 1))[0] ?? 0);
  await read(socket, length + 2);
  return socket;
};

/** A proxy by its URL: `socks5:` or HTTP. */
export const createProxy = (proxyUrl: URL): Proxy => {
  const open = proxyUrl.protocol.startsWith('socks5') ? openSocksTunnel : openHttpTunnel;
  return {
    address: addressOf(proxyUrl),
    async openTunnel(socket, target) {
      try {
        await once(socket, 'connect');
        return await open(socket, target, proxyUrl);
      } catch (cause) {
        // The socket's own error says more than what then finds it closed.
        const { message } = socket.errored ?? (cause as Error);
        throw new Error(`no tunnel through the proxy ${proxyUrl.host}: ${message}`, { cause });
      }
    },
  };
};
