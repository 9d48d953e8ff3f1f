import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentBackend, Caller, Reauthorize } from '../types.ts';
import type { HttpResponse } from './response.ts';
import type { Schema } from './schemas.ts';

/** What a route is given: the caller is known and the path's names are well-formed. */
export interface Call {
  backend: AgentBackend;
  request: IncomingMessage;
  caller: Caller;
  reauthorize: Reauthorize;
  param(name: 'namespace' | 'podName' | 'daemonSet'): string;
  query: URLSearchParams;
  /** The JSON object of a route that has a body. */
  body: Record<string, unknown>;
}

/** Takes the response over, to write for longer than one answer. */
export interface StreamResponse {
  stream(response: ServerResponse, head: boolean): void;
}

/** One operation: what the router needs, and what the OpenAPI document says of it. */
export interface Route {
  method: 'GET' | 'POST';
  /** `{name}` is a parameter. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  query?: readonly { name: string; description: string; schema: Schema }[];
  body?: { schema: Schema; examples: Readonly<Record<string, unknown>> };
  /** Answers of the route itself, by status; those of the guards are the same for all. */
  responses: Readonly<
    Record<
      number,
      { description: string; contentType: string; schema: Schema; headers?: Readonly<Record<string, string>> }
    >
  >;
  handle(call: Call): HttpResponse | StreamResponse | Promise<HttpResponse | StreamResponse>;
}

export interface Match {
  route: Route;
  params: ReadonlyMap<string, string>;
}

/** `found` by path and method; `methods` when only the path is known. */
export type Routed = { kind: 'found'; match: Match } | { kind: 'method'; allow: readonly string[] } | { kind: 'none' };

const matchPath = (template: string, segments: readonly string[]): ReadonlyMap<string, string> | undefined => {
  const parts = template.slice(1).split('/');
  if (parts.length !== segments.length) return undefined;
  const params = new Map<string, string>();
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith('{')) params.set(part.slice(1, -1), segment);
    else if (part !== segment) return undefined;
  }
  return params;
};

/** HEAD goes where GET does. */
export const findRoute = (routes: readonly Route[], method: string, segments: readonly string[]): Routed => {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const methods = new Set<string>();
  for (const route of routes) {
    const params = matchPath(route.path, segments);
    if (params === undefined) continue;
    if (route.method === wanted) return { kind: 'found', match: { route, params } };
    methods.add(route.method);
    if (route.method === 'GET') methods.add('HEAD');
  }
  return methods.size === 0 ? { kind: 'none' } : { kind: 'method', allow: [...methods, 'OPTIONS'] };
};
