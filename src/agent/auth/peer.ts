import { fstatSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Logger } from '../../runtime/index.ts';
import type { PeerCredentials } from './peer-credentials.ts';
import { createPeerOwners } from './peer-owner.ts';
import { isLoopback, type ScanSockets, scanKernelSockets } from './socket-table.ts';

/** Who is at the other end of one connection, as far as the kernel tells. */
export interface Peer {
  readonly via: 'loopback' | 'unix' | 'remote';
  /** Address of a remote peer; empty for local ones. */
  readonly address: string;
  /** The uid found when the connection was accepted; undefined for remote peers and in doubt. */
  readonly uid: Promise<number | undefined>;
  /** Looks once more. Undefined also when the caller has gone meanwhile. */
  recheck(): Promise<number | undefined>;
}

export interface Peers {
  /** To be called when the connection is accepted, with the kind of socket that accepted it. */
  accept(socket: Socket, listener: 'tcp' | 'unix'): Peer;
}

export interface PeersOptions {
  log: Logger;
  /** Given when there is a Unix socket. */
  credentials?: PeerCredentials | undefined;
  /** Default: the kernel's own tables. */
  scan?: ScanSockets;
}

/** Node keeps the descriptor to itself; without one there is nothing to ask the kernel about. */
const descriptorOf = (socket: Socket): number | undefined => {
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
};

const inodeOf = (fd: number): number | undefined => {
  try {
    return fstatSync(fd).ino;
  } catch {
    return undefined;
  }
};

const doubt: Promise<undefined> = Promise.resolve(undefined);

/** Tells apart who calls: local users by the kernel's word, remote ones by their address only. */
export const createPeers = ({ log, credentials, scan = scanKernelSockets }: PeersOptions): Peers => {
  const owners = createPeerOwners(scan, (error) => {
    log.error('callers cannot be told apart and are refused: the table of sockets cannot be read', { error });
  });

  const loopbackUid = (socket: Socket): Promise<number | undefined> => {
    const fd = descriptorOf(socket);
    const { localAddress, localPort, remoteAddress, remotePort, destroyed } = socket;
    if (fd === undefined || destroyed) return doubt;
    const inode = inodeOf(fd);
    if (inode === undefined) return doubt;
    if (localAddress === undefined || localPort === undefined) return doubt;
    if (remoteAddress === undefined || remotePort === undefined) return doubt;
    return owners.owner({
      local: { address: localAddress, port: localPort },
      remote: { address: remoteAddress, port: remotePort },
      inode,
    });
  };

  const unixUid = (socket: Socket): Promise<number | undefined> => {
    const fd = descriptorOf(socket);
    return Promise.resolve(fd === undefined || socket.destroyed ? undefined : credentials?.(fd));
  };

  return {
    accept(socket, listener) {
      const { remoteAddress } = socket;
      if (listener === 'unix') {
        const recheck = (): Promise<number | undefined> => unixUid(socket);
        return { via: 'unix', address: '', uid: recheck(), recheck };
      }
      if (remoteAddress === undefined || !isLoopback(remoteAddress))
        return { via: 'remote', address: remoteAddress ?? 'unknown', uid: doubt, recheck: () => doubt };
      const recheck = (): Promise<number | undefined> => loopbackUid(socket);
      return { via: 'loopback', address: '', uid: recheck(), recheck };
    },
  };
};
