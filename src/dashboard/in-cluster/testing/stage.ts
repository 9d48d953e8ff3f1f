import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { createTestClock } from '../../../../test/support/index.ts';
import { silentLogger } from '../../../runtime/index.ts';
import { createSubscribers, type Feed } from '../../feed.ts';
import type { CommandRequest, NodeDetails, OverviewMessage, RolloutRow } from '../../messages.ts';
import type { RolloutFeed } from '../../rollout-feed.ts';
import { type DashboardServerOptions, startDashboardServer } from '../../server.ts';
import { createCallers } from '../callers.ts';
import { resolveServeOptions } from '../options.ts';
import type { Reviews } from '../reviews.ts';
import { createSessions } from '../sessions.ts';
import { createTokenGate } from '../token-gate.ts';

export const HOST = 'edgeset.example.org';

export const rowOf = (namespace: string, name = 'web'): RolloutRow => ({
  namespace,
  name,
  kind: 'ds',
  state: 'complete',
  status: 'Complete',
  why: '',
  target: 'v1',
  version: { from: '', to: 'v1', changed: 0, images: [] },
  strategy: 'auto',
  nodes: {},
  budget: { inUse: 0, limit: 1 },
});

export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** The address that the caller connects from. */
  from?: string;
}

/** A stream as its reader sees it. */
export interface Opened {
  said(): string;
  isOver(): boolean;
  sent: ClientRequest;
}

/**
 * The dashboard's server with callers `ann`, who may see namespace shop, and `root`, who may see all; each has the token
 * `token-of-NAME`. There are rollouts shop/web and secret/web.
 */
export const openStage = async (t: TestContext, options: Partial<DashboardServerOptions> = {}) => {
  const { isProxy = () => false } = options;
  const clock = createTestClock();
  const env = { clock, random: () => 0.5, log: silentLogger };
  const rows = new Map([rowOf('shop'), rowOf('secret')].map((row) => [row.namespace, row]));
  const subscribers = createSubscribers<OverviewMessage>(() => ({ type: 'rollouts', rows: [...rows.values()] }));
  const overview: Feed<OverviewMessage> = { subscribe: (listener) => subscribers.subscribe(listener) };
  const world = {
    clock,
    /** Tokens that the API server reviewed. */
    reviewed: [] as string[],
    revoked: new Set<string>(),
    namespaces: new Map([['ann', new Set(['shop'])]]),
    apiFails: false,
    /** Rollouts that were watched. */
    watched: [] as string[],
    /** Commands that ran, with whose token. */
    ran: [] as [token: string, request: CommandRequest][],
    tell(row: RolloutRow): void {
      rows.set(row.namespace, row);
      subscribers.publish({ type: 'change', rows: [row], gone: [] });
    },
  };
  const reviews: Reviews = {
    async userOf(token) {
      world.reviewed.push(token);
      if (world.apiFails) throw new Error('connect ECONNREFUSED');
      // Or a JWT.
      const [, name] = /^token-of-([^.]+)/.exec(token) ?? [];
      return name === undefined || world.revoked.has(token) ? undefined : { username: name };
    },
    async isAllowed({ username = '' }, { namespace = '' }) {
      if (world.apiFails) throw new Error('connect ECONNREFUSED');
      return username === 'root' || (world.namespaces.get(username)?.has(namespace) ?? false);
    },
  };
  const rollout: RolloutFeed = {
    reading: () => undefined,
    subscribe(listener) {
      listener({ type: 'nothing', why: 'a rollout' });
      return () => undefined;
    },
  };
  const { sites } = resolveServeOptions(
    { listen: '127.0.0.1:0', insecureHttp: true, allowedHost: [HOST] },
    { terminal: false },
  );
  const sessions = createSessions(clock);
  const gate = createTokenGate({
    env,
    fleet: {
      overview: async () => overview,
      rollout({ namespace, kind, name }) {
        world.watched.push(`${namespace}/${kind}/${name}`);
        return { feed: rollout, done: () => undefined };
      },
      labels: async () => ({ site: ['north', 'south'] }),
    },
    callers: createCallers(reviews, clock),
    sessions,
    namespaces: undefined,
    isProxy,
    ownRights: (token) => ({
      node: async (_feed, _namespace, node): Promise<NodeDetails> => {
        world.watched.push(`node ${node}`);
        throw new Error('no node is read here');
      },
      events: async () => ({ events: [], missing: [] }),
      async run(asked) {
        world.ran.push([token, asked]);
        return { typed: '', failed: false, output: '', notes: [] };
      },
    }),
    sites,
  });
  const server = await startDashboardServer({
    env,
    listen: { host: '127.0.0.1', port: 0 },
    gate,
    trouble: () => '',
    page: async () => [{ path: '/', contentType: 'text/html', body: '<p>page</p>', etag: '"1"' }],
    toListenError: (_address, cause) => cause,
    ...options,
  });
  t.after(() => server.close());
  const address = `127.0.0.1:${server.port}`;
  const origin = `http://${address}`;

  const start = ({ method = 'GET', path, headers: more, from: localAddress }: Call): ClientRequest => {
    const headers = { connection: 'close', ...more };
    // The path is sent as it is.
    return request({
      host: '127.0.0.1',
      port: server.port,
      method,
      path,
      headers,
      ...(localAddress && { localAddress }),
    });
  };
  const call = (options_: Call): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const sent = start(options_);
      sent.on('error', reject);
      sent.on('response', (response) => {
        text(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          reject,
        );
      });
      sent.end(options_.body);
    });
  const asJson = { 'content-type': 'application/json' };
  return {
    ...world,
    world,
    server,
    sessions,
    review: () => gate.review(),
    address,
    origin,
    call,
    /** The name of a new ServiceAccount of this namespace, which may see the namespace shop. */
    account(namespace: string, name: string): string {
      const username = `system:serviceaccount:${namespace}:${name}`;
      world.namespaces.set(username, new Set(['shop']));
      return username;
    },
    asJson,
    /** A login as the page sends it, with more headers or others. */
    logIn: (token: string, headers: Record<string, string> = {}, from?: string) =>
      call({
        ...(from !== undefined && { from }),
        method: 'POST',
        path: '/api/session',
        headers: { origin, ...asJson, ...headers },
        body: JSON.stringify({ token }),
      }),
    /** The cookie of a session of this user. */
    async sessionOf(name: string): Promise<string> {
      const { headers } = await this.logIn(`token-of-${name}`);
      return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    },
    /** Opens a stream, and resolves once it has begun, or was refused. */
    open: (path: string, headers: Record<string, string>, from?: string): Promise<Opened & { status: number }> =>
      new Promise((resolve, reject) => {
        const sent = start({ path, headers, ...(from && { from }) });
        let said = '';
        let isOver = false;
        sent.on('error', (error) => {
          isOver = true;
          reject(error);
        });
        sent.on('response', (response) => {
          response.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
          response.on('close', () => (isOver = true));
          response.on('error', () => undefined);
          resolve({ status: response.statusCode ?? 0, said: () => said, isOver: () => isOver, sent });
        });
        t.after(() => sent.destroy());
        sent.end();
      }),
  };
};
