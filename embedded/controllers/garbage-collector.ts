import { isKubeError, namespaces } from '../../src/kube/index.ts';
import type { Env } from '../../src/runtime/index.ts';
import { events, type Stored } from '../resources.ts';
import type { ApiServer, Change, StoredObject } from '../types.ts';
import { type Controller, createInformers } from './informers.ts';
import { createObjectGraph, FOREGROUND, type GraphNode, type ObjectGraph, ORPHAN } from './object-graph.ts';
import { createWorkQueue } from './work-queue.ts';

/** The garbage collector, with one more fault. */
export interface GarbageCollector extends Controller {
  /**
   * Makes it release one dependent of an owner at a time, in any order and this many milliseconds apart, as one with a limit of
   * requests does. Default 0: all at once.
   */
  pace(ms: number): void;
}

const refOf = ({ namespace, name }: GraphNode) => ({ ...(namespace !== undefined && { namespace }), name });

const ignoring = (codes: Parameters<typeof isKubeError>[1][], run: () => void): void => {
  try {
    run();
  } catch (error) {
    if (!isKubeError(error, ...codes)) throw error;
  }
};

/**
 * Deletes objects whose owners are gone, processes foreground deletions, and orphans dependents. Returns after how many
 * milliseconds the object must be processed again; undefined: it is done.
 */
const createCollector = (apiServer: ApiServer, { clock, random }: Env, graph: ObjectGraph, paceMs: () => number) => {
  /** By UID of a paced owner: when its next dependent is released. */
  const nextAt = new Map<string, number>();
  const patch = (node: GraphNode, metadata: object): void => {
    const body = { metadata: { uid: node.uid, ...metadata } };
    ignoring(['NotFound', 'Conflict'], () => apiServer.patch(node.resource, refOf(node), body, { type: 'merge' }));
  };
  const dropFinalizer = (node: GraphNode, finalizer: string): void => {
    const object = apiServer.find<StoredObject>(node.resource, refOf(node));
    if (object?.metadata.uid !== node.uid) return;
    patch(node, { finalizers: (object.metadata.finalizers ?? []).filter((each) => each !== finalizer) });
  };
  const keepOwners = (node: GraphNode, keep: (uid: string) => boolean): void =>
    patch(node, { ownerReferences: node.owners.filter(({ uid }) => keep(uid)) });
  const remove = (node: GraphNode, propagationPolicy: 'Background' | 'Foreground'): void =>
    ignoring(['NotFound', 'Conflict'], () =>
      apiServer.delete(node.resource, refOf(node), { preconditions: { uid: node.uid }, propagationPolicy }),
    );

  const blocks = (owner: GraphNode, { owners }: GraphNode): boolean =>
    owners.some(({ uid, blockOwnerDeletion }) => uid === owner.uid && blockOwnerDeletion === true);

  /** Releases the dependents of an owner, one of them if paced. Returns how long until the next one. */
  const orphan = (node: GraphNode): number | undefined => {
    const { uid } = node;
    const release = (dependent: GraphNode): void => keepOwners(dependent, (owner) => owner !== uid);
    const dependents = graph.dependentsOf(uid);
    const wait = (nextAt.get(uid) ?? 0) - clock.now();
    if (paceMs() > 0 && dependents.length > 0) {
      if (wait > 0) return wait;
      const [next] = dependents.slice(Math.floor(random() * dependents.length));
      if (next) release(next);
      nextAt.set(uid, clock.now() + paceMs());
      return paceMs();
    }
    nextAt.delete(uid);
    for (const dependent of dependents) release(dependent);
    dropFinalizer(node, ORPHAN);
    return undefined;
  };

  return (uid: string): number | undefined => {
    const node = graph.get(uid);
    if (!node) return undefined;
    if (node.waitsFor === 'orphans') return orphan(node);
    if (node.waitsFor === 'dependents') {
      const left = graph.dependentsOf(uid);
      if (!left.some((dependent) => blocks(node, dependent))) dropFinalizer(node, FOREGROUND);
      return undefined;
    }
    if (node.deleting || node.owners.length === 0) return undefined;
    const present = node.owners.map((owner) => graph.ownerOf(node, owner.uid));
    const solid = present.filter((owner) => owner !== undefined && owner.waitsFor !== 'dependents');
    if (solid.length > 0) {
      if (solid.length < node.owners.length) keepOwners(node, (owner) => solid.some((one) => one?.uid === owner));
      return undefined;
    }
    const waited = present.some((owner) => owner !== undefined);
    remove(node, waited && graph.dependentsOf(uid).length > 0 ? 'Foreground' : 'Background');
    return undefined;
  };
};

/** Deletes the contents of a terminating namespace, then removes its finalizer. */
const createNamespaceFinalizer =
  (apiServer: ApiServer, graph: ObjectGraph) =>
  (name: string): void => {
    interface Terminating {
      metadata: { deletionTimestamp?: unknown };
      spec?: { finalizers?: string[] };
    }
    const namespace = apiServer.find<Stored<object> & Terminating>(namespaces, { name });
    if (namespace?.metadata.deletionTimestamp == null) return;
    for (const node of graph.inNamespace(name)) {
      if (node.deleting) continue;
      ignoring(['NotFound'], () => apiServer.delete(node.resource, refOf(node), { propagationPolicy: 'Background' }));
    }
    if (graph.countIn(name) > 0) return;
    for (const { metadata } of apiServer.list<Stored<object>>(events, { namespace: name }))
      ignoring(['NotFound'], () => apiServer.delete(events, { namespace: name, name: metadata.name }));
    const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== 'kubernetes');
    ignoring(['NotFound'], () =>
      apiServer.update<object>(
        namespaces,
        { ...namespace, spec: { ...namespace.spec, finalizers } },
        { subresource: 'finalize' },
      ),
    );
  };

/** The garbage collector for owner references, and the namespace controller. */
export const createGarbageCollector = (apiServer: ApiServer, env: Env): GarbageCollector => {
  const informers = createInformers(apiServer, env.clock);
  const graph = createObjectGraph();
  let paceMs = 0;
  const collector = createCollector(apiServer, env, graph, () => paceMs);
  const collect = (uid: string): void => {
    const againInMs = collector(uid);
    if (againInMs !== undefined) objects.addAfter(uid, againInMs);
  };
  const finalizeNamespace = createNamespaceFinalizer(apiServer, graph);
  const objects = createWorkQueue({ env, name: 'garbage-collector', informers, process: collect });
  const namespaceQueue = createWorkQueue({ env, name: 'namespaces', informers, process: finalizeNamespace });

  /** Most updates touch neither owners nor deletion: they need no work here. */
  const isIrrelevant = ({ type, object: { metadata } }: Change, before: GraphNode | undefined): boolean =>
    type === 'MODIFIED' &&
    before !== undefined &&
    !before.deleting &&
    metadata.deletionTimestamp == null &&
    (metadata.ownerReferences === before.owners ||
      (metadata.ownerReferences === undefined && before.owners.length === 0)) &&
    before.owners.every(({ uid }) => {
      const owner = graph.get(uid);
      return owner !== undefined && owner.waitsFor !== 'dependents';
    }) &&
    (before.namespace === undefined || !terminating.has(before.namespace));

  const onChange = (change: Change): void => {
    const { type, object } = change;
    const before = graph.get(object.metadata.uid);
    if (isIrrelevant(change, before)) return;
    const node = graph.update(change);
    if (type === 'DELETED') {
      for (const dependent of graph.dependentsOf(node.uid)) objects.add(dependent.uid);
    } else if (node.waitsFor !== undefined) {
      objects.add(node.uid);
      for (const dependent of graph.dependentsOf(node.uid)) objects.add(dependent.uid);
    } else if (node.owners.length > 0 && node.owners.some(({ uid }) => !graph.ownerOf(node, uid)))
      objects.add(node.uid);
    // An owner in foreground deletion waits for this dependent.
    for (const { uid } of [...node.owners, ...(before?.owners ?? [])])
      if (graph.get(uid)?.waitsFor === 'dependents') objects.add(uid);
    if (change.resource.plural === 'namespaces' && node.deleting) namespaceQueue.add(node.name);
    if (node.namespace !== undefined && terminating.has(node.namespace)) namespaceQueue.add(node.namespace);
  };
  const terminating = new Set<string>();
  informers.addHandlerForAll((change) => {
    if (change.resource.plural === 'namespaces' && change.resource.group === '') {
      const { name, deletionTimestamp } = change.object.metadata;
      if (change.type !== 'DELETED' && deletionTimestamp != null) terminating.add(name);
      else terminating.delete(name);
    }
    onChange(change);
  });
  return Object.assign(informers, {
    pace(ms: number) {
      paceMs = ms;
    },
  });
};
