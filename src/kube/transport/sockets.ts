import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';

/** HTTP/1.1 has no PING: there TCP keep-alive finds dead connections. */
export const KEEP_ALIVE_MS = 15_000;

export interface Address {
  host: string;
  port: number;
}

const PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };

/** Where the server of a URL listens. */
export const addressOf = ({ protocol, hostname, port }: URL): Address => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: Number(port || (PORTS[protocol] ?? 1080)),
});

/** TLS with `host` on a connected socket. */
export const startTls = (socket: Socket, options: ConnectionOptions & { host: string }): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const servername = options.servername ?? (isIP(options.host) ? '' : options.host);
    const secure = connect({ ...options, servername, socket });
    // The socket's own error is the cause, if there is one.
    const fail = (error: Error): void => reject(socket.errored ?? error);
    secure
      .on('error', fail)
      .once('close', () => fail(new Error('the connection was closed during the TLS handshake')))
      .once('secureConnect', () => resolve(secure));
  });
