import { daemonSets, isKubeError, type KubeObject, nodes, pods, type Resource } from '../../src/kube/index.ts';
import { createRandom, createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { createEmbeddedCluster } from '../cluster.ts';
import { events, type Stored, type StoredDaemonSet, type StoredNode, type StoredPod } from '../resources.ts';

export const GRACE_MS = 5000;

/** A small cluster in virtual time, with helpers for tests. */
export const createTestCluster = (nodeNames: readonly string[] = ['node-1', 'node-2', 'node-3']) => {
  const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const cluster = createEmbeddedCluster({
    env: { clock, random: createRandom(1), log: silentLogger },
    graceMs: GRACE_MS,
    delays: { startMs: 300, stopMs: 200, dieMs: 1500, backOffMs: 1000 },
  });
  const { apiServer } = cluster;
  for (const name of nodeNames) cluster.addNode(name);
  clock.run(1000);
  const testCluster = {
    clock,
    cluster,
    apiServer,
    node: (name: string): StoredNode => apiServer.get<StoredNode>(nodes, { name }),
    pod: (name: string): StoredPod => apiServer.get<StoredPod>(pods, { namespace: 'default', name }),
    pods: (): readonly StoredPod[] => apiServer.list<StoredPod>(pods, { namespace: 'default' }),
    podOn: (node: string): StoredPod => {
      const found = testCluster.pods().find(({ spec }) => spec?.nodeName === node);
      if (!found) throw new Error(`${node} has no pod`);
      return found;
    },
    daemonSet: (): StoredDaemonSet => apiServer.get<StoredDaemonSet>(daemonSets, { namespace: 'default', name: 'app' }),
    /** `Reason: message` of each Event on objects of this name. */
    eventsAbout: (name: string): string[] =>
      apiServer
        .list<Stored<KubeObject> & { involvedObject: { name: string }; reason: string; message: string }>(events)
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ reason, message }) => `${reason}: ${message}`),
    annotate: (name: string, annotations: Record<string, string | null>): unknown =>
      apiServer.patch<StoredNode>(nodes, { name }, { metadata: { annotations } }, { type: 'merge' }),
    offline: (name: string): unknown => testCluster.annotate(name, { 'edgeset.io/sim': 'offline' }),
    online: (name: string): unknown => testCluster.annotate(name, { 'edgeset.io/sim': null }),
    createDaemonSet: (image = 'app:v1', template: object = {}): unknown =>
      apiServer.create<object>(daemonSets, {
        metadata: { name: 'app', namespace: 'default' },
        spec: {
          selector: { matchLabels: { app: 'app' } },
          updateStrategy: { type: 'OnDelete' },
          template: {
            metadata: { labels: { app: 'app' } },
            spec: { containers: [{ name: 'app', image }] },
            ...template,
          },
        },
      }),
    createPod: (name: string, spec: object = {}, metadata: object = {}): unknown =>
      apiServer.create<object>(pods, {
        metadata: { name, namespace: 'default', ...metadata },
        spec: { containers: [{ name: 'app', image: 'app:v1' }], ...spec },
      }),
    remove: (resource: Resource, name: string, options?: object): unknown =>
      apiServer.delete(resource, resource.namespaced ? { namespace: 'default', name } : { name }, options),
    exists: (resource: Resource, name: string): boolean => {
      try {
        return apiServer.find(resource, resource.namespaced ? { namespace: 'default', name } : { name }) !== undefined;
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return false;
        throw error;
      }
    },
  };
  return testCluster;
};

type Conditioned = { status?: { conditions?: { type: string; status: string }[] } };

export const conditionOf = ({ status }: Conditioned, type: string): string | undefined =>
  status?.conditions?.find((condition) => condition.type === type)?.status;

export const taintsOf = ({ spec }: StoredNode): string[] =>
  (spec?.taints ?? []).map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`).toSorted();
