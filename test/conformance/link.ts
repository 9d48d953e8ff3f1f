import { connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A stretch of wire between a client and a server that can be made bad. */
export interface Link {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Ends every connection and refuses new ones at once, as when a cable is out. */
  cut(): void;
  /** Nothing passes in either direction and nobody is told; new connections are taken and stay silent. */
  stall(): void;
  /** What is sent arrives `latencyMs` later, and no more than `bytesPerSecond` pass in each direction and connection. */
  slow(limits: { latencyMs?: number; bytesPerSecond?: number }): void;
  /** Ends every connection with a TCP reset; new ones work. */
  reset(): void;
  /** What was held back is delivered, new connections work. */
  restore(): void;
  /** Ends every connection; settles when the port is closed. */
  close(): Promise<void>;
}

type State =
  | { kind: 'up' }
  | { kind: 'cut' }
  | { kind: 'stalled' }
  | { kind: 'slow'; latencyMs: number; perMs: number };

interface Sent {
  chunk: Buffer;
  at: number;
}

/** Reads that are on their way in one direction of a connection; more are not taken. */
const MOST_ON_THE_WAY = 256;

/** Listens on a free port of loopback and passes everything to `target`. */
export const openLink = async (target: { host: string; port: number }): Promise<Link> => {
  let state: State = { kind: 'up' };
  let changed = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const set = (next: State): void => {
    state = next;
    changed.resolve();
    changed = Promise.withResolvers();
  };

  // Until the wire lets a chunk of this size pass that was sent then.
  const passage = async (bytes: number, sentAt: number): Promise<void> => {
    for (let over = false; !over; ) {
      while (state.kind === 'stalled') await changed.promise;
      if (state.kind !== 'slow') return;
      const holdMs = Math.max(0, sentAt + state.latencyMs - performance.now()) + bytes / state.perMs;
      const held = new Promise<boolean>((resolve) => setTimeout(resolve, holdMs, true).unref());
      // What is on its way when the wire goes silent is held back too.
      over = await Promise.race([held, changed.promise.then(() => false)]);
    }
  };
  const relay = (from: Socket, to: Socket): void => {
    const sent = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Sent> {
      for await (const chunk of source) yield { chunk, at: performance.now() };
    };
    const held = async function* (source: AsyncIterable<Sent>): AsyncGenerator<Buffer> {
      for await (const { chunk, at } of source) {
        await passage(chunk.length, at);
        yield chunk;
      }
    };
    const wire = new PassThrough({ objectMode: true, highWaterMark: MOST_ON_THE_WAY });
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
    slow: ({ latencyMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY }) =>
      set({ kind: 'slow', latencyMs, perMs: bytesPerSecond / 1000 }),
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
