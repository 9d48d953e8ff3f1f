import type { Resource } from '../../src/kube/index.ts';
import type { Clock } from '../../src/runtime/index.ts';
import type { ApiServer, Change, StoredObject } from '../types.ts';
import { afterDelete, afterWrite } from './handlers/after-write.ts';
import { createObject } from './handlers/create.ts';
import { deleteObject } from './handlers/delete.ts';
import { listObjects } from './handlers/list.ts';
import { patchObject } from './handlers/patch.ts';
import { fromStorageVersion, keyFor, type ServerState, storedObject } from './handlers/state.ts';
import { replaceObject } from './handlers/update.ts';
import type { Json } from './json.ts';
import { createRegistry } from './registry/registry.ts';
import { createPodIndex } from './storage/pod-index.ts';
import { createSnapshotCache } from './storage/snapshots.ts';
import { createStore, keyOf } from './storage/store.ts';
import { createTokenStore } from './storage/tokens.ts';
import { createWatchBroadcaster } from './storage/watch-broadcaster.ts';

export interface ApiServerOptions {
  clock: Clock;
  /** Uniform in [0, 1); makes UIDs and generated names. */
  random: () => number;
  /** How many changes per resource watches can resume from; older versions get 410. Default 20,000. */
  history?: number;
}

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

const CRITICAL = [
  [
    'system-cluster-critical',
    2_000_000_000,
    'For pods that the cluster cannot do without, on whichever node they run.',
  ],
  ['system-node-critical', 2_000_001_000, 'For pods that the cluster cannot do without on the node that they run on.'],
] as const;

const bootstrap = (state: ServerState): void => {
  const make = (group: string, plural: string, object: Json): void => {
    const kind = state.registry.find(group, 'v1', plural);
    if (kind) createObject(state, kind, object);
  };
  for (const name of NAMESPACES) make('', 'namespaces', { metadata: { name } });
  for (const [name, value, description] of CRITICAL)
    make('scheduling.k8s.io', 'priorityclasses', { metadata: { name }, value, description });
  make('', 'services', {
    metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1'],
      ports: [{ name: 'https', port: 443, targetPort: 6443 }],
    },
  });
};

const states = new WeakMap<ApiServer, ServerState>();

/** The state that the HTTPS server and the in-process client work on. */
export const stateOf = (apiServer: ApiServer): ServerState => {
  const state = states.get(apiServer);
  if (!state) throw new TypeError('this API server was not made by createApiServer');
  return state;
};

/** An API server without a transport, with the namespaces and priority classes of every cluster. */
export const createApiServer = ({ clock, random, history = 20_000 }: ApiServerOptions): ApiServer => {
  const store = createStore(history);
  const registry = createRegistry();
  const state: ServerState = {
    store,
    registry,
    clock,
    random,
    pods: createPodIndex(store),
    tokens: createTokenStore(random),
    afterWrite: (kind, object) => afterWrite(state, kind, object),
    afterDelete: (kind, object) => afterDelete(state, kind, object),
    watches: createWatchBroadcaster(store),
    snapshots: createSnapshotCache(store),
    strategyContext: {
      clock,
      random,
      find: (collection, namespace, name) => store.get(collection, keyOf(namespace, name)),
    },
  };
  bootstrap(state);
  const subscribers = new Set<(change: Change) => void>();
  store.onCommit(({ type, collection, object, previous }) => {
    const resource = registry.storageKind(collection);
    if (!resource) return;
    const change: Change = previous ? { type, resource, object, previous } : { type, resource, object };
    for (const hear of subscribers) hear(change);
  });

  const find = (resource: Resource, ref: { namespace?: string; name: string }): StoredObject | undefined => {
    const kind = registry.resolve(resource);
    const stored = store.get(kind.collection, keyFor(kind, ref));
    return stored && fromStorageVersion(kind, stored);
  };

  // The Resource determines the type of its objects, so the casts below are safe.
  const apiServer: ApiServer = {
    get(resource, ref) {
      const kind = registry.resolve(resource);
      return fromStorageVersion(kind, storedObject(state, kind, ref)) as never;
    },
    find: (resource, ref) => find(resource, ref) as never,
    list: (resource, options = {}) => listObjects(state, registry.resolve(resource), options) as never,
    create: (resource, object, options = {}) =>
      createObject(state, registry.resolve(resource), object as Json, options) as never,
    update: (resource, object, options = {}) =>
      replaceObject(state, registry.resolve(resource), object as Json, options) as never,
    patch: (resource, ref, body, options) =>
      patchObject(state, registry.resolve(resource), ref, body, options).object as never,
    delete(resource, ref, options = {}) {
      const { object, removed } = deleteObject(state, registry.resolve(resource), ref, options);
      return removed ? undefined : (object as never);
    },
    subscribe(handler) {
      subscribers.add(handler);
      return () => void subscribers.delete(handler);
    },
    get resourceVersion() {
      return store.version;
    },
  };
  states.set(apiServer, state);
  return apiServer;
};
