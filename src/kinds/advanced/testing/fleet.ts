import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createEmbeddedCluster, createInProcessClient } from '../../../../embedded/index.ts';
import { createController, daemonRollouts } from '../../../controller/index.ts';
import { createTestRecorder } from '../../../controller/testing/index.ts';
import { customResourceDefinitions, type KubeClient, type KubeError, pods } from '../../../kube/index.ts';
import { controllerOf } from '../../../rollout/index.ts';
import { type Clock, createRandom, createVirtualClock, type Env, silentLogger } from '../../../runtime/index.ts';
import { daemonRolloutCrd } from '../../../words/index.ts';
import { createAdvancedKind } from '../advanced-kind.ts';
import { advancedDaemonSetCrd } from '../api/crd.ts';
import { type AdvancedDaemonSet, type AdvancedDaemonSetSpec, advancedDaemonSets } from '../api/types.ts';

const STEP_MS = 50;
const LIMIT_MS = 120_000;
export const NAMESPACE = 'default';

export interface Request {
  verb: string;
  plural: string;
  /** For a list, the label selector. */
  name: string;
}

export interface Fault {
  verb: string;
  plural: string;
  /** Part of the name, or of a list's label selector. Default: any. */
  name?: string;
  /** The error to return. Without one, the request succeeds and the response is late. */
  error?: KubeError;
  /** The request is carried out although its response is the error. */
  happened?: boolean;
  /** Delay of the response. */
  delayMs?: number;
  /** How many requests it still applies to. */
  left: number;
}

/** Records the requests of a client and injects faults. */
const withFaults = (
  client: KubeClient,
  clock: Pick<Clock, 'timer'>,
  requests: Request[],
  faults: readonly Fault[],
): KubeClient => {
  const send = async <T>(verb: string, plural: string, name: string, perform: () => Promise<T>): Promise<T> => {
    requests.push({ verb, plural, name });
    const matches = (fault: Fault): boolean =>
      fault.verb === verb && fault.plural === plural && name.includes(fault.name ?? '');
    const fault = faults.find((each) => each.left > 0 && matches(each));
    if (!fault) return perform();
    fault.left -= 1;
    const { delayMs = 0, error } = fault;
    const delay = (): Promise<void> => new Promise((resolve) => void clock.timer(delayMs, resolve));
    if (!error) {
      const response = await perform();
      await delay();
      return response;
    }
    if (fault.happened) await perform();
    if (delayMs > 0) await delay();
    throw error;
  };
  return {
    ...client,
    get: (resource, ref, options) => send('get', resource.plural, ref.name, () => client.get(resource, ref, options)),
    list: (resource, options) =>
      send('list', resource.plural, options?.labelSelector ?? '', () => client.list(resource, options)),
    create: (resource, object, options) =>
      send('create', resource.plural, object.metadata?.name ?? '', () => client.create(resource, object, options)),
    replace: (resource, object, options) =>
      send('replace', resource.plural, object.metadata?.name ?? '', () => client.replace(resource, object, options)),
    patch: (resource, ref, body, options) =>
      send('patch', resource.plural + (options.subresource ? `/${options.subresource}` : ''), ref.name, () =>
        client.patch(resource, ref, body, options),
      ),
    delete: (resource, ref, options) =>
      send('delete', resource.plural, ref.name, () => client.delete(resource, ref, options)),
  };
};

/** An embedded cluster on virtual time, with nodes and a running controller of Advanced DaemonSets. */
export const createFleet = async (
  nodeNames: readonly string[] = ['node-1', 'node-2', 'node-3'],
  kind: Parameters<typeof createAdvancedKind>[0] = {},
) => {
  const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const env: Env = { clock, random: () => 0.5, log: silentLogger };
  const cluster = createEmbeddedCluster({
    env: { clock, random: createRandom(7), log: silentLogger },
    delays: { startMs: 300, stopMs: 200, dieMs: 1500, backOffMs: 1000 },
  });
  const client = createInProcessClient(cluster.apiServer);
  await client.create(customResourceDefinitions, advancedDaemonSetCrd);
  await client.create(customResourceDefinitions, daemonRolloutCrd);
  for (const name of nodeNames) cluster.addNode(name, { labels: { name } });
  await clock.advance(20_000);

  const requests: Request[] = [];
  const faults: Fault[] = [];
  const { recorder, recorded: events, reasons } = createTestRecorder();
  const start = (identity: string) => {
    const controller = createController(createAdvancedKind(kind), {
      client: withFaults(client, clock, requests, faults),
      env,
      events: recorder,
      identity,
    });
    const caches = new AbortController();
    const term = new AbortController();
    const running = Promise.all([controller.run(caches.signal), controller.lead(term.signal)]);
    return async (): Promise<void> => {
      term.abort(new Error('the lease is lost'));
      caches.abort(new Error('stopped'));
      await clock.advance(1_000);
      await running.catch(() => undefined);
    };
  };
  let stopManager = start('m1');
  const ref = { namespace: NAMESPACE, name: 'app' };

  const fleet = {
    clock,
    cluster,
    client,
    requests,
    /** Faults for the next matching requests of the controller. */
    faults,
    events,
    reasons,
    create: (
      spec: Partial<AdvancedDaemonSetSpec> = {},
      annotations: Record<string, string> = {},
      template: object = {},
    ) =>
      client.create(advancedDaemonSets, {
        apiVersion: 'apps.kruise.io/v1beta1',
        kind: 'DaemonSet',
        metadata: { ...ref, annotations: { 'edgeset.io/settle-seconds': '0', ...annotations } },
        spec: {
          selector: { matchLabels: { app: 'app' } },
          template: {
            metadata: { labels: { app: 'app' } },
            spec: { containers: [{ name: 'app', image: 'app:v1' }] },
            ...template,
          },
          ...spec,
        },
      }),
    get: (): Promise<AdvancedDaemonSet> => client.get(advancedDaemonSets, ref),
    patch: (body: object) => client.patch(advancedDaemonSets, ref, body, { type: 'merge' }),
    patchPod: (name: string | undefined, metadata: object) =>
      client.patch(pods, { namespace: NAMESPACE, name: name ?? '' }, { metadata }, { type: 'merge' }),
    /** The number of such requests of the controller, from index `since`. */
    count: (verb: string, plural: string, since = 0): number =>
      requests.slice(since).filter((request) => request.verb === verb && request.plural === plural).length,
    /** Condition Stalled if it is True. */
    stalled: async () =>
      (await fleet.get()).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True'),
    setImage: (image: string) =>
      fleet.patch({ spec: { template: { spec: { containers: [{ name: 'app', image }] } } } }),
    rollout: () => client.get(daemonRollouts, { namespace: NAMESPACE, name: 'app.apps.kruise.io' }),
    pods: async (): Promise<Pod[]> => {
      const { uid } = (await fleet.get()).metadata;
      const { items } = await client.list(pods, { namespace: NAMESPACE });
      return items.filter((pod) => controllerOf(pod)?.uid === uid);
    },
    /** Advances the clock until the condition is met. */
    until: async <T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> => {
      for (const end = clock.now() + LIMIT_MS; clock.now() < end; await clock.advance(STEP_MS)) {
        const found = await probe();
        if (found !== undefined && found !== false) return found;
      }
      throw new Error(`not met after ${LIMIT_MS} ms: ${what}`);
    },
    /** Waits until every node has one available pod with this image. Resolves with the pods by node. */
    allRun: (image: string, count = nodeNames.length): Promise<Map<string, Pod>> =>
      fleet.until(`${count} nodes run ${image}`, async () => {
        const { status } = await fleet.get();
        const all = await fleet.pods();
        const matching = all.filter(({ spec }) => spec?.containers[0]?.image === image);
        const done = status?.numberAvailable === count && status.updatedNumberScheduled === count;
        return done && matching.length === count && all.length === count
          ? new Map(all.map((pod) => [pod.spec?.nodeName ?? '', pod]))
          : undefined;
      }),
    stop: (): Promise<void> => stopManager(),
    restart: async (): Promise<void> => {
      await stopManager();
      stopManager = start('m2');
    },
    end: async (): Promise<void> => {
      await stopManager();
      cluster.close();
    },
  };
  return fleet;
};
export type Fleet = Awaited<ReturnType<typeof createFleet>>;

/** A test with its own fleet. */
export const withFleet =
  (play: (fleet: Fleet) => Promise<void>, ...options: Parameters<typeof createFleet>) =>
  async (): Promise<void> => {
    const fleet = await createFleet(...options);
    try {
      await play(fleet);
    } finally {
      await fleet.end();
    }
  };
