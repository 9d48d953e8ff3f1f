import { arch, platform } from 'node:process';
import { OptionError } from '../../runtime/index.ts';

/** The uid of the process that connected to a Unix socket; undefined when the kernel does not tell. */
export type PeerCredentials = (fd: number) => number | undefined;

const FLAG = '--unix-socket';

// <asm/socket.h>; these machines share the generic numbers.
const GENERIC_NUMBERS: readonly string[] = ['x64', 'arm64', 'arm', 'ia32', 'riscv64', 'loong64', 's390x'];
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: pid, uid, gid, 32 bits each. */
const UCRED_BYTES = 12;
const UID_AT = 4;

/**
 * Node has no call for SO_PEERCRED: this asks the C library that runs it. The kernel notes the credentials when the
 * peer connects, so they stay true however soon it is gone. Throws an `OptionError` where that is not possible.
 */
export const loadPeerCredentials = async (): Promise<PeerCredentials> => {
  if (platform !== 'linux' || !GENERIC_NUMBERS.includes(arch))
    throw new OptionError(FLAG, `the owner of a caller cannot be told on ${platform} ${arch}: leave the flag out`);
  const ffi = await import('node:ffi').catch(() => {
    throw new OptionError(
      FLAG,
      'needs node to be started with --experimental-ffi, to ask the kernel who calls: add it',
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
