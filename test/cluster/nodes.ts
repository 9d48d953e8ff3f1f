import type { Cluster, NodeBehaviour, NodeSpec } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { type Json, orMissing } from './api.ts';
import type { ControlPlane } from './controlplane.ts';

export type Nodes = Pick<Cluster, 'addNodes' | 'removeNodes' | 'offline' | 'online' | 'behave'>;

interface Node {
  metadata: { name: string; labels?: Record<string, string> };
  spec: { taints?: { key: string }[] };
  status: { conditions?: { type: string; status: string }[] };
}
interface Pod {
  metadata: { name: string; namespace: string; annotations?: Record<string, string> };
}

const settings = [
  ['behaviour', 'behaviour'],
  ['start-ms', 'startMs'],
  ['stop-ms', 'stopMs'],
  ['die-ms', 'dieMs'],
] as const;

const startupTaint = 'node.kubernetes.io/not-ready';

const nodeObject = (name: string, index: number, { labels, taints, zone, annotations }: NodeSpec): Json => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      ...(zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }),
      ...labels,
    },
    annotations: { ...annotations },
  },
  spec: { taints: taints ?? [] },
  status: {
    addresses: [
      { type: 'InternalIP', address: `172.20.${(index >> 8) & 255}.${index & 255}` },
      { type: 'Hostname', address: name },
    ],
    allocatable: { cpu: '64', memory: '256Gi', 'ephemeral-storage': '256Gi', pods: '500' },
    capacity: { cpu: '64', memory: '256Gi', 'ephemeral-storage': '256Gi', pods: '500' },
    nodeInfo: {
      architecture: 'amd64',
      bootID: '',
      containerRuntimeVersion: 'containerd://2.1.0',
      kernelVersion: '6.12.0',
      kubeProxyVersion: '',
      kubeletVersion: 'v1.34.4',
      machineID: '',
      operatingSystem: 'linux',
      osImage: 'simulated',
      systemUUID: '',
    },
  },
});

export const isReady = (node: Node): boolean =>
  node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/** Simulated nodes, through the API only: kwok and the admission policies of `kwok/` do the rest. */
export const createNodes = ({ api, mustRun }: Pick<ControlPlane, 'api' | 'mustRun'>): Nodes => {
  let created = 0;

  const whenAll = (what: string, names: readonly string[], test: (node: Node) => boolean): Promise<boolean> =>
    eventually(
      what,
      async () => {
        mustRun();
        const { items } = await api.get<{ items: Node[] }>('/api/v1/nodes?resourceVersion=0');
        const found = new Map(items.map((node) => [node.metadata.name, node]));
        return names.every((name) => {
          const node = found.get(name);
          return node !== undefined && test(node);
        });
      },
      { everyMs: 100 },
    );

  const setPower = async (names: readonly string[], power: 'offline' | null): Promise<void> => {
    const body = { metadata: { annotations: { 'edgeset.io/sim': power } } };
    await Promise.all(names.map((name) => api.patch(`/api/v1/nodes/${name}`, body)));
  };

  const podsOn = async (name: string): Promise<Pod[]> =>
    (await api.get<{ items: Pod[] }>(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`)).items;

  return {
    async addNodes(names, spec = {}) {
      await Promise.all(names.map((name) => api.post('/api/v1/nodes', nodeObject(name, ++created, spec))));
      await whenAll(
        `nodes are ready: ${names.join(', ')}`,
        names,
        (node) => isReady(node) && !node.spec.taints?.some(({ key }) => key === startupTaint),
      );
    },
    async removeNodes(names) {
      await Promise.all(names.map((name) => orMissing(api.delete(`/api/v1/nodes/${name}`))));
    },
    async offline(names) {
      await setPower(names, 'offline');
      await whenAll(`nodes are not ready: ${names.join(', ')}`, names, (node) => !isReady(node));
    },
    async online(names) {
      await setPower(names, null);
      await whenAll(`nodes are ready: ${names.join(', ')}`, names, isReady);
    },
    async behave(names, behaviour) {
      const value = (key: keyof NodeBehaviour): string | null => behaviour?.[key]?.toString() ?? null;
      const data = Object.fromEntries(
        names.flatMap((name) => settings.map(([word, key]) => [`${name}.${word}`, value(key)])),
      );
      await api.patch('/api/v1/namespaces/kube-system/configmaps/sim-nodes', { data });
      const isNothing = settings.every(([, key]) => value(key) === null);
      // The policy reads the map through a cache: wait until a pod for the last node would get these annotations.
      const last = names.at(-1);
      await eventually(
        'the admission policy follows',
        async () => {
          const probe = {
            metadata: { generateName: 'probe-' },
            spec: { nodeName: last, containers: [{ name: 'probe', image: 'probe' }] },
          };
          const pod = await api.post<Pod>('/api/v1/namespaces/default/pods?dryRun=All', probe);
          const got = pod.metadata.annotations ?? {};
          return settings.every(([word, key]) => got[`sim.edgeset.io/${word}`] === (value(key) ?? undefined));
        },
        { everyMs: 50 },
      );
      const annotations = Object.fromEntries(settings.map(([word, key]) => [`sim.edgeset.io/${word}`, value(key)]));
      await Promise.all(
        names.map(async (name) => {
          for (const { metadata } of await podsOn(name)) {
            if (isNothing && !metadata.annotations) continue;
            await orMissing(
              api.patch(`/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, {
                metadata: { annotations },
              }),
            );
          }
        }),
      );
    },
  };
};
