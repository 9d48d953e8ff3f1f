import type { DeleteOptions } from 'kubernetes-types/meta/v1.d.ts';
import { defineResource, type ObjectRef, type Resource } from '../../../src/kube/index.ts';
import type { HttpRequest } from '../../../src/kube/testing/index.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One request of a process. A call that its client tries again is several. */
export interface Call {
  process: string;
  /** When it was sent, actual time, epoch ms. */
  at: number;
  verb: Verb;
  /** Undefined: a path outside the resource API. */
  resource: Resource | undefined;
  ref: ObjectRef | undefined;
  /** Parsed; undefined without one, and for a delete. */
  body: unknown;
  options: DeleteOptions | undefined;
  query: URLSearchParams;
}

export type RefusalStatus = 409 | 410 | 422 | 429 | 500 | 503;

/** How one call fails. */
export type CallFault =
  | { kind: 'refuse'; status: RefusalStatus }
  /** It never arrives, silently: the caller times out. */
  | { kind: 'lose-request' }
  /** It is executed, and the response is lost. */
  | { kind: 'lose-answer' }
  /** It is executed, and the response is cut short. */
  | { kind: 'truncate' }
  | { kind: 'reset-request' }
  | { kind: 'reset-answer' }
  /** The process is stopped before the call is sent, or after it was executed, and continues this much later. */
  | { kind: 'stop'; when: 'before' | 'after'; ms: number }
  /** The process dies before the call is sent, or after it was executed. */
  | { kind: 'crash'; when: 'before' | 'after' };

/** What happens to a watch at its next event. */
export type StreamFault =
  /** The event is lost; delivered twice; the last one; or replaced by 410, a truncated line or a broken connection. */
  | { how: 'drop' | 'duplicate' | 'silence' | 'gone' | 'truncate' | 'reset' }
  /** This event, and those within `forMs`, are delayed, ms. */
  | { how: 'lag'; ms: number; forMs: number };

const PATH =
  /^\/(?:api\/(v1)|apis\/([^/]+)\/([^/]+))(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/[^/]+)?$/;
const WRITES: Partial<Record<string, Verb>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

const resources = new Map<string, Resource>();
const resourceOf = (group: string, version: string, plural: string, namespaced: boolean): Resource => {
  const key = `${group}/${version}/${plural}/${namespaced}`;
  const resource = resources.get(key) ?? defineResource({ group, version, plural, kind: '', namespaced });
  resources.set(key, resource);
  return resource;
};

/** What a request asks for. */
export const toCall = (
  { method, path, body: text }: HttpRequest,
  parse: (text: string) => unknown,
  process: string,
  at: number,
): Call => {
  const [pathname = '', ...search] = path.split('?');
  const query = new URLSearchParams(search.join('?'));
  const [matches, core, group = '', version = core ?? '', namespace, plural = '', name] = PATH.exec(pathname) ?? [];
  const body = text === undefined ? undefined : parse(text);
  const read: Verb = name !== undefined || !matches ? 'get' : query.get('watch') === 'true' ? 'watch' : 'list';
  const verb = WRITES[method] ?? read;
  const named = name ?? (body as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? '';
  const isObject = verb !== 'list' && verb !== 'watch' && matches !== undefined;
  return {
    process,
    at,
    verb,
    resource: matches ? resourceOf(group, version, plural, namespace !== undefined) : undefined,
    ref: isObject ? { name: decodeURIComponent(named), ...(namespace !== undefined && { namespace }) } : undefined,
    body: verb === 'delete' ? undefined : body,
    options: verb === 'delete' ? (body ?? {}) : undefined,
    query,
  };
};
