import type { Resource } from '../../kube/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { Change, Machinery, StoredObject } from '../types.ts';
import type { Core } from './core/core.ts';
import { viewOf } from './core/core.ts';
import { createObject } from './core/create.ts';
import { deleteObject } from './core/delete.ts';
import { afterDelete, afterWrite } from './core/effects.ts';
import { listObjects } from './core/list.ts';
import { createSnapshots } from './core/page.ts';
import { patchObject } from './core/patch.ts';
import { createPodIndex } from './core/pod-index.ts';
import { replaceObject } from './core/update.ts';
import { createWatchHub } from './core/watch.ts';
import { createTokens } from './http/tokens.ts';
import { createRegistry } from './kinds/index.ts';
import { notFound } from './refusal.ts';
import { createStore, keyOf } from './store/index.ts';
import type { Json } from './value/index.ts';

export interface MachineryOptions {
  clock: Clock;
  /** Uniform in [0, 1): makes UIDs and generated names. */
  random: () => number;
  /** Changes of each resource that watches can be resumed from; older ones answer 410. Default 20,000. */
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

const bootstrap = (core: Core): void => {
  const make = (group: string, plural: string, object: Json): void => {
    const kind = core.registry.find(group, 'v1', plural);
    if (kind) createObject(core, kind, object);
  };
  for (const name of NAMESPACES) make('', 'namespaces', { metadata: { name } });
  for (const [name, value, description] of CRITICAL)
    make('scheduling.k8s.io', 'priorityclasses', { metadata: { name }, value, description });
};

const cores = new WeakMap<Machinery, Core>();

/** What the HTTP server and the in-process client work on. */
export const coreOf = (machinery: Machinery): Core => {
  const core = cores.get(machinery);
  if (!core) throw new TypeError('this machinery was not made by createMachinery');
  return core;
};

/** An API server without a transport, with the namespaces and priority classes that every cluster has. */
export const createMachinery = ({ clock, random, history = 20_000 }: MachineryOptions): Machinery => {
  const store = createStore(history);
  const registry = createRegistry();
  const core: Core = {
    store,
    registry,
    clock,
    random,
    pods: createPodIndex(store),
    tokens: createTokens(random),
    afterWrite: (kind, object) => afterWrite(core, kind, object),
    afterDelete: (kind, object) => afterDelete(core, kind, object),
    watches: createWatchHub(store),
    snapshots: createSnapshots(store),
    world: { clock, random, find: (table, namespace, name) => store.get(table, keyOf(namespace, name)) },
  };
  bootstrap(core);
  const subscribers = new Set<(change: Change) => void>();
  store.onCommit(({ type, table, object, previous }) => {
    const resource = registry.ofTable(table);
    if (!resource) return;
    const change: Change = previous ? { type, resource, object, previous } : { type, resource, object };
    for (const hear of subscribers) hear(change);
  });

  const find = (resource: Resource, ref: { namespace?: string; name: string }): StoredObject | undefined => {
    const kind = registry.resolve(resource);
    const stored = store.get(kind.table, keyOf(kind.namespaced ? ref.namespace : undefined, ref.name));
    return stored && viewOf(kind, stored);
  };

  // The resource that is asked for says what its objects are: callers' types are believed here.
  const machinery: Machinery = {
    get(resource, ref) {
      const found = find(resource, ref);
      if (!found) throw notFound(registry.resolve(resource), ref.name);
      return found as never;
    },
    find: (resource, ref) => find(resource, ref) as never,
    list: (resource, options = {}) => listObjects(core, registry.resolve(resource), options) as never,
    create: (resource, object, options = {}) =>
      createObject(core, registry.resolve(resource), object as Json, options) as never,
    update: (resource, object, options = {}) =>
      replaceObject(core, registry.resolve(resource), object as Json, options) as never,
    patch: (resource, ref, body, options) =>
      patchObject(core, registry.resolve(resource), ref, body, options).object as never,
    delete(resource, ref, options = {}) {
      const { object, gone } = deleteObject(core, registry.resolve(resource), ref, options);
      return gone ? undefined : (object as never);
    },
    subscribe(handler) {
      subscribers.add(handler);
      return () => void subscribers.delete(handler);
    },
    get resourceVersion() {
      return store.version;
    },
  };
  cores.set(machinery, core);
  return machinery;
};
