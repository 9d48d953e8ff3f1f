import { constants } from 'node:fs';
import { chmod, lstat, stat, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import type { TlsFiles } from '../../http/index.ts';
import { type BindAddress, formatAddress } from '../../process/index.ts';
import { OptionError } from '../../runtime/index.ts';
import { isLoopback } from '../auth/index.ts';

export interface ListenOptions {
  /** Undefined: no TCP socket. */
  tcp: BindAddress | undefined;
  /** Undefined: plain HTTP, which is allowed on loopback only. */
  tls: TlsFiles | undefined;
  /** Path of a Unix socket. */
  unixSocket: string | undefined;
  /** Additional values of the Host header, `name` or `name:port`. */
  allowedHosts: readonly string[];
}

const isOpenToOthers = ({ host }: BindAddress): boolean =>
  host === undefined || !(host === 'localhost' || isLoopback(host));

/** Throws an `OptionError` for an address where other machines could connect without authentication or encryption. */
export const checkListen = ({ tcp, tls, unixSocket }: ListenOptions, hasTokens: boolean): void => {
  if (tcp === undefined && unixSocket === undefined)
    throw new OptionError('--listen', '0 needs --unix-socket: otherwise nothing can reach the agent');
  if (tcp === undefined || !isOpenToOthers(tcp)) return;
  const exposed = `${formatAddress(tcp)} is reachable from other machines: give --tls-cert-file and --tls-private-key-file`;
  if (tls?.clientCaFile === undefined && !hasTokens)
    throw new OptionError('--listen', `${exposed} with --token-file or --client-ca-file, or listen on 127.0.0.1`);
  if (tls === undefined) throw new OptionError('--listen', `${exposed}, so that tokens are encrypted in transit`);
};

const FLAG = '--unix-socket';
// Linux: sockaddr_un holds 108 bytes including the terminating zero.
const LONGEST_PATH = 107;

const isAlive = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Removes the socket that a killed process left behind. Throws an `OptionError` when the path is in use. */
const removeStale = async (path: string): Promise<void> => {
  if (Buffer.byteLength(path) > LONGEST_PATH) throw new OptionError(FLAG, `${path} is too long: give a shorter path`);
  const folder = await stat(dirname(path)).catch(() => undefined);
  const isReplaceable = folder && (folder.mode & constants.S_IWOTH) !== 0 && (folder.mode & 0o1000) === 0;
  if (isReplaceable)
    throw new OptionError(FLAG, `any user can replace ${path}: run chmod o-w ${dirname(path)}, or give another path`);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new OptionError(FLAG, `${path} exists and is not a socket: give another path`);
  if (await isAlive(path)) throw new OptionError(FLAG, `another process serves ${path}: stop it or give another path`);
  await unlink(path);
};

/**
 * Listens on a Unix socket. Unless `everybody` may connect, only the socket's owner can; otherwise the credentials that the
 * kernel records decide. Node removes the file when the server closes.
 */
export const listenOnUnixSocket = async (server: Server, path: string, everybody: boolean): Promise<void> => {
  await removeStale(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new OptionError(FLAG, `cannot listen on ${path} (${error.code ?? error.message}): give another path`));
    });
    server.listen({ path }, resolve);
  });
  // Connecting requires write permission, which the umask usually leaves to the owner; chmod makes it independent of it.
  await chmod(path, everybody ? 0o666 : 0o600);
};
