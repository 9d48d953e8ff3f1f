import type { IncomingMessage } from 'node:http';
import { createRateLimiter, failure, type HttpResponse, json, readJson, type Site } from '../../http/index.ts';
import { type Env, errorText } from '../../runtime/index.ts';
import { kinds } from '../../view/index.ts';
import { clientOf, type IsProxy, networkOf } from '../client-address.ts';
import type { Fleet } from '../fleet.ts';
import { cookieOf, type Gate, type View } from '../gate.ts';
import type { SessionInfo } from '../messages.ts';
import type { Caller, Callers } from './callers.ts';
import { type Group, holderOf, type Session, type Sessions } from './sessions.ts';
import { firstVisible, hasRollout, visibleRollouts } from './visible-rollouts.ts';

/** The prefix makes browsers refuse it from other hosts of the domain, and without HTTPS. */
const COOKIE = '__Host-edgeset-dashboard';
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Strict';
const MOST_LOGIN_BYTES = 32 * 1024;
const TOKEN = /^[\x21-\x7e]{1,24000}$/;

const RATE_OF_CALLER = { perSecond: 20, burst: 100 };
/** Of tokens that the API server has to be asked about: from one address, and from all. */
const RATE_OF_ADDRESS = { perSecond: 2, burst: 20 };
const RATE_OF_ALL = { perSecond: 10, burst: 50 };
/** How often a session is reviewed, used or not, and how many are at once. */
const REVIEW_MS = 5 * 60_000;
const MOST_REVIEWS = 60;

/** What a caller does with rights of their own. */
export type OwnRights = (token: string) => Pick<View, 'node' | 'events' | 'run'>;

export interface TokenGateOptions {
  env: Env;
  fleet: Pick<Fleet, 'overview' | 'rollout' | 'labels'>;
  callers: Callers;
  sessions: Sessions;
  ownRights: OwnRights;
  sites: (port: number) => readonly [Site, ...Site[]];
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  isProxy: IsProxy;
}

export interface TokenGate extends Gate {
  /** Ends sessions whose token was revoked, or whose user may no longer see anything, used or not. Call it each minute. */
  review(): Promise<void>;
}

interface Refused {
  refused: HttpResponse;
  /** Why the caller has to log in, in a sentence for the page; empty for one who never did. */
  why?: string;
}

const loginRequired = (why: string): Refused => ({
  why,
  refused: failure(401, why || 'log in with a bearer token of Kubernetes', {
    cause: 'LoginRequired',
    headers: { 'www-authenticate': 'Bearer realm="edgeset-dashboard"' },
  }),
});

const unavailable = (): HttpResponse =>
  failure(503, 'the API server does not answer, so nobody can be authenticated: try again soon', {
    retryAfterSeconds: 5,
  });

/** Browsers send the origin of every request that changes something. */
const hasNoOrigin = ({ headers }: IncomingMessage): HttpResponse | undefined =>
  headers.origin === undefined
    ? failure(403, 'the header Origin is missing, which browsers send', { cause: 'NoOrigin' })
    : undefined;

const sawNothing = (username: string): string =>
  `${username || 'This user'} may see no namespace that has a rollout: ask for the right to list daemonrollouts.edgeset.io, daemonsets.apps and pods in one, and log in again`;

const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  headers.authorization === undefined ? undefined : (/^Bearer +(\S+)$/i.exec(headers.authorization)?.[1] ?? '');

/**
 * Admits callers with a token of Kubernetes: once, for a session that a cookie stands for, or with each request. Each sees the
 * namespaces that they may read, and does everything else with their own token.
 */
export const createTokenGate = (options: TokenGateOptions): TokenGate => {
  const { env, fleet, callers, sessions, ownRights, sites, namespaces, isProxy } = options;
  const rates = createRateLimiter(env.clock);

  /** A namespace that they may see: all, one that is served, that of a ServiceAccount, or one that has a rollout. */
  const seenBy = async ({ user, access }: Caller, before?: Group): Promise<Group | undefined> => {
    const [, , own] = holderOf(user.username ?? '').split(':');
    const some = ['', ...(namespaces ?? (own === undefined ? [] : [own]))];
    const groups = some.flatMap((namespace) => kinds.map(({ short: kind }) => ({ namespace, kind })));
    return firstVisible(await fleet.overview(), [...(before ? [before] : []), ...groups], access);
  };

  const viewOf = ({ token, user, access }: Caller, session: Session | undefined): View => ({
    key: holderOf(user.username ?? ''),
    session: { user: user.username ?? '', cluster: '', mayLeave: session !== undefined },
    signal: session?.signal,
    overview: async () => visibleRollouts(await fleet.overview(), access, env.clock),
    async rollout(ref) {
      // One that does not exist is never watched: anybody could ask for as many as they like.
      const isVisible = await access.maySee(ref.namespace, ref.kind);
      const isThere = hasRollout(await fleet.overview(), ref);
      return isVisible && isThere ? fleet.rollout(ref) : undefined;
    },
    async labels(key) {
      return (await access.mayListNodes()) ? fleet.labels(key) : {};
    },
    ...ownRights(token),
    async mayStay(shown) {
      const caller = await callers.of(token);
      return caller !== undefined && (!shown || caller.access.maySee(shown.namespace, shown.kind));
    },
  });

  /** Who has this token. A token that was not seen lately costs a request to the API server, of which there are only so many. */
  const callerOf = async (request: IncomingMessage, token: string, isTrusted: boolean): Promise<Caller | Refused> => {
    if (!TOKEN.test(token)) return loginRequired('This is no bearer token.');
    if (!isTrusted && !callers.isKnown(token)) {
      const network = networkOf(clientOf(request, isProxy));
      const seconds = rates.take(`address ${network}`, RATE_OF_ADDRESS) || rates.take('all', RATE_OF_ALL);
      if (seconds > 0)
        return {
          refused: failure(429, 'too many logins: try again soon', { retryAfterSeconds: seconds, close: true }),
        };
    }
    try {
      return (await callers.of(token)) ?? loginRequired('The API server does not accept this token.');
    } catch (error) {
      env.log.warn('failed to review a token', { error: errorText(error) });
      return { refused: unavailable() };
    }
  };

  const logIn = async (request: IncomingMessage): Promise<HttpResponse> => {
    const body = await readJson(request, MOST_LOGIN_BYTES);
    if (body.kind === 'refused') return body.response;
    const { token } = body.value;
    if (typeof token !== 'string') return failure(400, 'the field token is missing', { cause: 'NoToken' });
    const caller = await callerOf(request, token.trim(), false);
    if ('refused' in caller) return caller.refused;
    const username = caller.user.username ?? '';
    const seen = await seenBy(caller).catch(() => 'no answer' as const);
    if (seen === 'no answer') return unavailable();
    if (!seen) return failure(403, sawNothing(username), { cause: 'NoNamespace' });
    // A session never takes over an ID that the browser already has: somebody else may know it.
    sessions.end(cookieOf(request, COOKIE) ?? '');
    const opened = sessions.open(caller.token, username, seen);
    if (!opened) return loginRequired('The token has expired, by the clock of the dashboard.').refused;
    const seconds = Math.floor((opened.session.expiresAt - env.clock.now()) / 1_000);
    env.log.info('logged in', { user: username });
    return json(
      200,
      { user: username, mayLeave: true },
      { 'set-cookie': `${COOKIE}=${opened.id}; Max-Age=${seconds}; ${ATTRIBUTES}` },
    );
  };

  const logOut = (request: IncomingMessage): HttpResponse => {
    sessions.end(cookieOf(request, COOKIE) ?? '');
    return { status: 204, headers: { 'set-cookie': `${COOKIE}=; Max-Age=0; ${ATTRIBUTES}` } };
  };

  const admit = async (request: IncomingMessage): Promise<View | Refused> => {
    const bearer = bearerOf(request);
    if (bearer !== undefined) {
      const caller = await callerOf(request, bearer, false);
      return 'refused' in caller ? caller : viewOf(caller, undefined);
    }
    const id = cookieOf(request, COOKIE);
    const session = id === undefined ? undefined : sessions.find(id);
    if (id === undefined || !session) return loginRequired('');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const refused = hasNoOrigin(request);
      if (refused) return { refused };
    }
    const caller = await callerOf(request, session.token, true);
    if (!('refused' in caller)) return viewOf(caller, session);
    if (caller.refused.status !== 401) return caller;
    sessions.end(id);
    return loginRequired('The token has expired, or was revoked.');
  };

  /** A page asks whether it has to show the form. That it has to is no failure. */
  const describe = async (request: IncomingMessage): Promise<HttpResponse | undefined> => {
    if (request.headers.authorization !== undefined) return undefined;
    const admitted = await admit(request);
    if (!('why' in admitted)) return undefined;
    return json(200, { user: '', cluster: '', mayLeave: false, mustLogIn: admitted.why } satisfies SessionInfo);
  };

  return {
    rate: RATE_OF_CALLER,
    sites,
    async enter(request, url) {
      if (url.pathname !== '/api/session') return undefined;
      if (request.method === 'GET') return describe(request);
      if (request.method !== 'POST' && request.method !== 'DELETE') return undefined;
      const refused = hasNoOrigin(request);
      if (refused) return refused;
      return request.method === 'POST' ? logIn(request) : logOut(request);
    },
    admit,
    async review() {
      for (const session of sessions.stale(REVIEW_MS).slice(0, MOST_REVIEWS))
        try {
          const caller = await callers.of(session.token);
          if (!caller || !(await seenBy(caller, session.seen))) session.end();
          else session.reviewed();
        } catch {
          // Without an answer, nothing is known of the others either. Whoever uses one of them is reviewed then.
          return;
        }
    },
  };
};
