import { eventually } from '../../support/index.ts';
import type { RealCluster } from '../cluster.ts';
import { type FixturePods, hash, podPath } from './attempts.ts';

export interface Pod {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> };
  spec: { nodeName?: string };
  status: { conditions?: { type: string; status: string }[] };
}

export const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

export interface RightsFixture {
  namespace: string;
  unboundNamespace: string;
  pods: FixturePods;
  /** By pod: what a delete of it needs. */
  preconditions(): Promise<Record<string, { uid: string; resourceVersion: string }>>;
  /** Announces an update for a pod, as the manager does. */
  announce(name: string, status: 'True' | 'False', reason: string): Promise<void>;
}

const templateOf = (app: string, node: string | undefined) => ({
  metadata: { labels: { app } },
  spec: {
    ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
    containers: [{ name: 'app', image: 'app:v1' }],
  },
});

/** Creates a pod of every kind that an agent might try to delete, on node-1 and node-2. */
export const prepareRightsFixture = async (cluster: RealCluster): Promise<RightsFixture> => {
  const { api } = cluster.plane;
  const [namespace, unboundNamespace] = await Promise.all([
    cluster.createNamespace('bound'),
    cluster.createNamespace('unbound'),
  ]);
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const daemonSet = (app: string, node?: string): Promise<unknown> =>
    api.post(`${apps}/daemonsets`, {
      metadata: { name: app },
      spec: {
        selector: { matchLabels: { app } },
        updateStrategy: { type: 'OnDelete' },
        template: templateOf(app, node),
      },
    });
  const bare = (name: string, within: string, metadata: object = {}): Promise<unknown> =>
    api.post(`/api/v1/namespaces/${within}/pods`, {
      metadata: { name, ...metadata },
      spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:v1' }] },
    });
  const node = await api.get<Pod>('/api/v1/nodes/node-1');
  const ownedBy = (apiVersion: string, kind: string, name: string, uid: string) => ({
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  });
  await Promise.all([
    daemonSet('app'),
    ...['unannounced', 'asked', 'current', 'halted'].map((app) => daemonSet(app, 'node-1')),
    api.post(`${apps}/replicasets`, {
      metadata: { name: 'replicated' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'replicated' } },
        template: templateOf('replicated', 'node-1'),
      },
    }),
    bare('bare', namespace),
    bare('bare', unboundNamespace),
    // This kind is not served, so the pod is never garbage-collected.
    bare('advanced', namespace, ownedBy('apps.kruise.io/v1beta1', 'DaemonSet', 'advanced', 'a-d-v')),
    bare('mirror', namespace, {
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      ...ownedBy('v1', 'Node', 'node-1', node.metadata.uid),
    }),
  ]);
  const list = async (): Promise<Pod[]> =>
    (await api.get<{ items: Pod[] }>(`/api/v1/namespaces/${namespace}/pods`)).items;
  const items = await eventually(
    'ten pods are ready',
    async () => {
      const pods = await list();
      return pods.filter(isReady).length === 10 && pods;
    },
    { everyMs: 100 },
  );
  const nameOf = (app: string, on = 'node-1'): string => {
    const pod = items.find(({ metadata, spec }) => metadata.labels?.app === app && spec.nodeName === on);
    if (!pod) throw new Error(`no pod of ${app} is on ${on}`);
    return pod.metadata.name;
  };
  const pods: FixturePods = {
    mine: nameOf('app'),
    elsewhere: nameOf('app', 'node-2'),
    unannounced: nameOf('unannounced'),
    asked: nameOf('asked'),
    current: nameOf('current'),
    halted: nameOf('halted'),
    bare: 'bare',
    ofReplicaSet: nameOf('replicated'),
    ofAdvanced: 'advanced',
    mirror: 'mirror',
    unbound: 'bare',
  };
  const conditions = (name: string, ...given: object[]): Promise<unknown> =>
    api.patch(podPath(namespace, name, '/status'), { status: { conditions: given } });
  const message = `controllerrevision: ${hash}`;
  const announce: RightsFixture['announce'] = async (name, status, reason) =>
    void (await conditions(name, { type: 'PodNeedUpgrade', status, reason, message }));
  await Promise.all([
    ...[pods.mine, pods.elsewhere, 'bare', pods.ofReplicaSet, 'advanced', 'mirror'].map((name) =>
      announce(name, 'True', 'NewRevision'),
    ),
    announce(pods.current, 'False', 'UpToDate'),
    announce(pods.halted, 'True', 'Halted'),
  ]);
  await conditions(pods.asked, { type: 'PodImageReady', status: 'False', reason: 'PullingImage', message });
  await conditions(pods.halted, { type: 'PodImageReady', status: 'True', reason: 'PullImageSuccess', message });
  return {
    namespace,
    unboundNamespace,
    pods,
    announce,
    preconditions: async () =>
      Object.fromEntries(
        (await list()).map(({ metadata: { name, uid, resourceVersion } }) => [name, { uid, resourceVersion }]),
      ),
  };
};
