import type { Socket } from 'node:net';
import type { Peer, Peers } from '../callers/index.ts';
import type { Limits, Rate } from './limits.ts';

/** One accepted connection. */
export interface Connection {
  readonly peer: Peer;
  /** Whom its requests are counted for. */
  account(): Promise<Account>;
  /** Requests that wait for their answer. */
  pending: number;
}

export interface Account {
  key: string;
  rate: Rate;
  connections: number;
}

export interface Connections {
  accept(socket: Socket, listener: 'tcp' | 'unix'): Connection;
  of(socket: Socket): Connection | undefined;
  readonly size: number;
}

/**
 * Keeps account of who holds how many connections. Callers that may not call share one small account: they can
 * exhaust that, and nobody else's.
 */
export const createConnections = (
  peers: Peers,
  limits: Limits,
  auth: { allowedUids: ReadonlySet<number>; withCredentials: boolean },
): Connections => {
  const held = new Map<string, number>();
  const connections = new WeakMap<Socket, Connection>();
  let size = 0;

  const accountOf = async (peer: Peer): Promise<Account> => {
    const one = { rate: limits.rateOfOne, connections: limits.connectionsOfOne };
    if (peer.via === 'remote') return { key: `address:${peer.address}`, ...one };
    const uid = await peer.uid;
    if (uid !== undefined && (auth.allowedUids.has(uid) || auth.withCredentials)) return { key: `uid:${uid}`, ...one };
    return { key: 'strangers', rate: limits.rateOfStrangers, connections: limits.connectionsOfStrangers };
  };

  const hold = async (socket: Socket, account: Promise<Account>): Promise<void> => {
    const { key, connections: most } = await account;
    if (socket.destroyed) return;
    const count = (held.get(key) ?? 0) + 1;
    held.set(key, count);
    socket.once('close', () => {
      const left = (held.get(key) ?? 1) - 1;
      if (left > 0) held.set(key, left);
      else held.delete(key);
    });
    if (count > most) socket.destroy();
  };

  return {
    accept(socket, listener) {
      const peer = peers.accept(socket, listener);
      const account = accountOf(peer);
      const connection: Connection = { peer, pending: 0, account: () => account };
      connections.set(socket, connection);
      size += 1;
      socket.once('close', () => {
        size -= 1;
      });
      void hold(socket, account);
      return connection;
    },
    of: (socket) => connections.get(socket),
    get size() {
      return size;
    },
  };
};
