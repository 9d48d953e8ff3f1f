import { badRequest, methodNotAllowed, noResource, notFound } from '../errors.ts';
import { createObject } from '../handlers/create.ts';
import { type DeleteContext, deleteObject } from '../handlers/delete.ts';
import { listPage } from '../handlers/list.ts';
import { patchObject } from '../handlers/patch.ts';
import { fromStorageVersion, type ServerState } from '../handlers/state.ts';
import { replaceObject } from '../handlers/update.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { keyOf } from '../storage/store.ts';
import { serveReview } from './authentication.ts';
import { patchTypeOf, readObject, readValue } from './body.ts';
import { createEncoder, negotiateFormat } from './encoder.ts';
import { json, type Request, type Response, success } from './exchange.ts';
import { validateFields } from './field-validation.ts';
import { postSubresource } from './pod-subresources.ts';
import type { Route } from './router.ts';
import { watchStream } from './watch-stream.ts';

const numberOf = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value))
    throw badRequest(`query parameter ${name} must be a whole number, not ${JSON.stringify(text)}`);
  return value;
};

const flagOf = (query: URLSearchParams, name: string): boolean | undefined => {
  const text = query.get(name);
  if (text === null) return undefined;
  return text === '' || text === 'true' || text === '1';
};

const textParameter = (query: URLSearchParams, name: string): string | undefined => query.get(name) ?? undefined;

/** The field manager: explicit, or the first part of the user agent. */
const managerOf = ({ query, userAgent }: Request): string =>
  query.get('fieldManager') || userAgent.split('/', 1)[0] || 'unknown';

const isDryRun = (query: URLSearchParams): boolean => {
  const values = query.getAll('dryRun').filter((value) => value !== '');
  if (values.some((value) => value !== 'All')) throw badRequest('dryRun: Unsupported value: supported values: "All"');
  return values.length > 0;
};

const selectionOf = (route: Route, query: URLSearchParams) => {
  const labelSelector = textParameter(query, 'labelSelector');
  const fieldSelector = textParameter(query, 'fieldSelector');
  return {
    ...(route.namespace === undefined ? {} : { namespace: route.namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
};

const encoderFor = (state: ServerState, kind: Kind, request: Request) =>
  createEncoder(
    kind,
    negotiateFormat(request.accept),
    request.query.get('includeObject') ?? 'Metadata',
    state.clock.now(),
  );

const list = (state: ServerState, kind: Kind, route: Route, request: Request): Response => {
  const { query } = request;
  const selection = selectionOf(route, query);
  const encoder = encoderFor(state, kind, request);
  const resourceVersion = textParameter(query, 'resourceVersion');
  const resourceVersionMatch = textParameter(query, 'resourceVersionMatch');
  if (flagOf(query, 'watch') === true) {
    const watchRequest = {
      ...selection,
      resourceVersion,
      resourceVersionMatch,
      sendInitialEvents: flagOf(query, 'sendInitialEvents'),
      bookmarks: flagOf(query, 'allowWatchBookmarks'),
    };
    return watchStream(state, kind, watchRequest, encoder, {
      timeoutSeconds: numberOf(query, 'timeoutSeconds'),
      signal: request.signal,
    });
  }
  const limit = numberOf(query, 'limit');
  const next = textParameter(query, 'continue');
  const page = listPage(state, kind, {
    ...selection,
    ...(limit === undefined ? {} : { limit }),
    ...(next === undefined ? {} : { continue: next }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
    sendInitialEvents: flagOf(query, 'sendInitialEvents'),
  });
  return json(encoder.list(page));
};

const inPlace = (object: Json, route: Route, kind: Kind): Json => {
  const metadata = recordOf(object.metadata);
  if (!kind.namespaced || route.namespace === undefined) return object;
  const namespace = textOf(metadata.namespace);
  if (namespace !== '' && namespace !== route.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return { ...object, metadata: { ...metadata, namespace: route.namespace } };
};

const create = async (state: ServerState, kind: Kind, route: Route, request: Request): Promise<Response> => {
  const object = inPlace(await readObject(await request.body(), request.contentType), route, kind);
  const warnings = validateFields(kind, object, request.query);
  const made = createObject(state, kind, object, { fieldManager: managerOf(request), dryRun: isDryRun(request.query) });
  return json(encoderFor(state, kind, request).one(made), 201, warnings);
};

const deleteContext = async (request: Request): Promise<DeleteContext> => {
  const { query } = request;
  const text = await request.body();
  const body = text.length === 0 ? {} : await readObject(text, request.contentType);
  const preconditions = recordOf(body.preconditions);
  const { uid, resourceVersion } = preconditions;
  const seconds = body.gracePeriodSeconds ?? numberOf(query, 'gracePeriodSeconds');
  const policy = textOf(body.propagationPolicy) || textParameter(query, 'propagationPolicy');
  const orphan = body.orphanDependents ?? flagOf(query, 'orphanDependents');
  return {
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
    ...(typeof seconds === 'number' ? { gracePeriodSeconds: seconds } : {}),
    ...(policy ? { propagationPolicy: policy as 'Orphan' | 'Background' | 'Foreground' } : {}),
    ...(typeof orphan === 'boolean' ? { orphanDependents: orphan } : {}),
    dryRun: isDryRun(query) || arrayOf(body.dryRun).includes('All'),
  };
};

const remove = async (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  request: Request,
): Promise<Response> => {
  const { object, gone } = deleteObject(state, kind, route, await deleteContext(request));
  if (!gone || kind.strategy.returnDeletedObject) return json(encoderFor(state, kind, request).one(object));
  const details = {
    name: route.name,
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.plural,
    uid: object.metadata.uid,
  };
  return json(success(details));
};

const removeAll = async (state: ServerState, kind: Kind, route: Route, request: Request): Promise<Response> => {
  const context = await deleteContext(request);
  const page = listPage(state, kind, selectionOf(route, request.query));
  for (const { metadata } of page.items)
    if (state.store.get(kind.collection, keyOf(metadata.namespace, metadata.name)))
      deleteObject(state, kind, { namespace: metadata.namespace, name: metadata.name }, context);
  return json(encoderFor(state, kind, request).list({ ...page, version: state.store.version }));
};

const patch = async (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  request: Request,
): Promise<Response> => {
  const type = patchTypeOf(request.contentType);
  const text = await request.body();
  const body = await readValue(text, type === 'apply' ? 'application/yaml' : 'application/json');
  const manager = type === 'apply' ? request.query.get('fieldManager') : managerOf(request);
  const warnings: string[] = [];
  const { object, created } = patchObject(state, kind, route, body, {
    type,
    ...(manager === null ? {} : { fieldManager: manager }),
    ...(route.subresource === undefined ? {} : { subresource: route.subresource }),
    dryRun: isDryRun(request.query),
    force: flagOf(request.query, 'force') === true,
    inspect: (next) => void warnings.push(...validateFields(kind, next, request.query, true)),
  });
  return json(encoderFor(state, kind, request).one(object), created ? 201 : 200, warnings);
};

const put = async (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  request: Request,
): Promise<Response> => {
  const object = inPlace(await readObject(await request.body(), request.contentType), route, kind);
  const warnings = validateFields(kind, object, request.query);
  const name = textOf(at(object, 'metadata', 'name'));
  if (name !== '' && name !== route.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${route.name})`);
  const named = { ...object, metadata: { ...recordOf(object.metadata), name: route.name } };
  const made = replaceObject(state, kind, named, {
    fieldManager: managerOf(request),
    dryRun: isDryRun(request.query),
    subresource: route.subresource,
  });
  return json(encoderFor(state, kind, request).one(made), 200, warnings);
};

const get = (state: ServerState, kind: Kind, route: Route & { name: string }, request: Request): Response => {
  const found = state.store.get(kind.collection, keyOf(kind.namespaced ? route.namespace : undefined, route.name));
  if (!found) throw notFound(kind, route.name);
  return json(encoderFor(state, kind, request).one(fromStorageVersion(kind, found)));
};

const isNamed = (route: Route): route is Route & { name: string } => route.name !== undefined;

const ofCollection = (state: ServerState, kind: Kind, route: Route, request: Request): Response | Promise<Response> => {
  switch (request.method) {
    case 'GET':
      return list(state, kind, route, request);
    case 'POST':
      return create(state, kind, route, request);
    case 'DELETE':
      if (kind.plural === 'namespaces' && kind.group === '') throw methodNotAllowed();
      return removeAll(state, kind, route, request);
    default:
      throw methodNotAllowed();
  }
};

const ofObject = (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  request: Request,
): Response | Promise<Response> => {
  switch (request.method) {
    case 'GET':
      return get(state, kind, route, request);
    case 'PUT':
      return put(state, kind, route, request);
    case 'PATCH':
      return patch(state, kind, route, request);
    case 'DELETE':
      return remove(state, kind, route, request);
    default:
      throw methodNotAllowed();
  }
};

const VERBS: Readonly<Record<string, string>> = { GET: 'get', PUT: 'update', PATCH: 'patch', POST: 'create' };

const ofSubresource = (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  request: Request,
): Response | Promise<Response> => {
  const subresource = kind.subresources.find(({ name }) => name === route.subresource);
  if (!subresource) throw noResource();
  if (!subresource.verbs.includes(VERBS[request.method] ?? '')) throw methodNotAllowed();
  if (request.method === 'GET') return get(state, kind, route, request);
  if (request.method === 'PUT') return put(state, kind, route, request);
  if (request.method === 'PATCH') return patch(state, kind, route, request);
  return postSubresource(state, kind, route, subresource.name, request);
};

/** Handles a request to the resource API. */
export const serveResource = async (state: ServerState, route: Route, request: Request): Promise<Response> => {
  const review = await serveReview(state, route, request);
  if (review) return review;
  const kind = state.registry.find(route.group, route.version, route.plural);
  if (!kind || (route.namespace !== undefined && !kind.namespaced)) throw noResource();
  if (kind.namespaced && route.namespace === undefined && isNamed(route)) throw noResource();
  if (!isNamed(route)) return ofCollection(state, kind, route, request);
  return route.subresource === undefined
    ? ofObject(state, kind, route, request)
    : ofSubresource(state, kind, route, request);
};
