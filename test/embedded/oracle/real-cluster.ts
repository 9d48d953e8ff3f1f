import { setTimeout as pause } from 'node:timers/promises';
import type { RealCluster } from '../../cluster/index.ts';
import { eventually } from '../../support/index.ts';
import { type ApiObject, type OpenCluster, type Plural, versions } from './cluster.ts';

const QUIET_MS = 2500;

const merge = 'merge-patch';

/** Opens a namespace with nodes on a real control plane for each scenario. */
export const openOnRealCluster =
  (cluster: RealCluster): OpenCluster =>
  async (count) => {
    const { api } = cluster.plane;
    const namespace = await cluster.createNamespace('o');
    const nodes = Array.from({ length: count }, (_, index) => `${namespace}-${index}`);
    await cluster.addNodes(nodes, { labels: { case: namespace } });
    const base = (plural: Plural): string => {
      const { group, version, namespaced } = versions[plural];
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      return namespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
    };
    const list = async (plural: Plural): Promise<readonly ApiObject[]> =>
      (await api.get<{ items: ApiObject[] }>(base(plural))).items;
    const marks = async (): Promise<string> => {
      const all = await Promise.all((['pods', 'daemonsets', 'controllerrevisions'] as const).map(list));
      return all
        .flat()
        .map(({ metadata }) => metadata.resourceVersion)
        .join();
    };
    return {
      namespace,
      nodes,
      get: (plural, name) => api.get(`${base(plural)}/${name}`),
      list,
      create: (plural, object) => api.post(base(plural), object),
      patch: (plural, name, body, subresource) =>
        api.patch(`${base(plural)}/${name}${subresource ? `/${subresource}` : ''}`, body, merge),
      remove: async (plural, name, options) => void (await api.delete(`${base(plural)}/${name}`, options)),
      addNodes: (names, spec) => cluster.addNodes(names, spec),
      offline: (names) => cluster.offline(names),
      online: (names) => cluster.online(names),
      behave: (names, behaviour) => cluster.behave(names, behaviour),
      until: async (what, probe) => void (await eventually(what, probe, { withinMs: 90_000, everyMs: 100 })),
      async untilIdle() {
        let before = await marks();
        let since = performance.now();
        while (performance.now() - since < QUIET_MS) {
          await pause(200);
          const now = await marks();
          if (now === before) continue;
          before = now;
          since = performance.now();
        }
      },
    };
  };
