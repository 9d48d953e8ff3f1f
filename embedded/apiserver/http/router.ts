import { methodNotAllowed } from '../errors.ts';
import type { ServerState } from '../handlers/state.ts';
import { aggregated, groupList, isBuiltinGroup, oneGroup, resourceList } from './discovery.ts';
import { wantsAggregatedDiscovery } from './encoder.ts';
import { json, type Request, type Response } from './exchange.ts';
import { serveResource } from './resources.ts';
import { parseRoute, type Route } from './route.ts';

const DISCOVERY_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

// The Kubernetes version that this server follows. kubectl warns if its own differs too much.
const VERSION = {
  major: '1',
  minor: '34',
  emulationMajor: '1',
  emulationMinor: '34',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '33',
  gitVersion: 'v1.34.4',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'edgeset/embedded',
};

const HEALTHY = ['/healthz', '/readyz', '/livez'];

const textAnswer = (status: number, body: string): Response => ({
  is: 'bytes',
  status,
  body,
  contentType: 'text/plain; charset=utf-8',
});

const NO_PAGE = textAnswer(404, '404 page not found\n');

const found = (document: unknown): Response => (document === undefined ? NO_PAGE : json(document));

const documentOf = async (state: ServerState, request: Request): Promise<Response | undefined> => {
  const { path } = request;
  const { registry } = state;
  if (HEALTHY.some((each) => path === each || path.startsWith(`${each}/`))) return textAnswer(200, 'ok');
  if (path === '/version' || path === '/version/') return json(VERSION);
  if (path === '/openapi/v2' || path === '/openapi/v3' || path.startsWith('/openapi/v3/')) {
    const { serveOpenApi } = await import('./openapi.ts');
    return serveOpenApi(registry, path, request.accept);
  }
  if ((path === '/api' || path === '/apis') && wantsAggregatedDiscovery(request.accept))
    return { is: 'json', status: 200, body: aggregated(registry, path === '/api'), contentType: DISCOVERY_TYPE };
  if (path === '/api')
    return json({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: request.host }],
    });
  if (path === '/apis') return json(groupList(registry));
  const steps = path.split('/').filter((step) => step !== '');
  if (steps[0] === 'api' && steps.length === 2) return found(resourceList(registry, '', steps[1] ?? ''));
  if (steps[0] === 'apis' && steps.length === 2) return found(oneGroup(registry, steps[1] ?? ''));
  if (steps[0] === 'apis' && steps.length === 3) return found(resourceList(registry, steps[1] ?? '', steps[2] ?? ''));
  return undefined;
};

const isServed = (state: ServerState, route: Route): boolean =>
  isBuiltinGroup(route.group) || state.registry.find(route.group, route.version, route.plural) !== undefined;

/** Handles one request; errors are thrown. */
export const serve = async (state: ServerState, request: Request): Promise<Response> => {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead) {
    const document = await documentOf(state, request);
    if (document) return document;
  }
  const route = parseRoute(request.path);
  // Unknown groups are 404s without a Status, as on the real server.
  if (route && isServed(state, route)) return serveResource(state, route, request);
  if (!isRead && (await documentOf(state, request))) throw methodNotAllowed();
  return NO_PAGE;
};
