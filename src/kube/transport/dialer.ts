import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../runtime/index.ts';
import { createProxy } from './proxies.ts';
import { addressOf, KEEP_ALIVE_MS, startTls } from './sockets.ts';

export interface ConnectionOptions {
  /** Scheme, host and port. */
  origin: string;
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
  insecureSkipTlsVerify: boolean;
  tlsServerName: string | undefined;
  proxyUrl: string | undefined;
  connectTimeoutMs: number;
  /** An HTTP/2 connection that receives nothing for this long, PING answers included, is closed. */
  deadAfterMs: number;
}

export interface Dialer {
  /** A new connection to the origin, through the proxy if there is one. Over TLS, it offers these protocols. */
  connect(protocols: string[]): Promise<Socket>;
  /** Resolves when all connections are closed. */
  whenClosed(): Promise<void>;
  /** Closes all connections now. */
  destroy(): void;
}

export const createDialer = (clock: Clock, options: ConnectionOptions): Dialer => {
  const { ca, cert, key, tlsServerName, insecureSkipTlsVerify, proxyUrl, connectTimeoutMs } = options;
  const origin = new URL(options.origin);
  const target = addressOf(origin);
  const tls = {
    host: target.host,
    servername: tlsServerName,
    ca,
    cert,
    key,
    rejectUnauthorized: !insecureSkipTlsVerify,
  };
  const proxy = proxyUrl === undefined ? undefined : createProxy(new URL(proxyUrl));
  const open = new Set<Socket>();
  return {
    async connect(protocols) {
      const socket = connect({
        ...(proxy?.address ?? target),
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      });
      open.add(socket);
      socket.on('error', () => undefined).once('close', () => open.delete(socket));
      const timer = clock.timer(connectTimeoutMs, () =>
        socket.destroy(new Error(`no connection within ${connectTimeoutMs} ms`)),
      );
      try {
        if (proxy === undefined) await once(socket, 'connect');
        const link = (await proxy?.openTunnel(socket, target)) ?? socket;
        if (origin.protocol !== 'https:') return link;
        return await startTls(link, { ...tls, ALPNProtocols: protocols });
      } catch (error) {
        socket.destroy();
        throw error;
      } finally {
        timer.cancel();
      }
    },
    whenClosed: async () => {
      await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    },
    destroy() {
      for (const socket of open) socket.destroy(new Error('the connection was closed'));
    },
  };
};
