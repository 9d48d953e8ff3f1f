import { fstatSync } from 'node:fs';
import type { Socket } from 'node:net';
import { arch, platform } from 'node:process';
import { type Logger, OptionError } from '../../runtime/index.ts';
import { createPeerOwners } from './peer-owner.ts';
import { isLoopback, type ScanSockets, scanKernelSockets } from './socket-table.ts';

/** Returns the uid of the process that connected to a Unix socket; undefined if the kernel does not say. */
export type PeerCredentials = (fd: number) => number | undefined;

const FLAG = '--unix-socket';

// The architectures that use the generic numbers of <asm/socket.h>.
const GENERIC_NUMBERS: readonly string[] = ['x64', 'arm64', 'arm', 'ia32', 'riscv64', 'loong64', 's390x'];
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: pid, uid, gid, 32 bits each. */
const UCRED_BYTES = 12;
const UID_AT = 4;

/**
 * Node has no API for SO_PEERCRED, so this calls getsockopt of the C library. The kernel records the credentials when the
 * peer connects, so they stay valid even if the peer exits. Throws an `OptionError` on platforms without support.
 */
export const loadPeerCredentials = async (): Promise<PeerCredentials> => {
  if (platform !== 'linux' || !GENERIC_NUMBERS.includes(arch))
    throw new OptionError(FLAG, `cannot identify the user of a caller on ${platform} ${arch}: leave the flag out`);
  const ffi = await import('node:ffi').catch(() => {
    throw new OptionError(
      FLAG,
      'needs Node to be started with --experimental-ffi, to ask the kernel who calls: add it',
    );
  });
  const { functions } = ffi.dlopen(null, {
    getsockopt: { arguments: ['int32', 'int32', 'int32', 'buffer', 'buffer'], return: 'int32' },
  });
  return (fd) => {
    const credentials = Buffer.alloc(UCRED_BYTES);
    const length = Buffer.alloc(4);
    new Uint32Array(length.buffer, length.byteOffset, 1)[0] = UCRED_BYTES;
    const failed = functions.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, length) !== 0;
    const words = new Uint32Array(new Uint8Array(credentials).buffer);
    const written = new Uint32Array(length.buffer, length.byteOffset, 1)[0];
    return failed || written !== UCRED_BYTES ? undefined : words[UID_AT / 4];
  };
};

/** Who is at the other end of one connection, according to the kernel. */
export interface Peer {
  readonly via: 'loopback' | 'unix' | 'remote';
  /** Address of a remote peer; empty for local ones. */
  readonly address: string;
  /** The uid at the time the connection was accepted; undefined for remote peers and when in doubt. */
  readonly uid: Promise<number | undefined>;
  /** Looks up the uid again. Also undefined when the caller has gone meanwhile. */
  recheck(): Promise<number | undefined>;
}

export interface Peers {
  /** Call it when the connection is accepted, with the kind of socket that accepted it. */
  accept(socket: Socket, listener: 'tcp' | 'unix'): Peer;
}

export interface PeersOptions {
  log: Logger;
  /** Needed for Unix sockets. */
  credentials?: PeerCredentials | undefined;
  /** Default: the kernel's tables. */
  scan?: ScanSockets;
}

/** Node has no public API for the descriptor; without one, the kernel can't be asked. */
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

const unknown: Promise<undefined> = Promise.resolve(undefined);

/** Identifies callers: local users through the kernel, remote callers by address only. */
export const createPeers = ({ log, credentials, scan = scanKernelSockets }: PeersOptions): Peers => {
  const owners = createPeerOwners(scan, (error) => {
    log.error('refusing local callers: cannot read the socket table', { error });
  });

  const loopbackUid = (socket: Socket): Promise<number | undefined> => {
    const fd = descriptorOf(socket);
    const { localAddress, localPort, remoteAddress, remotePort, destroyed } = socket;
    if (fd === undefined || destroyed) return unknown;
    const inode = inodeOf(fd);
    if (inode === undefined) return unknown;
    if (localAddress === undefined || localPort === undefined) return unknown;
    if (remoteAddress === undefined || remotePort === undefined) return unknown;
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
        return { via: 'remote', address: remoteAddress ?? 'unknown', uid: unknown, recheck: () => unknown };
      const recheck = (): Promise<number | undefined> => loopbackUid(socket);
      return { via: 'loopback', address: '', uid: recheck(), recheck };
    },
  };
};
