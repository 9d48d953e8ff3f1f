import { createReflector, createWorkQueue, type EventRecorder, type KubeClient, splitKey } from '../kube/index.ts';
import { type Ledger, type NodeView, toNodeView } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { DaemonSetView } from './daemonset-view.ts';
import type { ControllerObserver } from './observer.ts';
import { controllerRevisions, nodes } from './resources.ts';
import { type RevisionView, toRevisionView } from './revision-view.ts';
import { createScope } from './scope.ts';
import { createSession, type Session } from './session.ts';

export interface NativeControllerOptions {
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  /** Written into fences, so that people see who made them. */
  identity: string;
  /** Default: all. */
  namespaces?: readonly string[];
  observe?: ControllerObserver;
}

export interface RolloutSnapshot {
  namespace: string;
  name: string;
  ledger: Ledger;
}

/** DaemonSets passed over at the same time; each by one pass at a time. */
const CONCURRENCY = 4;

/**
 * The controller for apps/v1 DaemonSets. Caches are kept whether it leads or not, so that a failover costs no list; acts
 * and writes are made only while `lead` runs.
 */
export const createNativeController = (options: NativeControllerOptions) => {
  const { client, env, events, identity, observe = {} } = options;
  const log = env.log.with({ controller: 'native' });
  const sessions = new Map<string, { session: Session; stop: AbortController; running: Promise<void> }>();
  let queue: { add(key: string): void } | undefined;
  let running: AbortSignal | undefined;

  const wakeAll = (): void => {
    for (const key of sessions.keys()) queue?.add(key);
  };

  const nodeReflector = createReflector({
    client,
    env,
    resource: nodes,
    project: toNodeView,
    handlers: [
      {
        upsert: (_key: string, node: NodeView) => {
          for (const { session } of sessions.values()) session.setNode(node);
        },
        remove: (_key: string, node: NodeView) => {
          for (const { session } of sessions.values()) session.removeNode(node.name);
        },
        synced: wakeAll,
      },
    ],
  });

  const close = (key: string): void => {
    sessions.get(key)?.stop.abort();
    sessions.delete(key);
  };

  const open = (key: string, view: DaemonSetView): void => {
    const stop = new AbortController();
    const session = createSession({
      client,
      env: { ...env, log },
      events,
      identity,
      view,
      nodes: nodeReflector.store,
      sharedSynced,
      cachedRevisions,
      readRevisions,
      enqueue: () => queue?.add(key),
      observe,
    });
    for (const node of nodeReflector.store.values()) session.setNode(node);
    const signal = running ? AbortSignal.any([running, stop.signal]) : stop.signal;
    sessions.set(key, { session, stop, running: session.run(signal) });
    queue?.add(key);
  };

  const scopes = (options.namespaces ?? [undefined]).map((namespace) =>
    createScope({
      client,
      env: { ...env, log },
      namespace,
      daemonSets: {
        upsert(key, view) {
          const known = sessions.get(key)?.session;
          if (known && known.uid === view.uid) {
            known.update(view);
            return;
          }
          // Deleted and created again under the same name: nothing of the earlier one holds for it.
          close(key);
          open(key, view);
        },
        remove: close,
        synced: wakeAll,
      },
      revisions: { upsert: wakeOwner, remove: wakeOwner, synced: wakeAll },
    }),
  );

  function wakeOwner(_key: string, revision: RevisionView): void {
    for (const { session } of sessions.values()) if (session.uid === revision.ownerUid) queue?.add(session.key);
  }

  function sharedSynced(): boolean {
    return nodeReflector.synced && scopes.every((scope) => scope.synced());
  }

  function cachedRevisions(ownerUid: string): readonly RevisionView[] {
    return scopes.flatMap((scope) => scope.revisionsOf(ownerUid));
  }

  async function readRevisions(view: DaemonSetView, signal: AbortSignal): Promise<RevisionView[]> {
    const { namespace, podSelector } = view;
    const { items } = await client.list(controllerRevisions, { namespace, labelSelector: podSelector, signal });
    return items.map(toRevisionView).filter((revision) => revision?.ownerUid === view.uid) as RevisionView[];
  }

  return {
    /** Fills and keeps the caches until the signal aborts. */
    async run(signal: AbortSignal): Promise<void> {
      running = signal;
      await Promise.all([nodeReflector.run(signal), ...scopes.map((scope) => scope.run(signal))]);
      await Promise.all([...sessions.values()].map((entry) => entry.running));
    },

    /** Acts until the signal aborts; resolves once nothing of ours is in the air any more. */
    async lead(signal: AbortSignal): Promise<void> {
      const leading = createWorkQueue({
        env: { ...env, log },
        concurrency: CONCURRENCY,
        ...(observe.queue && { metrics: observe.queue }),
        process: async (key, abort) => {
          const session = sessions.get(key)?.session;
          return session?.reconcile(abort);
        },
      });
      queue = leading;
      wakeAll();
      try {
        await leading.run(signal);
      } finally {
        queue = undefined;
        await Promise.all([...sessions.values()].map(({ session }) => session.standDown()));
      }
    },

    /** The caches hold a consistent view of everything that is served. */
    synced: (): boolean => sharedSynced() && [...sessions.values()].every(({ session }) => session.synced()),

    /** What is served, for metrics. */
    *snapshot(): Generator<RolloutSnapshot> {
      for (const [key, { session }] of sessions) {
        const { namespace = '', name } = splitKey(key);
        yield { namespace, name, ledger: session.ledger };
      }
    },
  };
};
export type NativeController = ReturnType<typeof createNativeController>;
