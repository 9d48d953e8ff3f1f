import { createHash, generateKeySync, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { failure, type HttpResponse, json, readJson, tcpSite } from '../http/index.ts';
import type { Clock, Timer } from '../runtime/index.ts';
import type { Fleet } from './fleet.ts';
import type { Gate, View } from './gate.ts';
import type { KeyMessage, SessionInfo } from './messages.ts';

const KEY_BITS = 256;
/** Shorter, so that an address fits into a line of a terminal. */
const CODE_BITS = 128;
const MOST_BYTES = 1_024;

/** How a code came to its end. */
export type CodeEnd = 'used' | 'expired' | 'closed';

export interface CodeOptions {
  /** Default: until it is used. */
  lifeMs?: number;
  ended?: (how: CodeEnd) => void;
}

/** Of a dashboard on the user's own machine. */
export interface KeyGate extends Gate {
  /** A code that a page exchanges for the key, once. It is for the fragment of an address, which browsers send to no server. */
  newCode(options?: CodeOptions): string;
  close(): void;
}

export interface KeyGateOptions {
  clock: Clock;
  fleet: Fleet;
  /** Default: neither is known. */
  session?: Pick<SessionInfo, 'user' | 'cluster' | 'clusters'>;
  /** Default: a new one. It is never part of an address, of a command line or of a cookie. */
  key?: string;
}

const random = (length: number): string => generateKeySync('hmac', { length }).export().toString('base64url');
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const idOf = (code: string): string => digest(code).toString('base64');

/**
 * Admits pages that hold the key: each sees what the user who started the dashboard may see. A page gets the key for a code, and
 * sends it as a header. No cookie: browsers send the cookies of 127.0.0.1 to the servers on all of its ports.
 */
export const createKeyGate = ({ clock, fleet, session, key = random(KEY_BITS) }: KeyGateOptions): KeyGate => {
  const view: View = {
    key: 'user',
    session: { user: '', cluster: '', ...session, mayLeave: false },
    overview: () => fleet.overview(),
    rollout: async (ref) => fleet.rollout(ref),
    node: (feed, ref, node) => fleet.node(feed, ref, node),
    events: (feed, ref) => fleet.events(feed, ref),
    labels: (label, cluster) => fleet.labels(label, cluster),
    run: (request) => fleet.run(request),
    mayStay: async () => true,
  };
  const codes = new Map<string, { expiry: Timer | undefined; ended: CodeOptions['ended'] }>();

  /** False: there is no such code, or no longer. */
  const end = (id: string, how: CodeEnd): boolean => {
    const code = codes.get(id);
    if (!code) return false;
    codes.delete(id);
    code.expiry?.cancel();
    code.ended?.(how);
    return true;
  };

  const exchange = async (request: IncomingMessage): Promise<HttpResponse> => {
    const body = await readJson(request, MOST_BYTES);
    if (body.kind === 'refused') return body.response;
    const { code } = body.value;
    if (typeof code !== 'string') return failure(400, 'the field code is missing', { cause: 'NoCode' });
    if (!end(idOf(code), 'used'))
      return failure(403, 'this address was used before, or is too old: open the one that was printed last');
    return json(200, { key } satisfies KeyMessage);
  };

  const isAdmitted = ({ headers }: IncomingMessage): boolean => {
    const [, given] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    return given !== undefined && isSame(given, key);
  };

  return {
    sites: (port) => [tcpSite('http', port, ['127.0.0.1', 'localhost'])],
    async enter(request, url) {
      if (url.pathname !== '/api/session') return undefined;
      if (request.method === 'POST') return exchange(request);
      if (request.method !== 'GET' || isAdmitted(request)) return undefined;
      return json(200, { ...view.session, mustOpen: true } satisfies SessionInfo);
    },
    async admit(request) {
      return isAdmitted(request) ? view : { refused: failure(401, 'open the address that was printed last') };
    },
    newCode({ lifeMs, ended } = {}) {
      const code = random(CODE_BITS);
      const id = idOf(code);
      const expiry = lifeMs === undefined ? undefined : clock.timer(lifeMs, () => end(id, 'expired'));
      codes.set(id, { expiry, ended });
      return code;
    },
    close() {
      for (const id of codes.keys()) end(id, 'closed');
    },
  };
};
