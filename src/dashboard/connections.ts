import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createRateLimiter } from '../http/index.ts';
import type { Env } from '../runtime/index.ts';
import { type IsProxy, networkOf } from './client-address.ts';
import { createShares, type Shares } from './shares.ts';

/** Of those who have not said who they are, by address. A browser opens six to load the page. */
const STRANGERS = { most: 256, mostOfOne: 64 };
/** Of those who have, by who shares what they may use. A page keeps one for its stream, and uses others for requests. */
const MEMBERS = { most: 640, mostOfOne: 128 };
/** A victim counts until it is closed. */
export const MOST_SOCKETS = STRANGERS.most + MEMBERS.most + 128;
/** A handshake costs a signature: no address starts more of them, and no more do all from where nobody was logged in lately. */
const RATE_OF_ADDRESS = { perSecond: 32, burst: 128 };
const RATE_OF_UNKNOWN = { perSecond: 48, burst: 192 };
/** Besides, those that connect little: enough to load the page. They do not queue up behind those that connect all the time. */
const LITTLE = { perSecond: 0.5, burst: 8 };
const RATE_OF_LITTLE = { perSecond: 32, burst: 64 };
const MOST_KNOWN = 1_000;

const CHECK_MS = 1_000;
/** A client that leaves more than this unread for this many checks in a row does not read. */
const MOST_UNREAD = { strangers: 16 * 1024, members: 1024 * 1024 };
const MOST_CHECKS = 20;
/** Of all connections together: each copies what it encrypts. */
const MOST_UNREAD_OF_ALL = 96 * 1024 * 1024;
const WARN_MS = 60_000;
const PROXIES = 'proxies';

interface Connection {
  /** With TLS, the socket above the accepted one as soon as its handshake is complete. */
  socket: Socket;
  holder: string;
  pool: 'strangers' | 'members';
  isBusy: boolean;
  /** Checks in a row that found too much unread. */
  unread: number;
}

export interface Connections {
  readonly size: number;
  /** Call it at once: a handshake that never completes holds a connection, too. False: it was refused. */
  accept(socket: Socket): boolean;
  /** Links the TLS socket to the accepted socket below it. */
  secured(socket: Socket): void;
  /** False: the request before it on this connection has no complete response yet, so this one is not to be handled. */
  begin(socket: Socket, response: ServerResponse): boolean;
  /** The connection is theirs, and no longer that of a stranger. */
  admit(socket: Socket, holder: string): void;
  /** Whether to close it after the response: strangers need the room. */
  isCrowded(socket: Socket): boolean;
  close(): void;
}

const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;

/**
 * Counts the open connections, and closes those that take what others need. A newcomer always gets one: when there are too many,
 * who holds most loses the one that is oldest, or unused for longest.
 */
export const createConnections = ({ clock, log }: Pick<Env, 'clock' | 'log'>, isProxy: IsProxy): Connections => {
  const rates = createRateLimiter(clock);
  /** By itself: a limiter remembers few keys, and what an address has used of one rate must not push out the other. */
  const little = createRateLimiter(clock);
  const open = new Map<string, Connection>();
  const pools: Readonly<Record<Connection['pool'], Shares<Connection>>> = {
    strangers: createShares(STRANGERS),
    members: createShares(MEMBERS, ({ isBusy }) => isBusy),
  };
  /** Addresses from which somebody was admitted, in the order of the last time. */
  const known = new Set<string>();
  const remember = (address: string): void => {
    known.delete(address);
    known.add(address);
    const [oldest = ''] = known;
    if (known.size > MOST_KNOWN) known.delete(oldest);
  };
  const isTooOften = (address: string): boolean => {
    if (rates.take(address, RATE_OF_ADDRESS) > 0) return true;
    if (known.has(address)) return false;
    if (little.take(address, LITTLE) === 0 && rates.take('little', RATE_OF_LITTLE) === 0) return false;
    return rates.take('unknown', RATE_OF_UNKNOWN) > 0;
  };
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = (address: string): void => {
    if (Math.abs(clock.now() - warnedAt) < WARN_MS) return;
    warnedAt = clock.now();
    log.warn('too many connections are opened; if the address is that of a proxy, see --trusted-proxies', { address });
  };

  const put = (connection: Connection, pool: Connection['pool'], holder: string): void => {
    pools[connection.pool].drop(connection.holder, connection);
    const victim = holder === PROXIES ? undefined : pools[pool].victim(holder);
    if (victim) {
      pools[pool].drop(victim.holder, victim.item);
      victim.item.socket.destroy();
      if (pool === 'strangers' && victim.holder === holder) warn(holder);
    }
    Object.assign(connection, { pool, holder });
    pools[pool].use(holder, connection);
  };

  const check = (): void => {
    let sum = 0;
    for (const connection of open.values()) {
      const { socket, pool } = connection;
      connection.unread = socket.writableLength > MOST_UNREAD[pool] ? connection.unread + 1 : 0;
      if (connection.unread > MOST_CHECKS) socket.destroy();
      else sum += socket.writableLength;
    }
    if (sum > MOST_UNREAD_OF_ALL)
      for (const { socket } of [...open.values()].toSorted(
        (a, b) => b.socket.writableLength - a.socket.writableLength,
      )) {
        if (sum <= MOST_UNREAD_OF_ALL) break;
        sum -= socket.writableLength;
        socket.destroy();
      }
    timer = clock.timer(CHECK_MS, check);
  };
  let timer = clock.timer(CHECK_MS, check);

  return {
    get size() {
      return open.size;
    },
    accept(socket) {
      const { remoteAddress = '' } = socket;
      const isTrusted = isProxy(remoteAddress);
      const address = networkOf(remoteAddress);
      if (!isTrusted && isTooOften(address)) {
        warn(address);
        socket.destroy();
        return false;
      }
      const ends = endsOf(socket);
      const connection: Connection = { socket, holder: '', pool: 'strangers', isBusy: false, unread: 0 };
      open.set(ends, connection);
      if (isTrusted) put(connection, 'members', PROXIES);
      else put(connection, 'strangers', address);
      socket.once('close', () => {
        if (open.get(ends) === connection) open.delete(ends);
        pools[connection.pool].drop(connection.holder, connection);
      });
      return true;
    },
    secured(socket) {
      const connection = open.get(endsOf(socket));
      if (connection) connection.socket = socket;
    },
    begin(socket, response) {
      const connection = open.get(endsOf(socket));
      if (!connection || connection.isBusy) return false;
      connection.isBusy = true;
      response.once('close', () => (connection.isBusy = false));
      return true;
    },
    admit(socket, holder) {
      const connection = open.get(endsOf(socket));
      if (!connection) return;
      const isProxied = connection.holder === PROXIES;
      if (!isProxied) remember(networkOf(socket.remoteAddress ?? ''));
      put(connection, 'members', isProxied ? PROXIES : holder);
    },
    isCrowded(socket) {
      const connection = open.get(endsOf(socket));
      if (connection?.pool !== 'strangers') return false;
      const { strangers } = pools;
      return strangers.size * 2 > STRANGERS.most || strangers.of(connection.holder) * 2 > STRANGERS.mostOfOne;
    },
    close: () => timer.cancel(),
  };
};
