import { constants } from 'node:fs';
import { chmod, lstat, stat, unlink } from 'node:fs/promises';
import type { Server } from 'node:net';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { OptionError } from '../../runtime/index.ts';

const FLAG = '--unix-socket';
// Linux' sockaddr_un holds 108 bytes with the closing zero.
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

/** Takes away what a killed process left behind. Throws an `OptionError` when the path is somebody's. */
const makeRoom = async (path: string): Promise<void> => {
  if (Buffer.byteLength(path) > LONGEST_PATH) throw new OptionError(FLAG, `${path} is too long: give a shorter path`);
  const folder = await stat(dirname(path)).catch(() => undefined);
  const othersMayReplace = folder && (folder.mode & constants.S_IWOTH) !== 0 && (folder.mode & 0o1000) === 0;
  if (othersMayReplace)
    throw new OptionError(FLAG, `every user may replace ${path}: run chmod o-w ${dirname(path)}, or give another path`);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new OptionError(FLAG, `${path} is no socket, and is not overwritten: give another path`);
  if (await isAlive(path)) throw new OptionError(FLAG, `another process serves ${path}: stop it or give another path`);
  await unlink(path);
};

/**
 * Listens on a socket in the file system. Its owner alone can connect when `everybody` is false; else all local users
 * can, and the credentials that the kernel notes decide. Node takes the file away when the server is closed.
 */
export const listenOnUnixSocket = async (server: Server, path: string, everybody: boolean): Promise<void> => {
  await makeRoom(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new OptionError(FLAG, `cannot listen on ${path} (${error.code ?? error.message}): give another path`));
    });
    // Connecting takes the right to write, which the usual umask leaves to the owner; chmod says it for any umask.
    server.listen({ path }, resolve);
  });
  await chmod(path, everybody ? 0o666 : 0o600);
};
