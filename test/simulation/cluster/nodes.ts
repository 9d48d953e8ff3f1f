import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { EmbeddedCluster } from '../../../embedded/index.ts';
import { defineResource, type KubeObject } from '../../../src/kube/index.ts';
import { NODE_ZONE_KEY } from '../../invariants/index.ts';
import { type BusyMark, busyMarks } from '../plan/plan.ts';

const core = <T extends KubeObject>(plural: string, kind: string, namespaced: boolean) =>
  defineResource<T>({ group: '', version: 'v1', plural, kind, namespaced });
const nodes = core<Node>('nodes', 'Node', false);
const pods = core<Pod>('pods', 'Pod', true);

/** Rings and sites for the stages and groups of rollout plans; every fourth node is at no site. */
const labelsOf = (index: number): Record<string, string> => ({
  wave: String(index % 2),
  ring: `r${index % 3}`,
  ...(index % 4 !== 3 && { site: `s${index % 2}` }),
});

/** Two nodes of three say where they are; both are a broken number of hours from UTC. */
const zoneOf = (index: number): string | undefined => [undefined, 'Asia/Kolkata', 'America/St_Johns'][index % 3];
const FINALIZER = 'example.com/hold';

/** The nodes of a plan, and operations on them. A node that does not exist is ignored. */
export const createNodes = ({ apiServer, addNode }: Pick<EmbeddedCluster, 'apiServer' | 'addNode'>) => {
  const patch = (name: string, body: object): void => {
    if (apiServer.find(nodes, { name }) !== undefined) apiServer.patch(nodes, { name }, body, { type: 'merge' });
  };
  const taint = (name: string, key: string, effect: string | undefined): void => {
    const { taints = [] } = apiServer.find<Node>(nodes, { name })?.spec ?? {};
    const others = taints.filter((each) => each.key !== key);
    if (effect === undefined && others.length === taints.length) return;
    patch(name, { spec: { taints: [...others, ...(effect === undefined ? [] : [{ key, effect }])] } });
  };
  const podOn = (node: string, app: string): Pod | undefined =>
    apiServer
      .list<Pod>(pods, { namespace: 'default', labelSelector: `app=${app}` })
      .find((pod) => pod.spec?.nodeName === node);
  const deletePod = (name = ''): void => void apiServer.delete(pods, { namespace: 'default', name });
  const releasePod = ({ metadata = {} }: Pod): void => {
    const finalizers = metadata.finalizers?.filter((each) => each !== FINALIZER) ?? [];
    const key = { namespace: 'default', name: metadata.name ?? '' };
    apiServer.patch(pods, key, { metadata: { finalizers } }, { type: 'merge' });
  };
  return {
    patch,
    taint,
    /** Marks a node as busy, or no longer. */
    mark(name: string, by: BusyMark, isBusy: boolean): void {
      const { [by]: key } = busyMarks;
      if (by === 'taint') return taint(name, key, isBusy ? 'PreferNoSchedule' : undefined);
      if (by === 'label') return patch(name, { metadata: { labels: { [key]: isBusy ? 'now' : null } } });
      const node = apiServer.find<Node>(nodes, { name });
      const others = node?.status?.conditions?.filter(({ type }) => type !== key);
      if (!node || (!isBusy && others?.length === node.status?.conditions?.length)) return;
      const condition = { type: key, status: isBusy ? 'True' : 'False', reason: 'Test', message: '' };
      const conditions = [...(others ?? []), condition];
      apiServer.patch(nodes, { name }, { status: { conditions } }, { type: 'merge', subresource: 'status' });
    },
    annotate: (name: string, annotations: Record<string, string | null>): void =>
      patch(name, { metadata: { annotations } }),
    add(name: string): void {
      if (apiServer.find(nodes, { name }) !== undefined) return;
      const index = Number(name.slice('node-'.length));
      const zone = zoneOf(index);
      addNode(name, {
        labels: { role: 'edge', ...labelsOf(index) },
        ...(zone !== undefined && { annotations: { [NODE_ZONE_KEY]: zone } }),
      });
    },
    remove(name: string): void {
      if (apiServer.find(nodes, { name }) !== undefined) apiServer.delete(nodes, { name });
    },
    /** Removes all pods with such an image at once, as from nodes that are reinstalled. */
    deletePodsOf(image: string): void {
      for (const { metadata, spec } of apiServer.list<Pod>(pods))
        if (spec?.containers[0]?.image?.endsWith(image))
          apiServer.delete(pods, { namespace: 'default', name: metadata?.name ?? '' }, { gracePeriodSeconds: 0 });
    },
    /** As a user does by hand; `app` is the pod's label. False: there is no such pod. */
    deletePodOn(node: string, app: string): boolean {
      const pod = podOn(node, app);
      if (pod) deletePod(pod.metadata?.name);
      return pod !== undefined;
    },
    /** Adds a finalizer to the pod, and deletes it if the user does. False: there is no such pod. */
    holdPodOn(node: string, app: string, deletes: boolean): boolean {
      const { name, finalizers = [], deletionTimestamp } = podOn(node, app)?.metadata ?? {};
      if (name === undefined || deletionTimestamp !== undefined) return false;
      const body = { metadata: { finalizers: [...finalizers, FINALIZER] } };
      apiServer.patch(pods, { namespace: 'default', name }, body, { type: 'merge' });
      if (deletes) deletePod(name);
      return true;
    },
    /** Removes the finalizer from the pods of this node, or from all. */
    releasePods(node?: string): void {
      for (const pod of apiServer.list<Pod>(pods))
        if (pod.metadata?.finalizers?.includes(FINALIZER) && (node === undefined || pod.spec?.nodeName === node))
          releasePod(pod);
    },
  };
};
export type Nodes = ReturnType<typeof createNodes>;
