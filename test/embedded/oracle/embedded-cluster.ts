import { createEmbeddedCluster } from '../../../embedded/index.ts';
import { defineResource, namespaces } from '../../../src/kube/index.ts';
import { createRandom, createVirtualClock, silentLogger } from '../../../src/runtime/index.ts';
import { nodeAnnotations } from '../node-annotations.ts';
import { type ApiObject, type OpenCluster, type Plural, versions } from './cluster.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const QUIET_MS = 5000;
const LIMIT_MS = 45_000;
const STEP_MS = 10;

const kinds: Record<Plural, string> = {
  pods: 'Pod',
  nodes: 'Node',
  events: 'Event',
  serviceaccounts: 'ServiceAccount',
  daemonsets: 'DaemonSet',
  controllerrevisions: 'ControllerRevision',
};

const resourceOf = (plural: Plural) => defineResource<object>({ ...versions[plural], plural, kind: kinds[plural] });

/** Creates an embedded cluster in virtual time for each scenario. */
export const openEmbeddedCluster: OpenCluster = async (count) => {
  const clock = createVirtualClock(START);
  const random = createRandom(count);
  const { apiServer, addNode } = createEmbeddedCluster({
    env: { clock, random, log: silentLogger },
    graceMs: 5000,
    delays: { startMs: 300, stopMs: 200, dieMs: 1500, backOffMs: 1000 },
  });
  const namespace = 'o-000000';
  apiServer.create<object>(namespaces, { metadata: { name: namespace } });
  const nodes = Array.from({ length: count }, (_, index) => `${namespace}-${index}`);
  const refOf = (plural: Plural, name: string) => (versions[plural].namespaced ? { namespace, name } : { name });
  const listNow = (plural: Plural): readonly ApiObject[] =>
    apiServer.list(resourceOf(plural), versions[plural].namespaced ? { namespace } : {});
  const until = async (what: string, probe: () => Promise<unknown>): Promise<void> => {
    const end = clock.now() + LIMIT_MS;
    while (!(await probe().catch(() => false))) {
      if (clock.now() > end) throw new Error(`timed out after ${LIMIT_MS} ms waiting until ${what}`);
      clock.run(STEP_MS);
    }
  };
  const annotate = (names: readonly string[], annotations: Record<string, string | null>): void => {
    for (const name of names)
      apiServer.patch(resourceOf('nodes'), { name }, { metadata: { annotations } }, { type: 'merge' });
  };
  const untilNodes = (names: readonly string[], ready: boolean): Promise<void> =>
    until(`nodes are ${ready ? '' : 'not '}ready`, async () =>
      listNow('nodes')
        .filter(({ metadata }) => names.includes(metadata.name))
        .every(({ status }) => {
          const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
          return conditions.some((each) => each.type === 'Ready' && each.status === 'True') === ready;
        }),
    );
  const cluster = {
    namespace,
    nodes,
    get: async (plural: Plural, name: string) => apiServer.get<ApiObject>(resourceOf(plural), refOf(plural, name)),
    list: async (plural: Plural) => listNow(plural),
    create: async (plural: Plural, object: object) => {
      const { metadata } = object as ApiObject;
      const placed = versions[plural].namespaced ? { ...object, metadata: { namespace, ...metadata } } : object;
      return apiServer.create<object>(resourceOf(plural), placed) as ApiObject;
    },
    patch: async (plural: Plural, name: string, body: object, subresource?: string) =>
      apiServer.patch<ApiObject>(resourceOf(plural), refOf(plural, name), body, {
        type: 'merge',
        ...(subresource !== undefined && { subresource }),
      }),
    remove: async (plural: Plural, name: string, options?: object) =>
      void apiServer.delete(resourceOf(plural), refOf(plural, name), options),
    async addNodes(names: readonly string[], spec = {}) {
      for (const name of names) addNode(name, spec);
      await untilNodes(names, true);
    },
    async offline(names: readonly string[]) {
      annotate(names, { 'edgeset.io/sim': 'offline' });
      await untilNodes(names, false);
    },
    async online(names: readonly string[]) {
      annotate(names, { 'edgeset.io/sim': null });
      await untilNodes(names, true);
    },
    behave: async (names: readonly string[], behaviour: Parameters<typeof nodeAnnotations>[0]) =>
      annotate(names, nodeAnnotations(behaviour)),
    until,
    async untilIdle() {
      let changedAt = clock.now();
      const end = apiServer.subscribe(({ resource }) => {
        if (['pods', 'daemonsets', 'controllerrevisions'].includes(resource.plural)) changedAt = clock.now();
      });
      while (clock.now() - changedAt < QUIET_MS) clock.run(STEP_MS);
      end();
    },
  };
  // As on the real cluster: another node stays online, so that losing all nodes of a scenario doesn't look like a
  // broken control plane.
  await cluster.addNodes(['anchor'], {
    taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  });
  await cluster.addNodes(nodes, { labels: { case: namespace } });
  return cluster;
};
