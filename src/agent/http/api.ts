import type { Env } from '../../runtime/index.ts';
import { type AuthOptions, createAuthenticator } from '../auth/index.ts';
import type { Asset } from '../page/index.ts';
import type { AgentBackend } from '../types.ts';
import { edgesetRoutes } from './edgeset-routes.ts';
import { createEventStreams, type EventStreams } from './event-streams.ts';
import { createHandler, type Handler } from './handler.ts';
import type { Limits } from './limits.ts';
import { openApi } from './openapi.ts';
import { createPageRoutes } from './page-routes.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { yurtHubRoutes } from './yurthub-routes.ts';

export interface ApiOptions {
  backend: AgentBackend;
  env: Env;
  limits: Limits;
  auth: AuthOptions;
  /** Called when the page is first asked for. */
  page: () => Promise<readonly Asset[]>;
  version: string;
  /** Hears of every answer, and why a request was refused. */
  onResponse: (status: number, refusal: string | undefined) => void;
}

/** All that the agent answers, whatever the requests come in on. */
export const createApi = (options: ApiOptions): { handler: Handler; streams: EventStreams } => {
  const { backend, env, limits, auth, page, version, onResponse } = options;
  const now = (): number => env.clock.now();
  const streams = createEventStreams(env, limits);
  const routes = [...yurtHubRoutes, ...edgesetRoutes(streams, now)];
  const handler = createHandler({
    env,
    backend,
    limits,
    rates: createRateLimiter(env.clock),
    authenticate: createAuthenticator(auth, now),
    routes,
    document: openApi(routes, version),
    page: createPageRoutes(page),
    onResponse,
  });
  return { handler, streams };
};
