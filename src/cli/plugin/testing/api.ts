import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Stored {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown> & { name: string; namespace?: string; resourceVersion?: string };
  [field: string]: unknown;
}

/** What a request is answered with instead; `hang`: never. */
export type Fault = { status: number; reason: string; message?: string } | 'hang' | 'reset';

export interface FakeApi {
  readonly url: string;
  /** Method and path of all requests so far. */
  readonly requests: readonly { method: string; path: string; query: URLSearchParams; body: string }[];
  /** Creates or replaces; `path` is the collection's. */
  put(path: string, object: object): void;
  remove(path: string, name: string): void;
  /** An object as it is stored. */
  text(path: string): string;
  /** Collections that are served. */
  readonly kinds: Set<string>;
  /** Asked for each request first. */
  fault: (method: string, path: string) => Fault | undefined;
  /** Ends all watches, as a server does that goes away. */
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

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

/** As much of an API server as a command line talks to: reads, lists by name, watches, merge patches and refusals. */
export const startFakeApi = async (...kinds: string[]): Promise<FakeApi> => {
  const objects = new Map<string, Stored>();
  const requests: { method: string; path: string; query: URLSearchParams; body: string }[] = [];
  const watches = new Set<{ collection: string; response: ServerResponse }>();
  let version = 100;

  const history: { version: number; collection: string; line: string }[] = [];

  /** A list may be of one namespace or of all. */
  const isIn = (place: string, collection: string): boolean =>
    place === collection || place.replace(/\/namespaces\/[^/]+/, '') === collection;

  const tell = (collection: string, type: string, object: Stored): void => {
    const line = `${JSON.stringify({ type, object })}\n`;
    history.push({ version, collection, line });
    for (const watch of watches) if (isIn(collection, watch.collection)) watch.response.write(line);
  };
  const store = (collection: string, object: Stored): Stored => {
    version += 1;
    const key = `${collection}/${object.metadata.name}`;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    tell(collection, objects.has(key) ? 'MODIFIED' : 'ADDED', stored);
    objects.set(key, stored);
    return stored;
  };
  const listed = (collection: string, query: URLSearchParams): Stored[] => {
    const name = query.get('fieldSelector')?.replace('metadata.name=', '');
    return [...objects]
      .filter(([key]) => isIn(key.slice(0, key.lastIndexOf('/')), collection))
      .map(([, object]) => object)
      .filter(({ metadata }) => name === undefined || metadata.name === name);
  };

  const serveCollection = (path: string, query: URLSearchParams, response: ServerResponse): void => {
    const metadata = { resourceVersion: String(version) };
    if (query.get('watch') !== 'true') {
      send(response, 200, { kind: 'List', metadata, items: listed(path, query) });
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (query.has('sendInitialEvents')) {
      for (const object of listed(path, query)) response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
      const end = { metadata: { ...metadata, annotations: { 'k8s.io/initial-events-end': 'true' } } };
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object: end })}\n`);
    }
    const from = Number(query.get('resourceVersion') ?? version);
    if (!query.has('sendInitialEvents'))
      for (const change of history)
        if (change.version > from && isIn(change.collection, path)) response.write(change.line);
    const watch = { collection: path, response };
    watches.add(watch);
    response.once('close', () => watches.delete(watch));
  };

  const serveObject = (
    method: string,
    path: string,
    query: URLSearchParams,
    body: string,
    response: ServerResponse,
  ): void => {
    const found = objects.get(path);
    if (!found) {
      send(response, 404, {
        kind: 'Status',
        code: 404,
        reason: 'NotFound',
        message: `${path} not found`,
        details: { name: path.split('/').at(-1) },
      });
      return;
    }
    if (method === 'GET') {
      send(response, 200, found);
      return;
    }
    const next = merge(found, JSON.parse(body)) as Stored;
    const dryRun = query.get('dryRun') === 'All';
    send(response, 200, dryRun ? next : store(path.slice(0, path.lastIndexOf('/')), next));
  };

  const api: Pick<FakeApi, 'fault' | 'kinds'> = { fault: () => undefined, kinds: new Set(kinds) };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://api');
    const method = request.method ?? '';
    const body = await read(request);
    requests.push({ method, path, query, body });
    const fault = api.fault(method, path);
    if (fault === 'hang') return;
    if (fault === 'reset') request.socket.destroy();
    else if (fault) {
      const { status, reason, message = reason } = fault;
      send(response, status, { kind: 'Status', status: 'Failure', code: status, reason, message });
    } else if (api.kinds.has(path.split('/').at(-1) ?? '')) serveCollection(path, query, response);
    else serveObject(method, path, query, body, response);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(api, {
    url: `http://127.0.0.1:${port}`,
    requests,
    put: (path: string, object: object) => void store(path, object as Stored),
    text: (path: string) => JSON.stringify(objects.get(path)),
    remove(path: string, name: string) {
      const key = `${path}/${name}`;
      const object = objects.get(key);
      objects.delete(key);
      version += 1;
      if (object) tell(path, 'DELETED', object);
    },
    endWatches() {
      for (const { response } of watches) response.destroy();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
};
