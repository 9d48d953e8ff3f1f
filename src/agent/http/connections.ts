import type { Socket } from 'node:net';
import type { Rate } from '../../http/index.ts';
import type { Peer, Peers } from '../auth/index.ts';
import type { Limits } from './limits.ts';

/** One accepted connection. */
export interface Connection {
  readonly peer: Peer;
  /** The account that its requests count against. */
  account(): Promise<Account>;
  /** Requests that wait for their response. */
  pending: number;
}

export interface Account {
  key: string;
  /** Local users that the kernel identifies as allowed, or all callers that still have to authenticate. */
  pool: 'allowed' | 'others';
  rate: Rate;
  connections: number;
}

export interface Connections {
  /** Call it at once: a handshake that never completes holds a connection, too. */
  accept(socket: Socket, listener: 'tcp' | 'unix'): Connection;
  /** Links the TLS socket to the accepted socket below it. */
  secured(socket: Socket): void;
  of(socket: Socket): Connection | undefined;
  readonly size: number;
}

const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;

/**
 * Counts the open connections of each account. Callers that are not allowed share one small account, so they can't use up
 * the connections of others.
 */
export const createConnections = (
  peers: Peers,
  limits: Limits,
  auth: { allowedUids: ReadonlySet<number>; withCredentials: boolean },
): Connections => {
  const held = new Map<string, number>();
  const connections = new WeakMap<Socket, Connection>();
  const accepted = new Map<string, Connection>();
  let size = 0;

  const accountOf = async (peer: Peer): Promise<Account> => {
    const one = { rate: limits.ratePerCaller, connections: limits.connectionsPerCaller };
    if (peer.via === 'remote') return { key: `address:${peer.address}`, pool: 'others', ...one };
    const uid = await peer.uid;
    if (uid !== undefined && auth.allowedUids.has(uid)) return { key: `uid:${uid}`, pool: 'allowed', ...one };
    if (uid !== undefined && auth.withCredentials) return { key: `uid:${uid}`, pool: 'others', ...one };
    const { rateOfAnonymous: rate, connectionsOfAnonymous } = limits;
    return { key: 'anonymous', pool: 'others', rate, connections: connectionsOfAnonymous };
  };

  /** Counts the socket while it is open. */
  const add = (socket: Socket, key: string): number => {
    const count = (held.get(key) ?? 0) + 1;
    held.set(key, count);
    socket.once('close', () => {
      const left = (held.get(key) ?? 1) - 1;
      if (left > 0) held.set(key, left);
      else held.delete(key);
    });
    return count;
  };

  const hold = async (socket: Socket, account: Promise<Account>): Promise<void> => {
    const { key, pool, connections: most } = await account;
    if (socket.destroyed) return;
    const fits = [add(socket, key) <= most, add(socket, pool) <= limits.connections];
    if (fits.includes(false)) socket.destroy();
  };

  return {
    accept(socket, listener) {
      const peer = peers.accept(socket, listener);
      const account = accountOf(peer);
      const connection: Connection = { peer, pending: 0, account: () => account };
      const ends = endsOf(socket);
      connections.set(socket, connection);
      if (listener === 'tcp') accepted.set(ends, connection);
      size += 1;
      socket.once('close', () => {
        size -= 1;
        if (accepted.get(ends) === connection) accepted.delete(ends);
      });
      void hold(socket, account);
      return connection;
    },
    secured(socket) {
      const connection = accepted.get(endsOf(socket));
      if (connection) connections.set(socket, connection);
    },
    of: (socket) => connections.get(socket),
    get size() {
      return size;
    },
  };
};
