import { connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A network link between a client and a server that can fail. */
export interface Link {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Closes every connection and refuses new ones immediately, like an unplugged cable. */
  cut(): void;
  /** Nothing passes in either direction; new connections are accepted and stay silent. */
  stall(): void;
  /**
   * Bytes arrive `latencyMs` later, and at most `bytesPerSecond` in each direction of each connection. Of `lostOneOf` chunks, one
   * is lost and sent again: it and what follows it arrive three latencies later.
   */
  slow(limits: { latencyMs?: number; bytesPerSecond?: number; lostOneOf?: number }): void;
  /** Closes every connection with a TCP reset; new ones work. */
  reset(): void;
  /** Delivers what was held back; new connections work. */
  restore(): void;
  /** Closes every connection; settles when the port is closed. */
  close(): Promise<void>;
}

type State =
  | { kind: 'up' }
  | { kind: 'cut' }
  | { kind: 'stalled' }
  | { kind: 'slow'; latencyMs: number; perMs: number; lostOneOf: number };

interface Sent {
  chunk: Buffer;
  at: number;
}

/** The most chunks in flight in one direction of a connection. */
const MAX_IN_FLIGHT = 256;

/** Listens on a free loopback port and forwards everything to `target`. */
export const openLink = async (target: { host: string; port: number }): Promise<Link> => {
  let state: State = { kind: 'up' };
  let changed = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const set = (next: State): void => {
    state = next;
    changed.resolve();
    changed = Promise.withResolvers();
  };

  let chunks = 0;
  // Resolves when a chunk of this size that was sent at this time has passed.
  const delay = async (bytes: number, sentAt: number): Promise<void> => {
    chunks += 1;
    const isLost = state.kind === 'slow' && chunks % state.lostOneOf === 0;
    for (let over = false; !over; ) {
      while (state.kind === 'stalled') await changed.promise;
      if (state.kind !== 'slow') return;
      const latencyMs = state.latencyMs * (isLost ? 4 : 1);
      const holdMs = Math.max(0, sentAt + latencyMs - performance.now()) + bytes / state.perMs;
      const held = new Promise<boolean>((resolve) => setTimeout(resolve, holdMs, true).unref());
      // Bytes in flight are held back, too, when the link is stalled.
      over = await Promise.race([held, changed.promise.then(() => false)]);
    }
  };
  const relay = (from: Socket, to: Socket): void => {
    const sent = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Sent> {
      for await (const chunk of source) yield { chunk, at: performance.now() };
    };
    const held = async function* (source: AsyncIterable<Sent>): AsyncGenerator<Buffer> {
      for await (const { chunk, at } of source) {
        await delay(chunk.length, at);
        yield chunk;
      }
    };
    const wire = new PassThrough({ objectMode: true, highWaterMark: MAX_IN_FLIGHT });
    pipeline(from, sent, wire, held, to).catch(() => {
      from.destroy();
      to.destroy();
    });
  };

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (state.kind === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...target, allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => sockets.delete(socket));
      // Told by the pipelines too; without a listener it would end the process.
      socket.on('error', () => undefined);
    }
    relay(client, upstream);
    relay(upstream, client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the link has no port');

  const endAll = (how: 'destroy' | 'resetAndDestroy'): void => {
    for (const socket of sockets) socket[how]();
  };
  return {
    port: address.port,
    get open() {
      return sockets.size / 2;
    },
    cut() {
      set({ kind: 'cut' });
      endAll('destroy');
    },
    stall: () => set({ kind: 'stalled' }),
    slow: ({ latencyMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY, lostOneOf = Number.POSITIVE_INFINITY }) =>
      set({ kind: 'slow', latencyMs, perMs: bytesPerSecond / 1000, lostOneOf }),
    reset: () => endAll('resetAndDestroy'),
    restore: () => set({ kind: 'up' }),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      set({ kind: 'cut' });
      endAll('destroy');
      await closed;
    },
  };
};
