import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Env } from '../../runtime/index.ts';
import type { Authenticator, AuthResult } from '../auth/index.ts';
import { JournalError, saveFailureOf } from '../decisions/index.ts';
import type { AgentBackend } from '../types.ts';
import { discard, readJson } from './body.ts';
import type { Connection } from './connections.ts';
import type { Limits } from './limits.ts';
import { checkOrigin, type Site } from './origin.ts';
import type { PageRoutes } from './page-routes.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { failure, type HttpResponse, json } from './response.ts';
import { findRoute, type Match, type Route, type StreamResponse } from './route.ts';
import { isNamespace, isObjectName, parseTarget, type Target } from './target.ts';

export interface HandlerParts {
  env: Env;
  backend: AgentBackend;
  limits: Limits;
  rates: RateLimiter;
  authenticate: Authenticator;
  routes: readonly Route[];
  /** Of the routes. */
  document: object;
  page: PageRoutes;
  /** Hears of every answer. */
  onResponse: (status: number, refusal: string | undefined) => void;
}

/** Answers one request that came in on `connection`, at a listener that is reached as `site`. Never rejects. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  site: Site,
) => Promise<void>;

const READING: readonly string[] = ['GET', 'HEAD'];

/** Against a page that embeds, sniffs or keeps what we say; no header here ever lets another origin in. */
const ALWAYS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const methodNotAllowed = (method: string, allow: readonly string[]): HttpResponse =>
  method === 'OPTIONS'
    ? { status: 204, headers: { allow: allow.join(', ') } }
    : failure(405, `the method here is ${allow.join(' or ')}`, { headers: { allow: allow.join(', ') } });

const badName = ({ params }: Match): HttpResponse | undefined => {
  for (const [name, value] of params) {
    const good = name === 'namespace' ? isNamespace(value) : isObjectName(value);
    if (!good) return failure(400, `"${value.slice(0, 80)}" is no name of a ${name}`, { cause: 'BadName' });
  }
  return undefined;
};

const refuse = ({ status, message, reason }: Extract<AuthResult, { kind: 'refused' }>): HttpResponse =>
  failure(status, message, {
    cause: reason,
    headers: status === 401 ? { 'www-authenticate': 'Bearer realm="edgeset-agent"' } : {},
    close: true,
  });

/** Nothing that is not on the disk is ever done. */
const notSaved = (error: JournalError): HttpResponse => {
  const { status, text } = saveFailureOf(error);
  return failure(status, text, { cause: error.code, retryAfterSeconds: 10 });
};

/**
 * The order of the checks: what the request says of itself, where it comes from, how often, who sends it, and only then
 * what it asks for. A stranger learns nothing of what there is.
 */
export const createHandler = (parts: HandlerParts): Handler => {
  const { env, backend, limits, rates, authenticate, routes, document, page } = parts;

  const overRate = async (connection: Connection): Promise<HttpResponse | undefined> => {
    const { key, pool, rate } = await connection.account();
    // One caller's share first: whoever has used that up takes nothing from the others.
    const seconds = rates.take(key, rate) || rates.take(pool, limits.ratePerPool);
    return seconds === 0
      ? undefined
      : failure(429, 'too many requests', { cause: 'RateLimited', retryAfterSeconds: seconds, close: true });
  };

  /** What needs no caller: the page's files and the description of this API hold nothing of this device. */
  const open = async (
    { method = '', headers }: IncomingMessage,
    { path }: Target,
  ): Promise<HttpResponse | undefined> => {
    const found = path === '/openapi.json' ? json(200, document) : await page.find(path, headers['if-none-match']);
    if (found === undefined) return undefined;
    return READING.includes(method) ? found : methodNotAllowed(method, ['GET', 'HEAD', 'OPTIONS']);
  };

  const call = async (
    request: IncomingMessage,
    target: Target,
    verdict: Extract<AuthResult, { kind: 'caller' }>,
  ): Promise<HttpResponse | StreamResponse> => {
    const { method = '' } = request;
    const routed = findRoute(routes, method, target.segments);
    if (routed.kind === 'none') return failure(404, 'there is nothing here: see /openapi.json');
    if (routed.kind === 'method') return methodNotAllowed(method, routed.allow);
    const { match } = routed;
    const bad = badName(match);
    if (bad !== undefined) return bad;
    if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes)
      return failure(413, `a body has at most ${limits.bodyBytes} bytes`, { cause: 'BodyTooLarge', close: true });
    const body = match.route.body === undefined ? undefined : await readJson(request, limits.bodyBytes);
    if (body?.kind === 'refused') return body.answer;
    return match.route.handle({
      backend,
      request,
      caller: verdict.caller,
      reauthorize: verdict.reauthorize,
      param: (name) => match.params.get(name) ?? '',
      query: target.query,
      body: body?.value ?? {},
    });
  };

  const answer = async (
    request: IncomingMessage,
    connection: Connection,
    site: Site,
  ): Promise<HttpResponse | StreamResponse> => {
    const target = parseTarget(request.url ?? '', limits.targetChars);
    if (target === undefined)
      return failure(400, 'the path is not one that this API knows', { cause: 'BadTarget', close: true });
    const foreign = checkOrigin(request, site);
    if (foreign !== undefined) return foreign;
    if (connection.pending > limits.pipelined)
      return failure(429, 'too many requests at once on one connection', {
        cause: 'TooManyPipelined',
        retryAfterSeconds: 1,
        close: true,
      });
    const over = await overRate(connection);
    if (over !== undefined) return over;
    const found = await open(request, target);
    if (found !== undefined) return found;
    const verdict = await authenticate(request, connection.peer);
    return verdict.kind === 'refused' ? refuse(verdict) : call(request, target, verdict);
  };

  const send = (request: IncomingMessage, response: ServerResponse, { close, ...sent }: HttpResponse): void => {
    const { status, contentType, body = '', headers = {} } = sent;
    if (!request.complete) discard(request);
    const unread = !request.complete && Number(request.headers['content-length'] ?? 1) > 0;
    for (const [name, value] of Object.entries({ ...ALWAYS, ...headers })) response.setHeader(name, value);
    if (contentType !== undefined) response.setHeader('content-type', contentType);
    if (status !== 204 && status !== 304) response.setHeader('content-length', Buffer.byteLength(body));
    if (close || unread) response.setHeader('connection', 'close');
    response.writeHead(status);
    response.end(request.method === 'HEAD' ? undefined : body);
  };

  return async (request, response, connection, site) => {
    let result: HttpResponse | StreamResponse;
    connection.pending += 1;
    try {
      result = await answer(request, connection, site);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      env.log.error('a request failed', { method: request.method, error });
      result = error instanceof JournalError ? notSaved(error) : failure(500, 'the agent failed: its log says more');
    } finally {
      connection.pending -= 1;
    }
    if ('stream' in result) {
      for (const [name, value] of Object.entries(ALWAYS)) response.setHeader(name, value);
      result.stream(response, request.method === 'HEAD');
      parts.onResponse(200, undefined);
      return;
    }
    if (result.refusal !== undefined && result.status < 500)
      env.log.debug('refused', { status: result.status, cause: result.refusal, via: connection.peer.via });
    parts.onResponse(result.status, result.refusal);
    send(request, response, result);
  };
};
