import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  agent: string;
}

interface Lease {
  metadata: { name?: string; resourceVersion?: string };
  spec: { holderIdentity?: string; leaseDurationSeconds?: number };
}

export interface FakeApiServer {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** By path. */
  readonly leases: ReadonlyMap<string, Lease>;
  /** Whether the CRD of DaemonRollouts is installed; true at the start. */
  crd: boolean;
  /** Whether that of Advanced DaemonSets is; false at the start. */
  advancedCrd: boolean;
  /** Whether writes of Leases fail with 500. */
  leasesFail: boolean;
  close(): Promise<void>;
}

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
const refuse = (response: ServerResponse, code: number, reason: string): void =>
  send(response, code, { kind: 'Status', status: 'Failure', code, reason, message: reason });

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

/**
 * As much of an API server as a manager of an empty cluster needs: discovery of the CRD, lists and watches without
 * objects, and Leases with compare-and-swap.
 */
export const startFakeApiServer = async (): Promise<FakeApiServer> => {
  const requests: SeenRequest[] = [];
  const leases = new Map<string, Lease>();
  const state = { crd: true, advancedCrd: false, leasesFail: false };
  let version = 1;

  const serveLease = async (request: IncomingMessage, path: string, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') {
      const lease = leases.get(path);
      if (lease === undefined) refuse(response, 404, 'NotFound');
      else send(response, 200, lease);
      return;
    }
    if (state.leasesFail) {
      refuse(response, 500, 'InternalError');
      return;
    }
    const lease = (await readJson(request)) as Lease;
    const key = request.method === 'POST' ? `${path}/${lease.metadata.name}` : path;
    const known = leases.get(key);
    if (request.method === 'POST' && known !== undefined) refuse(response, 409, 'AlreadyExists');
    else if (known?.metadata.resourceVersion !== lease.metadata.resourceVersion) refuse(response, 409, 'Conflict');
    else {
      version += 1;
      const written = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(version) } };
      leases.set(key, written);
      send(response, 200, written);
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://api');
    const method = request.method ?? '';
    requests.push({ method, path, query, agent: request.headers['user-agent'] ?? '' });
    if (path.startsWith('/apis/coordination.k8s.io/v1/')) await serveLease(request, path, response);
    else if (path === '/apis/edgeset.io/v1alpha1') {
      if (state.crd) send(response, 200, { kind: 'APIResourceList', resources: [{ name: 'daemonrollouts' }] });
      else refuse(response, 404, 'NotFound');
    } else if (path === '/apis/apps.kruise.io/v1beta1') {
      if (state.advancedCrd) send(response, 200, { kind: 'APIResourceList', resources: [{ name: 'daemonsets' }] });
      else refuse(response, 404, 'NotFound');
    } else if (method !== 'GET') refuse(response, 403, 'Forbidden');
    else if (query.get('watch') === 'true') {
      response.writeHead(200, { 'content-type': 'application/json' });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const object = { metadata: { resourceVersion: String(version), annotations } };
      if (query.has('sendInitialEvents')) response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
      else response.flushHeaders();
    } else send(response, 200, { kind: 'List', metadata: { resourceVersion: String(version) }, items: [] });
  };
  const server = createServer((request, response) => {
    void handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    requests,
    leases,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
};
