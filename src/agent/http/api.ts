import type { Env } from '../../runtime/index.ts';
import { type AuthOptions, createAuthenticate } from '../callers/index.ts';
import type { Asset } from '../page/index.ts';
import type { AgentBackend } from '../types.ts';
import { compatibleRoutes } from './compatible-routes.ts';
import { createEventStreams, type EventStreams } from './event-streams.ts';
import { createHandler, type Handler } from './handler.ts';
import type { Limits } from './limits.ts';
import { openApi } from './openapi.ts';
import { ownRoutes } from './own-routes.ts';
import { createPageAnswers } from './page-answers.ts';
import { createRateLimiter } from './rate-limiter.ts';

export interface ApiOptions {
  backend: AgentBackend;
  env: Env;
  limits: Limits;
  auth: AuthOptions;
  /** Called when the page is first asked for. */
  page: () => Promise<readonly Asset[]>;
  version: string;
  /** Hears of every answer, and why a request was refused. */
  onAnswer: (status: number, refusal: string | undefined) => void;
}

/** All that the agent answers, whatever the requests come in on. */
export const createApi = (options: ApiOptions): { handler: Handler; streams: EventStreams } => {
  const { backend, env, limits, auth, page, version, onAnswer } = options;
  const now = (): number => env.clock.now();
  const streams = createEventStreams(env, limits);
  const routes = [...compatibleRoutes, ...ownRoutes(streams, now)];
  const handler = createHandler({
    env,
    backend,
    limits,
    rates: createRateLimiter(env.clock),
    authenticate: createAuthenticate(auth, now),
    routes,
    document: openApi(routes, version),
    page: createPageAnswers(page),
    onAnswer,
  });
  return { handler, streams };
};
