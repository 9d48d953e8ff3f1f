import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';

export interface Probe {
  http2: boolean;
  /** Returns the probe's own connection first, so that probing costs no extra connection. */
  connector: buildConnector.connector;
  /** Closes the probe's connection if it is unused. */
  close(): void;
}

/**
 * Connects once to learn which protocol the server negotiates: HTTP/2 clients and HTTP/1.1 pools are configured
 * differently, and undici decides only after a connection exists.
 */
export const createProbe = (origin: string, connect: buildConnector.connector): Promise<Probe> =>
  new Promise((resolve, reject) => {
    const { protocol, hostname, host, port } = new URL(origin);
    connect({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port }, (error, first) => {
      if (error !== null) {
        reject(error);
        return;
      }
      const http2 = first instanceof TLSSocket && first.alpnProtocol === 'h2';
      let spare: Socket | undefined = first;
      const onEnd = (): void => {
        spare = undefined;
      };
      first.on('error', onEnd);
      first.once('close', onEnd);
      resolve({
        http2,
        close: () => spare?.destroy(),
        connector: (target, callback) => {
          const ready = spare;
          spare = undefined;
          if (ready !== undefined && !ready.destroyed) {
            // Not synchronously: undici does not expect to be connected before its connector has returned.
            queueMicrotask(() => callback(null, ready));
            return;
          }
          connect(target, (...result) => {
            const [, socket] = result;
            if (http2 && socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
              socket.destroy();
              callback(new Error('the server negotiated HTTP/2 before and no longer does'), null);
            } else callback(...result);
          });
        },
      });
    });
  });
