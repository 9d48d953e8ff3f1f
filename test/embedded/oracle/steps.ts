import type { ApiObject, ScenarioCluster } from './cluster.ts';

export interface DaemonSetOptions {
  image?: string;
  name?: string;
  strategy?: object;
  annotations?: Record<string, string>;
  podSpec?: object;
  spec?: object;
}

const ON_DELETE = { type: 'OnDelete' };
/** A RollingUpdate strategy with these limits. */
export const rolling = (limits: object): object => ({ type: 'RollingUpdate', rollingUpdate: limits });

export const createDaemonSet = (cluster: ScenarioCluster, shape: DaemonSetOptions = {}): Promise<ApiObject> => {
  const { image = 'app:v1', name = 'app', strategy = ON_DELETE, annotations, podSpec, spec } = shape;
  return cluster.create('daemonsets', {
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: strategy,
      template: {
        metadata: { labels: { app: 'app' }, ...(annotations && { annotations }) },
        spec: { nodeSelector: { case: cluster.namespace }, containers: [{ name: 'app', image }], ...podSpec },
      },
      ...spec,
    },
  });
};

export const setImage = (cluster: ScenarioCluster, image: string): Promise<ApiObject> =>
  cluster.patch('daemonsets', 'app', { spec: { template: { spec: { containers: [{ name: 'app', image }] } } } });

export const statusOf = async (cluster: ScenarioCluster): Promise<Record<string, number | undefined>> =>
  ((await cluster.get('daemonsets', 'app')).status ?? {}) as Record<string, number | undefined>;

interface PodView {
  spec: { nodeName?: string; containers: { image: string }[] };
  status?: { conditions?: { type: string; status: string }[] };
}
export const isReady = (pod: ApiObject): boolean =>
  (pod as unknown as PodView).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
  false;
export const imageOf = (pod: ApiObject): string => (pod as unknown as PodView).spec.containers[0]?.image ?? '';
export const nodeOf = (pod: ApiObject): string => (pod as unknown as PodView).spec.nodeName ?? '';

/** Waits until `count` pods of the image are ready and none of them is terminating. */
export const untilReady = (cluster: ScenarioCluster, image = 'app:v1', count = cluster.nodes.length): Promise<void> =>
  cluster.until(`${count} pods of ${image} are ready`, async () => {
    const pods = await cluster.list('pods');
    const good = pods.filter((pod) => imageOf(pod) === image && isReady(pod) && !pod.metadata.deletionTimestamp);
    return good.length === count && pods.length >= count;
  });

/** Waits until the status has these counts. */
export const untilStatus = (cluster: ScenarioCluster, wanted: Record<string, number>): Promise<void> =>
  cluster.until(`status is ${JSON.stringify(wanted)}`, async () => {
    const status = await statusOf(cluster);
    return Object.entries(wanted).every(([key, value]) => (status[key] ?? 0) === value);
  });

export const podOn = async (cluster: ScenarioCluster, node: string | undefined): Promise<ApiObject> => {
  const found = (await cluster.list('pods')).find((pod) => nodeOf(pod) === node);
  if (!found) throw new Error(`${node} has no pod`);
  return found;
};

export const createReady = async (cluster: ScenarioCluster, shape: DaemonSetOptions = {}): Promise<void> => {
  await createDaemonSet(cluster, shape);
  await untilReady(cluster, shape.image ?? 'app:v1');
};

/** The owner reference without its UID, which differs by cluster. */
export const withoutUid = (owner: NonNullable<ApiObject['metadata']['ownerReferences']>[number]): object => ({
  ...owner,
  uid: undefined,
});
