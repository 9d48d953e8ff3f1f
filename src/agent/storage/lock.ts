import * as fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { errnoOf, JournalError } from './errors.ts';

/** The right to write in a directory. */
export interface DirectoryLock {
  /** False once the lock file was removed or taken: nothing may be written then. */
  held(): Promise<boolean>;
  release(): Promise<void>;
}

// sockaddr_un holds 107 bytes; a longer path is reached through the directory's descriptor.
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

/** Whether somebody listens. The kernel knows, also of a process that is stopped or in another container. */
const isAlive = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ path: address });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(errnoOf(error))));
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
 * Takes the lock of `dir`: a listening Unix socket in it. A file with a process id would call a live agent of another
 * container dead, and a reused id alive; a socket whose process is gone refuses connections, whoever asks. Two that take
 * over the same dead lock at once: the later one holds it, and the earlier one learns from `held`.
 */
export const takeLock = async (dir: string): Promise<DirectoryLock> => {
  const file = path.join(dir, 'lock');
  const directory = Buffer.byteLength(file) > LONGEST_SOCKET_PATH ? await fs.open(dir) : undefined;
  const address = directory ? `/proc/self/fd/${directory.fd}/lock` : file;
  const locked = (): JournalError =>
    new JournalError('Locked', `another agent uses ${dir}: stop it, or give this one another state directory`);

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
        // Closing removes the file by its name, which may be another agent's by now.
        if (mine !== undefined && (await inodeOf(file)) === mine) await closeServer(server);
        await directory?.close();
      },
    };
  } catch (error) {
    await directory?.close();
    throw error;
  }
};
