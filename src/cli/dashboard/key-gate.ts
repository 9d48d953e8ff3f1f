import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { failure, tcpSite } from '../../http/index.ts';
import type { Fleet } from './fleet.ts';
import { cookieOf, type Gate, type View } from './gate.ts';

const COOKIE = 'edgeset-dashboard';
/** Of the address that the command prints and opens. */
export const PARAMETER = 'key';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

/**
 * Anyone who opens the address with the key gets a cookie, and sees what the user who started the dashboard may see. Other users
 * of the machine, and other programs that a browser visits, know neither.
 */
export const createKeyGate = (key: string, fleet: Fleet): Gate => {
  const view: View = {
    key: 'user',
    session: { user: '', mayLeave: false },
    overview: () => fleet.overview(),
    rollout: async (namespace, kind, name) => fleet.rollout(namespace, kind, name),
    node: (feed, namespace, node) => fleet.node(feed, namespace, node),
    labels: (label) => fleet.labels(label),
    run: (request) => fleet.run(request),
    mayStay: async () => true,
  };
  return {
    sites: (port) => [tcpSite('http', port, ['127.0.0.1', 'localhost'])],
    async enter(_request, url) {
      const given = url.pathname === '/' ? url.searchParams.get(PARAMETER) : null;
      if (given === null) return undefined;
      if (!isSame(given, key))
        return failure(403, 'the key is of another dashboard: open the address that was printed');
      // The key does not stay in the browser's history.
      return {
        status: 303,
        headers: { location: '/', 'set-cookie': `${COOKIE}=${key}; HttpOnly; SameSite=Strict; Path=/` },
      };
    },
    async admit(request: IncomingMessage) {
      const cookie = cookieOf(request, COOKIE);
      if (cookie !== undefined && isSame(cookie, key)) return view;
      return { refused: failure(401, 'open the address that was printed, with its key') };
    },
  };
};
