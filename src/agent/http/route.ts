import type { ServerResponse } from 'node:http';
import type { HttpResponse } from '../../http/index.ts';
import type { Schema } from '../schema.ts';
import type { AgentBackend, Caller, Reauthorize } from '../types.ts';

/** What a route handler gets: the caller is authenticated and the names in the path are valid. */
export interface Call {
  backend: AgentBackend;
  caller: Caller;
  reauthorize: Reauthorize;
  param(name: 'namespace' | 'podName' | 'daemonSet'): string;
  query: URLSearchParams;
  /** The JSON object of a route that has a body. */
  body: Record<string, unknown>;
}

/** Takes over the response to write a stream to it. */
export interface StreamResponse {
  stream(response: ServerResponse, head: boolean): void;
}

/** One operation: what the router needs, and what the OpenAPI document says about it. */
export interface Route {
  method: 'GET' | 'POST';
  /** `{name}` is a parameter. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  query?: readonly { name: string; description: string; schema: Schema }[];
  body?: { schema: Schema; examples: Readonly<Record<string, unknown>> };
  /** The route's own responses by status; all routes share those of the guards. */
  responses: Readonly<
    Record<
      number,
      { description: string; contentType: string; schema: Schema; headers?: Readonly<Record<string, string>> }
    >
  >;
  handle(call: Call): HttpResponse | StreamResponse | Promise<HttpResponse | StreamResponse>;
}

/** A parsed request-target. */
export interface Target {
  path: string;
  /** The path's segments, without the empty one before the first slash. */
  segments: readonly string[];
  query: URLSearchParams;
}

/**
 * Parses a request-target as sent, before anything normalizes it. Undefined for everything that a client of this API does
 * not need: escapes, empty or dotted segments, backslashes, absolute URLs, non-printable bytes. Names on these paths are
 * DNS names, so no valid path needs an escape.
 */
export const parseTarget = (raw: string, maxChars: number): Target | undefined => {
  if (raw.length > maxChars || !/^\/[!-~]*$/.test(raw)) return undefined;
  const at = raw.indexOf('?');
  const path = at < 0 ? raw : raw.slice(0, at);
  const search = at < 0 ? '' : raw.slice(at + 1);
  if (/[%\\#;<>"^`{|}]/.test(path) || /[\\#]/.test(search)) return undefined;
  const segments = path.slice(1).split('/');
  if (path !== '/' && segments.some((segment) => segment === '' || /^\.+$/.test(segment))) return undefined;
  return { path, segments, query: new URLSearchParams(search) };
};

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** A namespace is a DNS label; pods and DaemonSets are DNS subdomains. */
const isValidParam = (name: string, value: string): boolean =>
  name === 'namespace'
    ? value.length <= 63 && DNS_LABEL.test(value)
    : value.length <= 253 && value.split('.').every((label) => DNS_LABEL.test(label));

export type Routed =
  | { kind: 'found'; route: Route; params: ReadonlyMap<string, string> }
  /** A parameter of the path is no name of its kind. */
  | { kind: 'name'; name: string; value: string }
  /** The path is known, but not with this method. */
  | { kind: 'method'; allow: readonly string[] }
  | { kind: 'none' };

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

/** HEAD is routed like GET. */
export const findRoute = (routes: readonly Route[], method: string, segments: readonly string[]): Routed => {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const methods = new Set<string>();
  for (const route of routes) {
    const params = matchPath(route.path, segments);
    if (params === undefined) continue;
    if (route.method === wanted) {
      for (const [name, value] of params) if (!isValidParam(name, value)) return { kind: 'name', name, value };
      return { kind: 'found', route, params };
    }
    methods.add(route.method);
    if (route.method === 'GET') methods.add('HEAD');
  }
  return methods.size === 0 ? { kind: 'none' } : { kind: 'method', allow: [...methods, 'OPTIONS'] };
};
