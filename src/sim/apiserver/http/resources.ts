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

/** Names itself, or is named by the program that it says it is. */
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

const show = (state: ServerState, kind: Kind, call: Request) =>
  createEncoder(kind, negotiateFormat(call.accept), call.query.get('includeObject') ?? 'Metadata', state.clock.now());

const list = (state: ServerState, kind: Kind, route: Route, call: Request): Response => {
  const { query } = call;
  const selection = selectionOf(route, query);
  const shown = show(state, kind, call);
  const resourceVersion = textParameter(query, 'resourceVersion');
  const resourceVersionMatch = textParameter(query, 'resourceVersionMatch');
  if (flagOf(query, 'watch') === true) {
    const request = {
      ...selection,
      resourceVersion,
      resourceVersionMatch,
      sendInitialEvents: flagOf(query, 'sendInitialEvents'),
      bookmarks: flagOf(query, 'allowWatchBookmarks'),
    };
    return watchStream(state, kind, request, shown, {
      timeoutSeconds: numberOf(query, 'timeoutSeconds'),
      signal: call.signal,
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
  return json(shown.list(page));
};

const inPlace = (object: Json, route: Route, kind: Kind): Json => {
  const metadata = recordOf(object.metadata);
  if (!kind.namespaced || route.namespace === undefined) return object;
  const namespace = textOf(metadata.namespace);
  if (namespace !== '' && namespace !== route.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return { ...object, metadata: { ...metadata, namespace: route.namespace } };
};

const create = async (state: ServerState, kind: Kind, route: Route, call: Request): Promise<Response> => {
  const object = inPlace(await readObject(await call.body(), call.contentType), route, kind);
  const warnings = validateFields(kind, object, call.query);
  const made = createObject(state, kind, object, { fieldManager: managerOf(call), dryRun: isDryRun(call.query) });
  return json(show(state, kind, call).one(made), 201, warnings);
};

const deleteContext = async (call: Request): Promise<DeleteContext> => {
  const { query } = call;
  const text = await call.body();
  const body = text.length === 0 ? {} : await readObject(text, call.contentType);
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
  call: Request,
): Promise<Response> => {
  const { object, gone } = deleteObject(state, kind, route, await deleteContext(call));
  if (!gone || kind.strategy.returnDeletedObject) return json(show(state, kind, call).one(object));
  const details = {
    name: route.name,
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.plural,
    uid: object.metadata.uid,
  };
  return json(success(details));
};

const removeAll = async (state: ServerState, kind: Kind, route: Route, call: Request): Promise<Response> => {
  const context = await deleteContext(call);
  const page = listPage(state, kind, selectionOf(route, call.query));
  for (const { metadata } of page.items)
    if (state.store.get(kind.collection, keyOf(metadata.namespace, metadata.name)))
      deleteObject(state, kind, { namespace: metadata.namespace, name: metadata.name }, context);
  return json(show(state, kind, call).list({ ...page, version: state.store.version }));
};

const patch = async (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  call: Request,
): Promise<Response> => {
  const type = patchTypeOf(call.contentType);
  const text = await call.body();
  const body = await readValue(text, type === 'apply' ? 'application/yaml' : 'application/json');
  const manager = type === 'apply' ? call.query.get('fieldManager') : managerOf(call);
  const warnings: string[] = [];
  const { object, created } = patchObject(state, kind, route, body, {
    type,
    ...(manager === null ? {} : { fieldManager: manager }),
    ...(route.subresource === undefined ? {} : { subresource: route.subresource }),
    dryRun: isDryRun(call.query),
    force: flagOf(call.query, 'force') === true,
    inspect: (next) => void warnings.push(...validateFields(kind, next, call.query, true)),
  });
  return json(show(state, kind, call).one(object), created ? 201 : 200, warnings);
};

const put = async (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  call: Request,
): Promise<Response> => {
  const object = inPlace(await readObject(await call.body(), call.contentType), route, kind);
  const warnings = validateFields(kind, object, call.query);
  const name = textOf(at(object, 'metadata', 'name'));
  if (name !== '' && name !== route.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${route.name})`);
  const named = { ...object, metadata: { ...recordOf(object.metadata), name: route.name } };
  const made = replaceObject(state, kind, named, {
    fieldManager: managerOf(call),
    dryRun: isDryRun(call.query),
    subresource: route.subresource,
  });
  return json(show(state, kind, call).one(made), 200, warnings);
};

const get = (state: ServerState, kind: Kind, route: Route & { name: string }, call: Request): Response => {
  const found = state.store.get(kind.collection, keyOf(kind.namespaced ? route.namespace : undefined, route.name));
  if (!found) throw notFound(kind, route.name);
  return json(show(state, kind, call).one(fromStorageVersion(kind, found)));
};

const isNamed = (route: Route): route is Route & { name: string } => route.name !== undefined;

const ofCollection = (state: ServerState, kind: Kind, route: Route, call: Request): Response | Promise<Response> => {
  switch (call.method) {
    case 'GET':
      return list(state, kind, route, call);
    case 'POST':
      return create(state, kind, route, call);
    case 'DELETE':
      if (kind.plural === 'namespaces' && kind.group === '') throw methodNotAllowed();
      return removeAll(state, kind, route, call);
    default:
      throw methodNotAllowed();
  }
};

const ofObject = (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  call: Request,
): Response | Promise<Response> => {
  switch (call.method) {
    case 'GET':
      return get(state, kind, route, call);
    case 'PUT':
      return put(state, kind, route, call);
    case 'PATCH':
      return patch(state, kind, route, call);
    case 'DELETE':
      return remove(state, kind, route, call);
    default:
      throw methodNotAllowed();
  }
};

const VERBS: Readonly<Record<string, string>> = { GET: 'get', PUT: 'update', PATCH: 'patch', POST: 'create' };

const ofSubresource = (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  call: Request,
): Response | Promise<Response> => {
  const subresource = kind.subresources.find(({ name }) => name === route.subresource);
  if (!subresource) throw noResource();
  if (!subresource.verbs.includes(VERBS[call.method] ?? '')) throw methodNotAllowed();
  if (call.method === 'GET') return get(state, kind, route, call);
  if (call.method === 'PUT') return put(state, kind, route, call);
  if (call.method === 'PATCH') return patch(state, kind, route, call);
  return postSubresource(state, kind, route, subresource.name, call);
};

/** Answers a request to the resource API. */
export const serveResource = async (state: ServerState, route: Route, call: Request): Promise<Response> => {
  const review = await serveReview(state, route, call);
  if (review) return review;
  const kind = state.registry.find(route.group, route.version, route.plural);
  if (!kind || (route.namespace !== undefined && !kind.namespaced)) throw noResource();
  if (kind.namespaced && route.namespace === undefined && isNamed(route)) throw noResource();
  if (!isNamed(route)) return ofCollection(state, kind, route, call);
  return route.subresource === undefined ? ofObject(state, kind, route, call) : ofSubresource(state, kind, route, call);
};
