import { connect, createServer, type Socket } from 'node:net';

/** A device's link to its cluster, which can be cut and restored. */
export interface Relay {
  /** On loopback. */
  readonly port: number;
  cut: () => void;
  heal: () => void;
  stop(): Promise<void>;
}

const nothing = (): void => undefined;

export const startRelay = async (target: { host: string; port: number }): Promise<Relay> => {
  const sockets = new Set<Socket>();
  let up = true;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', nothing);
  };
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    keep(near);
    if (!up) {
      near.destroy();
      return;
    }
    const far = keep(connect(target.port, target.host));
    // What ends one side ends the other: a link has two ends.
    near.on('close', () => far.destroy()).pipe(far);
    far.on('close', () => near.destroy()).pipe(near);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  return {
    port: address.port,
    cut() {
      up = false;
      drop();
    },
    heal() {
      up = true;
    },
    async stop() {
      drop();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
