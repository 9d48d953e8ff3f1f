import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { createAdvancedKind } from '../../../advanced/index.ts';
import { createController } from '../../../controller/index.ts';
import {
  createClient,
  createEventRecorder,
  daemonSets,
  type KubeClient,
  type KubeObject,
  loadClusterConfig,
  type Resource,
} from '../../../kube/index.ts';
import { nativeKind } from '../../../native/index.ts';
import { type Env, sleep } from '../../../runtime/index.ts';
import type { StartManager } from '../manager.ts';
import { isReady, nodes, pods } from '../resources.ts';

/** A manager that does `work` with a client of its own until it is stopped. */
const manager =
  (work: (client: KubeClient, env: Env, signal: AbortSignal) => Promise<unknown>): StartManager =>
  (kubeconfig, env) => {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      const client = createClient(await loadClusterConfig({ kubeconfig, env: {} }), { env, userAgent: 'test', qps: 0 });
      try {
        await work(client, env, stop.signal);
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      } finally {
        await client.close();
      }
    };
    const ended = run();
    return {
      ended,
      async stop() {
        stop.abort();
        await ended;
      },
      log: () => ['a test double'],
    };
  };

const withReady = (node: Node): Node => ({
  ...node,
  status: {
    ...node.status,
    conditions: (node.status?.conditions ?? []).map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'True' } : condition,
    ),
  },
});

const isNodes = (resource: Resource): boolean => resource.plural === nodes.plural;

/** The same cluster, in which every node looks ready. */
const blindToOffline = (client: KubeClient): KubeClient => {
  const change = <T extends KubeObject>(object: T): T => withReady(object as Node) as T;
  return {
    ...client,
    async list(resource, options) {
      const found = await client.list(resource, options);
      return isNodes(resource) ? { ...found, items: found.items.map(change) } : found;
    },
    async *watch(resource, options) {
      for await (const event of client.watch(resource, options))
        yield event.type === 'BOOKMARK' || !isNodes(resource) ? event : { ...event, object: change(event.object) };
    },
  };
};

const runProduct = async (client: KubeClient, env: Env, signal: AbortSignal, kind = 'native'): Promise<unknown> => {
  const events = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/test',
    reportingInstance: 'test',
  });
  const parts = { client, env, events, identity: 'test' };
  const controller =
    kind === 'native' ? createController(nativeKind, parts) : createController(createAdvancedKind(), parts);
  return Promise.all([controller.run(signal), controller.lead(signal), events.run(signal)]);
};

/** The product's own controller, with its rule to skip offline nodes broken: it takes every node for ready. */
export const startBlindManager = manager((client, env, signal) => runProduct(blindToOffline(client), env, signal));

const deleteOutdated = async (client: KubeClient, { clock }: Env, signal: AbortSignal): Promise<void> => {
  for (;;) {
    await sleep(clock, 1000, signal);
    const sets = (await client.list(daemonSets, { namespace: 'default', signal })).items;
    const ready = new Set(
      (await client.list(nodes, { signal })).items.filter(isReady).map(({ metadata }) => metadata?.name),
    );
    const wanted = sets[0]?.spec?.template.spec?.containers[0]?.image;
    const outdated = (await client.list(pods, { namespace: 'default', signal })).items.filter(
      ({ metadata, spec }) =>
        wanted !== undefined &&
        metadata?.deletionTimestamp === undefined &&
        ready.has(spec?.nodeName) &&
        spec?.containers[0]?.image !== wanted,
    );
    await Promise.all(
      outdated.map(({ metadata }) =>
        client.delete(pods, { namespace: 'default', name: metadata?.name ?? '' }, { signal }),
      ),
    );
  }
};

/** Deletes every outdated pod of nodes that are ready, all at once. */
export const startRashManager = manager(deleteOutdated);

/** The product's own controller, beside somebody who does not wait for owners. */
export const startPushyManager = manager((client, env, signal) =>
  Promise.all([runProduct(client, env, signal), deleteOutdated(client, env, signal)]),
);

const deletePrepared = async (client: KubeClient, { clock }: Env, signal: AbortSignal): Promise<void> => {
  const labelSelector = 'lifecycle.apps.kruise.io/state=PreparingDelete';
  for (;;) {
    await sleep(clock, 1000, signal);
    for (const { metadata } of (await client.list(pods, { namespace: 'default', labelSelector, signal })).items)
      await client.delete(pods, { namespace: 'default', name: metadata?.name ?? '' }, { signal });
  }
};

/** The product's controller of Advanced DaemonSets, beside somebody who does not wait for hooks. */
export const startHastyManager = manager((client, env, signal) =>
  Promise.all([runProduct(client, env, signal, 'advanced'), deletePrepared(client, env, signal)]),
);

/** Ends at once. */
export const startShortManager = manager(() => Promise.resolve());
