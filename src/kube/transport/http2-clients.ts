import { type buildConnector, Client } from 'undici';
import type { Sender } from './exchange.ts';
import { withSafeAbort } from './http2-abort.ts';

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

/** Streams on one connection: half of what Go servers allow (250), so that theirs is never the limit. */
const MAX_STREAMS = 100;

/**
 * One HTTP/2 connection, a further one when it is full, and a fresh one as soon as one is told to GOAWAY. Each client has
 * one session in its life: undici 8 mixes up requests of an old and a new session of one client (see
 * docs/decisions/0001-http2.md).
 */
export const createHttp2Clients = (origin: string, { pingInterval, ...options }: Http2Options): Http2Clients => {
  const usable = new Set<Client>();
  const retiring = new Set<Client>();

  const retire = (client: Client): void => {
    if (!usable.delete(client)) return;
    retiring.add(client);
    const gone = (): void => void retiring.delete(client);
    client.close().then(gone, gone);
  };

  const create = (): Client => {
    const client = new Client(origin, {
      ...options,
      allowH2: true,
      // Also what a client may queue while it has no session: at 1 it would not connect as long as old streams run.
      pipelining: MAX_STREAMS,
      h2Options: { pingInterval, maxConcurrentStreams: MAX_STREAMS },
    });
    client.on('disconnect', () => retire(client));
    client.on('connectionError', () => retire(client));
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
      await Promise.all([...usable, ...retiring].map((client) => client.close().catch(() => undefined)));
    },
    async destroy() {
      const all = [...usable, ...retiring];
      usable.clear();
      await Promise.all(all.map((client) => client.destroy()));
    },
  };
};
