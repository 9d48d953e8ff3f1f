import type { Case, PodView } from '../kit/index.ts';

/** Merges into `spec.updateStrategy.rollingUpdate`; null takes a field away. */
export const setRolling = (c: Case, rollingUpdate: object): Promise<unknown> =>
  c.change({ spec: { updateStrategy: { rollingUpdate } } });

/** Pods that take a while to start. */
export const starting = (ms: number): { podAnnotations: Record<string, string> } => ({
  podAnnotations: { 'sim.edgeset.io/start-ms': String(ms) },
});

export const podPath = (c: Case, { name }: Pick<PodView, 'name'>): string =>
  `/api/v1/namespaces/${c.namespace}/pods/${name}`;

/** Deletes a pod as a user does; resolves when the node has another, ready one. */
export const deleteByHand = async (c: Case, node: string | undefined): Promise<PodView> => {
  const old = await c.podOn(node);
  await c.api.remove(podPath(c, old));
  return c.until(`${node} has another pod`, async () => {
    const pod = await c.podOn(node);
    return pod.uid !== old.uid && pod.ready && pod;
  });
};

/** The nodes of the first updates, sorted. */
export const firstActed = async (c: Case, count: number): Promise<string[]> =>
  (await c.updatedNodes()).slice(0, count).toSorted();

/** This many nodes are updated together, and no further one while their pods start. */
export const untilWaveOf = async (c: Case, size: number, startMs: number): Promise<void> => {
  await c.untilUpdates(size + 1);
  const [first = 0, ...later] = (await c.updates()).map(({ receivedAt }) => receivedAt);
  const together = later.filter((at) => at < first + startMs).length + 1;
  if (together !== size) throw new Error(`${together} nodes were updated at first, not ${size}`);
};
