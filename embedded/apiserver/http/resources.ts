import type { StoredObject } from '../../types.ts';
import {
  badRequest,
  invalid,
  methodNotAllowed,
  noResource,
  notSupported,
  StatusError,
  unexplained,
} from '../errors.ts';
import { createObject } from '../handlers/create.ts';
import { type DeleteContext, deleteObject } from '../handlers/delete.ts';
import { listPage, type Selection, tooLarge } from '../handlers/list.ts';
import { patchObject } from '../handlers/patch.ts';
import { fromStorageVersion, keyFor, type ServerState, storedObject, type WriteContext } from '../handlers/state.ts';
import { replaceObject } from '../handlers/update.ts';
import { arrayOf, at, isRecord, type Json, recordOf, sharing, textOf, without } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { keyOf } from '../storage/store.ts';
import { isLarge, patchTypeOf, readObject, readValue } from './body.ts';
import { createEncoder, negotiateFormat, type ObjectEncoder } from './encoder.ts';
import { json, type Request, type Response, success } from './exchange.ts';
import { validateFields } from './field-validation.ts';
import { postSubresource } from './pod-subresources.ts';
import { isReview, serveReview } from './reviews.ts';
import type { Route } from './route.ts';
import { watchStream } from './watch-stream.ts';
import { checkWriteOptions } from './write-options.ts';

const numberOf = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return value;
};

const flagOf = (query: URLSearchParams, name: string): boolean | undefined => {
  const text = query.get(name);
  if (text === null) return undefined;
  return !['false', '0'].includes(text.toLowerCase());
};

const textOfQuery = (query: URLSearchParams, name: string): string | undefined => query.get(name) ?? undefined;

/** A request for resources of a kind. */
interface ResourceRequest {
  readonly state: ServerState;
  readonly kind: Kind;
  readonly route: Route;
  readonly request: Request;
  /** For the client, whether the request succeeds or not. */
  readonly warnings: string[];
}

interface ObjectRequest extends ResourceRequest {
  readonly route: Route & { name: string };
}

/** The field manager: explicit, or the first part of the user agent. */
const managerOf = ({ query, userAgent }: Request): string =>
  query.get('fieldManager') || userAgent.split('/', 1)[0] || 'unknown';

const selectionOf = ({ namespace }: Route, query: URLSearchParams): Selection => ({
  namespace,
  labelSelector: textOfQuery(query, 'labelSelector'),
  fieldSelector: textOfQuery(query, 'fieldSelector'),
});

const encoderFor = ({ state, kind, request }: ResourceRequest): ObjectEncoder =>
  createEncoder(
    kind,
    negotiateFormat(request.accept),
    request.query.get('includeObject') ?? 'Metadata',
    state.clock.now(),
  );

const list = (target: ResourceRequest): Response => {
  const { state, kind, route, request } = target;
  const { query, signal } = request;
  const encoder = encoderFor(target);
  const timeoutSeconds = numberOf(query, 'timeoutSeconds');
  const options = {
    ...selectionOf(route, query),
    resourceVersion: textOfQuery(query, 'resourceVersion'),
    resourceVersionMatch: textOfQuery(query, 'resourceVersionMatch'),
    sendInitialEvents: flagOf(query, 'sendInitialEvents'),
  };
  if (flagOf(query, 'watch') === true) {
    const bookmarks = flagOf(query, 'allowWatchBookmarks');
    checkVersionForm(options.resourceVersion || '0');
    return watchStream(state, kind, { ...options, bookmarks }, encoder, { timeoutSeconds, signal });
  }
  const limit = numberOf(query, 'limit');
  const page = listPage(state, kind, { ...options, limit, continue: textOfQuery(query, 'continue') });
  return json(encoder.list(page));
};

const presentObject = ({ state, kind, route }: ObjectRequest): StoredObject | undefined => {
  const found = state.store.get(kind.collection, keyFor(kind, route));
  return found && fromStorageVersion(kind, found);
};

const withNamespace = (object: Json, route: Route, kind: Kind): Json => {
  // Metadata of a wrong type is left for the check of types.
  if (object.metadata !== undefined && object.metadata !== null && !isRecord(object.metadata)) return object;
  const metadata = recordOf(object.metadata);
  if (!kind.namespaced || route.namespace === undefined) return object;
  const namespace = textOf(metadata.namespace);
  if (namespace !== '' && namespace !== route.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return { ...object, metadata: { ...metadata, namespace: route.namespace } };
};

const writeContext = async ({ request, warnings }: ResourceRequest): Promise<WriteContext> => ({
  fieldManager: managerOf(request),
  dryRun: request.query.getAll('dryRun').includes('All'),
  warn: (text) => void warnings.push(text),
  isLarge: await isLarge(request),
});

const create = async (target: ResourceRequest): Promise<Response> => {
  const { state, kind, route, request, warnings } = target;
  checkWriteOptions(request.method, request.query);
  const object = withNamespace(await readObject(request), route, kind);
  warnings.push(...validateFields(kind, object, request.query));
  const made = createObject(state, kind, object, await writeContext(target));
  return json(encoderFor(target).one(made), 201, warnings);
};

const deleteContext = async (request: Request): Promise<DeleteContext> => {
  const { query } = request;
  const body = await readObject(request, {});
  const dryRun = [...query.getAll('dryRun'), ...arrayOf(body.dryRun)];
  if (dryRun.some((value) => value !== 'All'))
    throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', [
      notSupported('dryRun', dryRun, ['All']),
    ]);
  const { uid, resourceVersion } = recordOf(body.preconditions);
  const seconds = body.gracePeriodSeconds ?? numberOf(query, 'gracePeriodSeconds');
  const policy = textOf(body.propagationPolicy) || textOfQuery(query, 'propagationPolicy');
  const orphan = body.orphanDependents ?? flagOf(query, 'orphanDependents');
  return {
    preconditions: {
      ...(typeof uid === 'string' && { uid }),
      ...(typeof resourceVersion === 'string' && { resourceVersion }),
    },
    ...(typeof seconds === 'number' && { gracePeriodSeconds: seconds }),
    ...(policy && { propagationPolicy: policy as 'Orphan' | 'Background' | 'Foreground' }),
    ...(typeof orphan === 'boolean' && { orphanDependents: orphan }),
    dryRun: dryRun.length > 0,
  };
};

const remove = async (target: ObjectRequest): Promise<Response> => {
  const { state, kind, route, request } = target;
  const { object, removed } = deleteObject(state, kind, route, await deleteContext(request));
  if (!removed || kind.strategy.returnDeletedObject) return json(encoderFor(target).one(object));
  return json(
    success({
      name: route.name,
      ...(kind.group !== '' && { group: kind.group }),
      kind: kind.plural,
      uid: object.metadata.uid,
    }),
  );
};

const removeAll = async (target: ResourceRequest): Promise<Response> => {
  const { state, kind, route, request } = target;
  if (kind.plural === 'namespaces' && kind.group === '') throw methodNotAllowed();
  const context = await deleteContext(request);
  const page = listPage(state, kind, selectionOf(route, request.query));
  for (const { metadata } of page.items)
    if (state.store.get(kind.collection, keyOf(metadata.namespace, metadata.name)))
      deleteObject(state, kind, { namespace: metadata.namespace, name: metadata.name }, context);
  return json(encoderFor(target).list({ ...page, version: state.store.version }));
};

const patch = async (target: ObjectRequest): Promise<Response> => {
  const { state, kind, route, request, warnings } = target;
  const { query } = request;
  const type = patchTypeOf(request.contentType);
  checkWriteOptions(request.method, query, type === 'apply');
  const body = await readValue(request, type === 'apply' ? 'application/yaml' : 'application/json');
  const { object, created } = patchObject(state, kind, route, body, {
    ...(await writeContext(target)),
    type,
    subresource: route.subresource,
    force: flagOf(query, 'force') === true,
    inspect: (next) => void warnings.push(...validateFields(kind, next, query, { type, body })),
  });
  return json(encoderFor(target).one(object), created ? 201 : 200, warnings);
};

const put = async (target: ObjectRequest): Promise<Response> => {
  const { state, kind, route, request, warnings } = target;
  checkWriteOptions(request.method, request.query);
  const stored = presentObject(target);
  const object = sharing(withNamespace(await readObject(request), route, kind), stored) as Json;
  warnings.push(...validateFields(kind, object, request.query));
  const name = textOf(at(object, 'metadata', 'name'));
  if (name !== '' && name !== route.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${route.name})`);
  const named = name === '' ? { ...object, metadata: { ...recordOf(object.metadata), name: route.name } } : object;
  const context = await writeContext(target);
  if (!stored && kind.strategy.allowCreateOnUpdate && route.subresource === undefined) {
    const fresh = { ...named, metadata: without(recordOf(named.metadata), 'resourceVersion') };
    return json(encoderFor(target).one(createObject(state, kind, fresh, context)), 201, warnings);
  }
  const made = replaceObject(state, kind, named, { ...context, subresource: route.subresource });
  return json(encoderFor(target).one(made), 200, warnings);
};

const checkVersionForm = (version: string): void => {
  if (/^\d+$/.test(version)) return;
  const text = JSON.stringify(version);
  throw unexplained(`resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`);
};

/** Refuses to read what is newer than everything that was written. */
const checkVersion = ({ store }: ServerState, version: string): void => {
  checkVersionForm(version);
  if (Number(version) > store.version) throw tooLarge(Number(version), store.version);
};

const get = (target: ObjectRequest): Response => {
  const version = target.request.query.get('resourceVersion') ?? '';
  if (version !== '') checkVersion(target.state, version);
  const { state, kind, route } = target;
  return json(encoderFor(target).one(fromStorageVersion(kind, storedObject(state, kind, route))));
};

type Handlers<T> = Readonly<Record<string, (target: T) => Response | Promise<Response>>>;

const collectionHandlers: Handlers<ResourceRequest> = { GET: list, POST: create, DELETE: removeAll };
const objectHandlers: Handlers<ObjectRequest> = { GET: get, PUT: put, PATCH: patch, DELETE: remove };

const handlerOf = <T>(handlers: Handlers<T>, { request }: ResourceRequest): Handlers<T>[string] => {
  const handler = Object.hasOwn(handlers, request.method) ? handlers[request.method] : undefined;
  if (!handler) throw methodNotAllowed();
  return handler;
};

const VERBS: Readonly<Record<string, string>> = { GET: 'get', PUT: 'update', PATCH: 'patch', POST: 'create' };

const serveSubresource = (target: ObjectRequest): Response | Promise<Response> => {
  const { state, kind, route, request } = target;
  const subresource = kind.subresources.find(({ name }) => name === route.subresource);
  if (!subresource) throw noResource();
  if (!subresource.verbs.includes(VERBS[request.method] ?? '')) throw methodNotAllowed();
  if (request.method === 'POST') return postSubresource(state, kind, route, subresource.name, request);
  return handlerOf(objectHandlers, target)(target);
};

const isForObject = (target: ResourceRequest): target is ObjectRequest => target.route.name !== undefined;

const serveTarget = (target: ResourceRequest): Response | Promise<Response> => {
  const { kind, route } = target;
  if (!isForObject(target)) return handlerOf(collectionHandlers, target)(target);
  if (kind.namespaced && route.namespace === undefined) throw noResource();
  return route.subresource === undefined ? handlerOf(objectHandlers, target)(target) : serveSubresource(target);
};

/** Handles a request to the resource API. */
export const serveResource = async (state: ServerState, route: Route, request: Request): Promise<Response> => {
  if (isReview(route)) return serveReview(state, route, request);
  const kind = state.registry.find(route.group, route.version, route.plural);
  if (!kind || (route.namespace !== undefined && !kind.namespaced)) throw noResource();
  const target: ResourceRequest = { state, kind, route, request, warnings: [] };
  try {
    return await serveTarget(target);
  } catch (error) {
    if (error instanceof StatusError) error.warnings = target.warnings;
    throw error;
  }
};
