import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Asset,
  checkOrigin,
  createPage,
  createRateLimiter,
  dropBody,
  failure,
  type HttpResponse,
  json,
  readJson,
  type Site,
  safeHeaders,
  sendResponse,
} from '../../http/index.ts';
import type { Env } from '../../runtime/index.ts';
import { type AuthOptions, type AuthResult, createAuthenticator } from '../auth/index.ts';
import { InvalidDecision, StorageError, saveFailureOf } from '../decisions/index.ts';
import type { AgentBackend } from '../types.ts';
import type { Connection } from './connections.ts';
import { edgesetRoutes } from './edgeset-routes.ts';
import { createEventStreams, type EventStreams } from './event-streams.ts';
import type { Limits } from './limits.ts';
import { openApi } from './openapi.ts';
import { findRoute, parseTarget, type StreamResponse, type Target } from './route.ts';
import { yurtHubRoutes } from './yurthub-routes.ts';

export interface ApiOptions {
  backend: AgentBackend;
  env: Env;
  limits: Limits;
  auth: AuthOptions;
  /** Called on the first request for the page. */
  page: () => Promise<readonly Asset[]>;
  version: string;
  /** Called with every response, and why a request was refused. */
  onResponse: (status: number, refusal: string | undefined) => void;
}

/** Answers one request on `connection`, received by a listener that is reached as `site`. Never rejects. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  site: Site,
) => Promise<void>;

const READING: readonly string[] = ['GET', 'HEAD'];

/** No file of the page: it need not be loaded for them. */
const API_PATH = /^\/(?:edgeset\.io\/|openyurt\.io\/|pods$)/;

const methodNotAllowed = (method: string, allow: readonly string[]): HttpResponse =>
  method === 'OPTIONS'
    ? { status: 204, headers: { allow: allow.join(', ') } }
    : failure(405, `use ${allow.join(' or ')} here`, { headers: { allow: allow.join(', ') } });

const refuse = ({ status, message, reason }: Extract<AuthResult, { kind: 'refused' }>): HttpResponse =>
  failure(status, message, {
    cause: reason,
    headers: status === 401 ? { 'www-authenticate': 'Bearer realm="edgeset-agent"' } : {},
    close: true,
  });

/** The decision could not be saved, so nothing was done. */
const notSaved = (error: StorageError): HttpResponse => {
  const { status, text } = saveFailureOf(error);
  return failure(status, text, { cause: error.code, retryAfterSeconds: 10 });
};

/**
 * The whole API, for requests from any listener. It checks in this order: what the request says about itself, where it
 * comes from, how often, who sends it, and only then what it asks for. A caller that is not allowed learns nothing about
 * the device.
 */
export const createApi = (options: ApiOptions): { handler: Handler; streams: EventStreams } => {
  const { backend, env, limits, onResponse } = options;
  const now = (): number => env.clock.now();
  const streams = createEventStreams(env, limits);
  const routes = [...yurtHubRoutes, ...edgesetRoutes(streams, now)];
  const authenticate = createAuthenticator(options.auth, now);
  const page = createPage(options.page);
  const rates = createRateLimiter(env.clock);

  /** Served without authentication: the page's files and the API description contain nothing about this device. */
  const servePublic = async (
    { method = '', headers }: IncomingMessage,
    { path }: Target,
  ): Promise<HttpResponse | undefined> => {
    if (API_PATH.test(path)) return undefined;
    const found =
      path === '/openapi.json'
        ? json(200, openApi(routes, options.version))
        : await page.find(path, headers['if-none-match']);
    if (found === undefined) return undefined;
    return READING.includes(method) ? found : methodNotAllowed(method, ['GET', 'HEAD', 'OPTIONS']);
  };

  const respond = async (
    request: IncomingMessage,
    connection: Connection,
    site: Site,
  ): Promise<HttpResponse | StreamResponse> => {
    const target = parseTarget(request.url ?? '', limits.targetChars);
    if (target === undefined)
      return failure(400, 'the path is not a valid path of this API', { cause: 'BadTarget', close: true });
    const foreign = checkOrigin(request, site);
    if (foreign !== undefined) return foreign;
    if (connection.pending > limits.pipelined)
      return failure(429, 'too many concurrent requests on one connection', {
        cause: 'TooManyPipelined',
        retryAfterSeconds: 1,
        close: true,
      });
    const { key, pool, rate } = await connection.account();
    // The caller's own rate first: a caller that exceeds it takes nothing from the others in its pool.
    const retryAfterSeconds = rates.take(key, rate) || rates.take(pool, limits.ratePerPool);
    if (retryAfterSeconds > 0)
      return failure(429, 'too many requests', { cause: 'RateLimited', retryAfterSeconds, close: true });
    const found = await servePublic(request, target);
    if (found !== undefined) return found;
    const authenticated = await authenticate(request, connection.peer);
    if (authenticated.kind === 'refused') return refuse(authenticated);
    const { method = '' } = request;
    const routed = findRoute(routes, method, target.segments);
    if (routed.kind === 'none') return failure(404, 'no such path: see /openapi.json');
    if (routed.kind === 'method') return methodNotAllowed(method, routed.allow);
    if (routed.kind === 'name')
      return failure(400, `"${routed.value.slice(0, 80)}" is not a valid ${routed.name}`, { cause: 'BadName' });
    const { route, params } = routed;
    const body = await (route.body === undefined ? dropBody : readJson)(request, limits.bodyBytes);
    if (body.kind === 'refused') return body.response;
    return route.handle({
      backend,
      caller: authenticated.caller,
      reauthorize: authenticated.reauthorize,
      param: (name) => params.get(name) ?? '',
      query: target.query,
      body: body.value,
    });
  };

  const handler: Handler = async (request, response, connection, site) => {
    let result: HttpResponse | StreamResponse;
    connection.pending += 1;
    try {
      result = await respond(request, connection, site);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      if (error instanceof InvalidDecision) result = failure(422, error.message, { cause: 'BadDecision' });
      else {
        env.log.error('request failed', { method: request.method, error });
        result =
          error instanceof StorageError ? notSaved(error) : failure(500, 'internal error: see the log of the agent');
      }
    } finally {
      connection.pending -= 1;
    }
    if ('stream' in result) {
      for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
      result.stream(response, request.method === 'HEAD');
      onResponse(200, undefined);
      return;
    }
    if (result.refusal !== undefined && result.status < 500)
      env.log.debug('refused a request', { status: result.status, cause: result.refusal, via: connection.peer.via });
    onResponse(result.status, result.refusal);
    sendResponse(request, response, result);
  };
  return { handler, streams };
};
