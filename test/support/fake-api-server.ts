import {
  type Request,
  type Response,
  readBody,
  sendJson,
  startJson,
  startTestServer,
  writeText,
} from './http-server.ts';

interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown> & {
    name: string;
    generateName?: string;
    namespace?: string;
    resourceVersion?: string;
  };
  [field: string]: unknown;
}

/** A response other than the true one; `hang`: none. */
export type ApiFault = { status: number; reason: string; message?: string; causes?: object[] } | 'hang' | 'reset';

export interface ApiRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: string;
  userAgent: string;
}

export interface FakeApiServer {
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly ApiRequest[];
  /** The plurals of the resources that are served. */
  readonly plurals: Set<string>;
  /** The resources in the discovery document of a group and version, such as `apps/v1`. Unlisted groups get 404. */
  readonly discovery: Map<string, readonly string[]>;
  /** Called before each request. */
  fault: (method: string, path: string) => ApiFault | undefined;
  /** Creates or replaces an object of the collection at `path`. */
  put(path: string, object: object): void;
  remove(path: string, name: string): void;
  /** The paths of all objects whose path contains `part`. */
  paths(part: string): string[];
  /** The JSON of an object. */
  text(path: string): string;
  /** Breaks all watches. */
  endWatches(): void;
  close(): Promise<void>;
}

const merge = (into: unknown, patch: unknown): unknown => {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(into as object) };
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  return result;
};

const refuse = (
  response: Response,
  { status, reason, message = reason, causes }: Exclude<ApiFault, string>,
  name?: string,
) =>
  sendJson(
    response,
    { kind: 'Status', status: 'Failure', code: status, reason, message, details: { name, causes } },
    status,
  );

/**
 * A small API server over HTTP for tests of clients: lists by namespace and name, watches, merge patches, creation and
 * replacement with optimistic locking, discovery, and faults.
 */
export const startFakeApiServer = async (...plurals: string[]): Promise<FakeApiServer> => {
  const objects = new Map<string, StoredObject>();
  const requests: ApiRequest[] = [];
  const watches = new Set<{ collection: string; response: Response }>();
  const history: { version: number; collection: string; line: string }[] = [];
  let version = 100;

  /** Whether objects of `place` belong to `collection`, which may be of one namespace or of all. */
  const isIn = (place: string, collection: string): boolean =>
    place === collection || place.replace(/\/namespaces\/[^/]+/, '') === collection;

  const notify = (collection: string, type: string, object: StoredObject): void => {
    const line = `${JSON.stringify({ type, object })}\n`;
    history.push({ version, collection, line });
    for (const watch of watches) if (isIn(collection, watch.collection)) writeText(watch.response, line);
  };
  const store = (collection: string, object: StoredObject): StoredObject => {
    version += 1;
    const key = `${collection}/${object.metadata.name}`;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    notify(collection, objects.has(key) ? 'MODIFIED' : 'ADDED', stored);
    objects.set(key, stored);
    return stored;
  };
  const listed = (collection: string, query: URLSearchParams): StoredObject[] => {
    const [, name] = /^metadata\.name=(.*)$/.exec(query.get('fieldSelector') ?? '') ?? [];
    return [...objects]
      .filter(([key]) => isIn(key.slice(0, key.lastIndexOf('/')), collection))
      .map(([, object]) => object)
      .filter(({ metadata }) => name === undefined || metadata.name === name);
  };

  const serveWatch = (path: string, query: URLSearchParams, response: Response): void => {
    startJson(response);
    if ('flushHeaders' in response) response.flushHeaders();
    if (query.has('sendInitialEvents')) {
      for (const object of listed(path, query)) writeText(response, `${JSON.stringify({ type: 'ADDED', object })}\n`);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const object = { metadata: { resourceVersion: String(version), annotations } };
      writeText(response, `${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    } else {
      const from = Number(query.get('resourceVersion') ?? version);
      for (const change of history)
        if (change.version > from && isIn(change.collection, path)) writeText(response, change.line);
    }
    const watch = { collection: path, response };
    watches.add(watch);
    response.once('close', () => watches.delete(watch));
  };

  const serveCollection = ({ method, path, query, body }: ApiRequest, response: Response): void => {
    if (method === 'POST') {
      const sent = JSON.parse(body) as Omit<StoredObject, 'metadata'> & { metadata?: StoredObject['metadata'] };
      const name = sent.metadata?.name ?? `${sent.metadata?.generateName ?? ''}${version}`;
      const object = { ...sent, metadata: { ...sent.metadata, name } } as StoredObject;
      if (objects.has(`${path}/${object.metadata.name}`)) refuse(response, { status: 409, reason: 'AlreadyExists' });
      else sendJson(response, store(path, object), 201);
    } else if (query.get('watch') === 'true') serveWatch(path, query, response);
    else {
      const metadata = { resourceVersion: String(version) };
      sendJson(response, { kind: 'List', metadata, items: listed(path, query) });
    }
  };

  const serveObject = ({ method, path, query, body }: ApiRequest, response: Response): void => {
    const found = objects.get(path);
    if (!found) {
      refuse(response, { status: 404, reason: 'NotFound', message: `${path} not found` }, path.split('/').at(-1));
      return;
    }
    if (method === 'GET') {
      sendJson(response, found);
      return;
    }
    const sent: unknown = JSON.parse(body);
    const next = (method === 'PUT' ? sent : merge(found, sent)) as StoredObject;
    if (method === 'PUT' && next.metadata.resourceVersion !== found.metadata.resourceVersion)
      refuse(response, { status: 409, reason: 'Conflict' });
    else if (query.get('dryRun') === 'All') sendJson(response, next);
    else sendJson(response, store(path.slice(0, path.lastIndexOf('/')), next));
  };

  const handle = async (request: Request, response: Response): Promise<void> => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://api');
    const { method = '', headers } = request;
    const received = { method, path, query, body: await readBody(request), userAgent: headers['user-agent'] ?? '' };
    requests.push(received);
    const fault = api.fault(method, path);
    const groupVersion = /^\/apis\/([^/]+\/[^/]+)$/.exec(path)?.[1];
    const resources = api.discovery.get(groupVersion ?? '');
    if (fault === 'hang') return;
    if (fault === 'reset') request.socket.destroy();
    else if (fault) refuse(response, fault);
    else if (resources) sendJson(response, { kind: 'APIResourceList', resources: resources.map((name) => ({ name })) });
    else if (api.plurals.has(path.split('/').at(-1) ?? '')) serveCollection(received, response);
    else serveObject(received, response);
  };

  const api: Pick<FakeApiServer, 'fault' | 'plurals' | 'discovery'> = {
    fault: () => undefined,
    plurals: new Set(plurals),
    discovery: new Map(),
  };
  const server = await startTestServer({ protocol: 'http' }, (request, response) => void handle(request, response));
  return Object.assign(api, {
    url: server.url,
    requests,
    put: (path: string, object: object) => void store(path, object as StoredObject),
    paths: (part: string) => [...objects.keys()].filter((path) => path.includes(part)),
    text: (path: string) => JSON.stringify(objects.get(path)),
    remove(path: string, name: string) {
      const key = `${path}/${name}`;
      const object = objects.get(key);
      objects.delete(key);
      version += 1;
      if (object) notify(path, 'DELETED', object);
    },
    endWatches() {
      for (const { response } of watches) response.destroy();
    },
    close: () => server.close(),
  });
};
