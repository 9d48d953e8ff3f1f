import type { Socket } from 'node:net';
import type { Env, Timer } from '../../runtime/index.ts';

/** So many looks in a row without a byte make a connection dead. */
export const LOOKS = 3;

export interface Watchdog {
  add(socket: Socket): void;
  stop(): void;
}

/**
 * Finds connections that died without a word (NAT timeouts, black holes): undici sends HTTP/2 PINGs but does not miss
 * their answers, so this looks whether bytes still come in. Looks are counted, not milliseconds: a machine that slept
 * or an event loop that was blocked must not be taken for a dead link. HTTP/1.1 has no PING; there TCP keep-alive does
 * this work.
 */
export const createWatchdog = (env: Env, deadAfterMs: number): Watchdog => {
  const sockets = new Map<Socket, { bytes: number; silentLooks: number }>();
  let timer: Timer | undefined;
  const look = (): void => {
    timer = undefined;
    for (const [socket, seen] of sockets) {
      const bytes = socket.bytesRead;
      seen.silentLooks = bytes === seen.bytes ? seen.silentLooks + 1 : 0;
      seen.bytes = bytes;
      if (seen.silentLooks >= LOOKS) socket.destroy(new Error(`the connection brought nothing for ${deadAfterMs} ms`));
    }
    arm();
  };
  const arm = (): void => {
    if (timer === undefined && sockets.size > 0) timer = env.clock.timer(deadAfterMs / LOOKS, look);
  };
  const forget = (socket: Socket): void => {
    sockets.delete(socket);
    if (sockets.size === 0) {
      timer?.cancel();
      timer = undefined;
    }
  };
  return {
    add(socket) {
      sockets.set(socket, { bytes: socket.bytesRead, silentLooks: 0 });
      socket.once('close', () => forget(socket));
      arm();
    },
    stop() {
      for (const socket of sockets.keys()) forget(socket);
    },
  };
};
