import type { Stage, Thing } from './stage.ts';

export interface Shape {
  image?: string;
  name?: string;
  strategy?: object;
  annotations?: Record<string, string>;
  podSpec?: object;
  spec?: object;
}

const ON_DELETE = { type: 'OnDelete' };
/** RollingUpdate with these limits. */
export const rolling = (limits: object): object => ({ type: 'RollingUpdate', rollingUpdate: limits });

export const create = (stage: Stage, shape: Shape = {}): Promise<Thing> => {
  const { image = 'app:v1', name = 'app', strategy = ON_DELETE, annotations, podSpec, spec } = shape;
  return stage.create('daemonsets', {
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: strategy,
      template: {
        metadata: { labels: { app: 'app' }, ...(annotations && { annotations }) },
        spec: { nodeSelector: { case: stage.namespace }, containers: [{ name: 'app', image }], ...podSpec },
      },
      ...spec,
    },
  });
};

export const setImage = (stage: Stage, image: string): Promise<Thing> =>
  stage.patch('daemonsets', 'app', { spec: { template: { spec: { containers: [{ name: 'app', image }] } } } });

export const statusOf = async (stage: Stage): Promise<Record<string, number | undefined>> =>
  ((await stage.get('daemonsets', 'app')).status ?? {}) as Record<string, number | undefined>;

interface PodView {
  spec: { nodeName?: string; containers: { image: string }[] };
  status?: { conditions?: { type: string; status: string }[] };
}
export const isReady = (pod: Thing): boolean =>
  (pod as unknown as PodView).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
  false;
export const imageOf = (pod: Thing): string => (pod as unknown as PodView).spec.containers[0]?.image ?? '';
export const nodeOf = (pod: Thing): string => (pod as unknown as PodView).spec.nodeName ?? '';

/** Until so many pods of the image are ready and none is going. */
export const untilReady = (stage: Stage, image = 'app:v1', count = stage.nodes.length): Promise<void> =>
  stage.until(`${count} pods of ${image} are ready`, async () => {
    const pods = await stage.list('pods');
    const good = pods.filter((pod) => imageOf(pod) === image && isReady(pod) && !pod.metadata.deletionTimestamp);
    return good.length === count && pods.length >= count;
  });

/** Until the status tells so many. */
export const untilStatus = (stage: Stage, wanted: Record<string, number>): Promise<void> =>
  stage.until(`status is ${JSON.stringify(wanted)}`, async () => {
    const status = await statusOf(stage);
    return Object.entries(wanted).every(([key, value]) => (status[key] ?? 0) === value);
  });

export const podOn = async (stage: Stage, node: string | undefined): Promise<Thing> => {
  const found = (await stage.list('pods')).find((pod) => nodeOf(pod) === node);
  if (!found) throw new Error(`${node} has no pod`);
  return found;
};

export const settled = async (stage: Stage, shape: Shape = {}): Promise<void> => {
  await create(stage, shape);
  await untilReady(stage, shape.image ?? 'app:v1');
};

/** The owner as any cluster would name it. */
export const withoutUid = (owner: NonNullable<Thing['metadata']['ownerReferences']>[number]): object => ({
  ...owner,
  uid: undefined,
});
