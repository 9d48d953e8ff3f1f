import * as fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { errnoOf } from '../errno.ts';
import { StorageError } from './errors.ts';

/** The exclusive right to write to a directory. */
export interface DirectoryLock {
  /** False once the lock file was removed or taken over: writing is no longer allowed. */
  held(): Promise<boolean>;
  release(): Promise<void>;
}

// sockaddr_un holds 107 bytes; longer paths are accessed through the directory's file descriptor.
const LONGEST_SOCKET_PATH = 100;
const ATTEMPTS = 5;

const listen = (address: string): Promise<net.Server> =>
  new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen({ path: address }, () => {
      server.unref();
      resolve(server);
    });
  });

const closeServer = (server: net.Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** Whether a process listens. The kernel knows, even if the process is stopped or in another container. */
const isAlive = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ path: address });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(errnoOf(error) ?? '')));
  });

const inodeOf = async (file: string): Promise<bigint | undefined> => {
  try {
    return (await fs.lstat(file, { bigint: true })).ino;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/**
 * Takes the lock of `dir`: a listening Unix socket in it. A PID file would report a live agent in another container as dead,
 * and a reused PID as alive; a socket whose process is gone refuses connections from anyone. If two processes take over the
 * same stale lock at once, the later one gets it, and the earlier one finds out through `held`.
 */
export const takeLock = async (dir: string): Promise<DirectoryLock> => {
  const file = path.join(dir, 'lock');
  const directory = Buffer.byteLength(file) > LONGEST_SOCKET_PATH ? await fs.open(dir) : undefined;
  const address = directory ? `/proc/self/fd/${directory.fd}/lock` : file;
  const locked = (): StorageError =>
    new StorageError('Locked', `another agent uses ${dir}: stop it, or give this agent another state directory`);

  const bind = async (): Promise<net.Server> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      try {
        return await listen(address);
      } catch (error) {
        if (errnoOf(error) !== 'EADDRINUSE') throw error;
      }
      if (await isAlive(address)) throw locked();
      await fs.rm(file, { force: true });
    }
    throw locked();
  };

  try {
    const server = await bind();
    const mine = await inodeOf(file);
    return {
      held: async () => mine !== undefined && (await inodeOf(file)) === mine,
      async release() {
        // Closing removes the file by name, which may belong to another agent by now.
        if (mine !== undefined && (await inodeOf(file)) === mine) await closeServer(server);
        await directory?.close();
      },
    };
  } catch (error) {
    await directory?.close();
    throw error;
  }
};
