import { type buildConnector, Client } from 'undici';
import { withSafeAbort } from './http2-abort.ts';
import type { Sender } from './round-trip.ts';

export interface Http2Clients extends Sender {
  close(): Promise<void>;
  destroy(): Promise<void>;
}

export interface Http2Options {
  connect: buildConnector.connector;
  pingInterval: number;
  keepAliveTimeout: number;
  keepAliveMaxTimeout: number;
  headersTimeout: number;
  bodyTimeout: number;
}

/** Streams per connection: less than half of what Go servers allow (250), so that their limit is never reached. */
const MAX_STREAMS = 100;

/**
 * Keeps one HTTP/2 connection, opens another when it is full, and a new one after a GOAWAY. Each undici client has a
 * single session: undici 8 mixes up requests of an old and a new session of one client (see
 * docs/decisions/0001-http2.md).
 */
export const createHttp2Clients = (origin: string, { pingInterval, ...options }: Http2Options): Http2Clients => {
  const usable = new Set<Client>();
  const draining = new Set<Client>();

  const drain = (client: Client): void => {
    if (!usable.delete(client)) return;
    draining.add(client);
    const forget = (): void => void draining.delete(client);
    client.close().then(forget, forget);
  };

  const create = (): Client => {
    const client = new Client(origin, {
      ...options,
      allowH2: true,
      // Also limits what a client queues before it has a session: at 1 it would not connect while old streams run.
      pipelining: MAX_STREAMS,
      h2Options: { pingInterval, maxConcurrentStreams: MAX_STREAMS },
    });
    client.on('disconnect', () => drain(client));
    client.on('connectionError', () => drain(client));
    usable.add(client);
    return client;
  };

  return {
    dispatch(request, handler) {
      let chosen: Client | undefined;
      for (const client of usable) {
        if (client.stats.size < MAX_STREAMS) {
          chosen = client;
          break;
        }
      }
      return (chosen ?? create()).dispatch(request, withSafeAbort(handler));
    },
    async close() {
      await Promise.all([...usable, ...draining].map((client) => client.close().catch(() => undefined)));
    },
    async destroy() {
      const all = [...usable, ...draining];
      usable.clear();
      await Promise.all(all.map((client) => client.destroy()));
    },
  };
};
