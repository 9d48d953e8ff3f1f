import type { Socket } from 'node:net';
import type { Env, Timer } from '../../runtime/index.ts';

/** A connection is dead after this many consecutive checks without a byte received. */
export const CHECKS = 3;

export interface Watchdog {
  add(socket: Socket): void;
  stop(): void;
}

/**
 * Finds connections that died silently (NAT timeouts, black holes). undici sends HTTP/2 PINGs but does not notice when
 * they go unanswered, so the watchdog checks whether bytes still arrive. It counts checks, not milliseconds: a machine
 * that slept, or an event loop that was blocked, must not be mistaken for a dead connection.
 */
export const createWatchdog = (env: Env, deadAfterMs: number): Watchdog => {
  const sockets = new Map<Socket, { bytes: number; silentChecks: number }>();
  let timer: Timer | undefined;
  const check = (): void => {
    timer = undefined;
    for (const [socket, seen] of sockets) {
      const bytes = socket.bytesRead;
      seen.silentChecks = bytes === seen.bytes ? seen.silentChecks + 1 : 0;
      seen.bytes = bytes;
      if (seen.silentChecks >= CHECKS) socket.destroy(new Error(`nothing was received for ${deadAfterMs} ms`));
    }
    arm();
  };
  const arm = (): void => {
    if (timer === undefined && sockets.size > 0) timer = env.clock.timer(deadAfterMs / CHECKS, check);
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
      sockets.set(socket, { bytes: socket.bytesRead, silentChecks: 0 });
      socket.once('close', () => forget(socket));
      arm();
    },
    stop() {
      for (const socket of sockets.keys()) forget(socket);
    },
  };
};
