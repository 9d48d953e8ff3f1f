import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock } from '../../../test/support/index.ts';
import {
  controllerRevisions,
  daemonSets,
  isKubeError,
  type KubeObject,
  nodes,
  pods,
  type Resource,
} from '../../kube/index.ts';
import { controllerOf } from '../../rollout/index.ts';
import { annotation, type DaemonRollout } from '../../words/index.ts';
import { daemonRollouts } from '../index.ts';
import { createTestApi } from './api.ts';

export const NAMESPACE = 'edge';
const HASH = 'controller-revision-hash';

const isoTime = (ms: number): string => new Date(ms).toISOString();

/** How long the actions of kubelets and the native controller take. */
const STOP_MS = 1_000;
const START_MS = 2_000;
const CREATE_MS = 100;
const OBSERVE_MS = 50;

/**
 * A small cluster with DaemonSets: the native controller and kubelets on a virtual clock, which a test can switch off. A
 * template's image tag is the hash of its revision; pods with a tag that starts with `bad` never become ready.
 */
export const createTestCluster = () => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  const { objects } = api;
  let serial = 0;
  /** What the native controller does. */
  const nativeController = {
    observes: true,
    creates: true,
    /** Revisions are recorded by a server that adds a default which the DaemonSet's template lacks. */
    defaults: false,
  };

  const update = <T extends KubeObject>(resource: Resource<T>, object: T, subresource?: string): void =>
    void objects.replace(resource, object, subresource);

  const later = (ms: number, work: () => void): void => {
    clock.timer(ms, () => {
      try {
        work();
      } catch (error) {
        if (!isKubeError(error)) throw error;
      }
    });
  };

  const template = (tag: string): PodTemplateSpec => ({
    metadata: { labels: { app: 'app' } },
    spec: { containers: [{ name: 'app', image: `app:${tag}` }] },
  });
  const tagOf = (set: DaemonSet): string => set.spec?.template.spec?.containers[0]?.image?.split(':')[1] ?? '';
  const getSet = (name = 'app'): DaemonSet => objects.find(daemonSets, { namespace: NAMESPACE, name }) as DaemonSet;

  const revisionsOf = (uid: string | undefined): ControllerRevision[] =>
    (objects.all(controllerRevisions) as ControllerRevision[]).filter(
      (revision) => controllerOf(revision)?.uid === uid,
    );

  const owned = (set: DaemonSet) => ({
    namespace: NAMESPACE,
    labels: { app: 'app', [HASH]: tagOf(set) },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: set.metadata?.name ?? '',
        uid: set.metadata?.uid ?? '',
        controller: true,
      },
    ],
  });

  /** Records the template as the newest revision. */
  const record = (set: DaemonSet): void => {
    const mine = revisionsOf(set.metadata?.uid);
    const number = Math.max(0, ...mine.map(({ revision }) => revision)) + 1;
    const known = mine.find((revision) => revision.metadata?.labels?.[HASH] === tagOf(set));
    if (known) {
      if (known.revision !== number - 1) update(controllerRevisions, { ...known, revision: number });
      return;
    }
    const name = `${set.metadata?.name}-${tagOf(set)}`;
    const filled = { ...set.spec?.template, ...(nativeController.defaults && { addedByTheServer: true }) };
    const data = { spec: { template: { ...filled, $patch: 'replace' } } };
    const revision: ControllerRevision = { metadata: { ...owned(set), name }, revision: number, data };
    objects.create(controllerRevisions, revision);
  };
  const acknowledge = (name = 'app'): void => {
    const set = getSet(name);
    const observedGeneration = set.metadata?.generation ?? 0;
    update(daemonSets, { ...set, status: { ...set.status, observedGeneration } } as DaemonSet, 'status');
  };

  const podsOf = (set: DaemonSet): Pod[] =>
    (objects.all(pods) as Pod[]).filter((pod) => controllerOf(pod)?.uid === set.metadata?.uid);

  const createPod = (set: DaemonSet, node: string): void => {
    serial += 1;
    const metadata = { ...owned(set), name: `${set.metadata?.name}-${serial}` };
    objects.create(pods, { metadata, spec: { nodeName: node, containers: [] } } as Pod);
  };

  const setPodReady = (name: string, ready: boolean): void => {
    const pod = objects.find(pods, { namespace: NAMESPACE, name }) as Pod;
    const others = pod.status?.conditions?.filter(({ type }) => type !== 'Ready') ?? [];
    const status = {
      phase: 'Running',
      conditions: [
        ...others,
        { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: isoTime(clock.now()) },
      ],
    };
    objects.replace(pods, { ...pod, status }, 'status');
  };

  const fill = (): void => {
    if (!nativeController.creates) return;
    for (const set of objects.all(daemonSets) as DaemonSet[]) {
      const taken = new Set(podsOf(set).map((pod) => pod.spec?.nodeName));
      for (const node of objects.all(nodes) as Node[]) {
        const name = node.metadata?.name ?? '';
        if (!taken.has(name)) createPod(set, name);
      }
    }
  };

  const isOnline = (name: string | undefined): boolean =>
    (objects.all(nodes) as Node[]).some(
      (node) =>
        node.metadata?.name === name &&
        node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );

  objects.listen(({ plural, type, object }) => {
    const { name = '', deletionTimestamp } = object.metadata ?? {};
    const ref = { namespace: NAMESPACE, name };
    if (plural === 'pods') {
      const pod = object as Pod;
      const tag = pod.metadata?.labels?.[HASH] ?? '';
      if (type === 'DELETED') later(CREATE_MS, fill);
      else if (deletionTimestamp) later(STOP_MS, () => isOnline(pod.spec?.nodeName) && objects.remove(pods, ref));
      else if (type === 'ADDED' && !tag.startsWith('bad'))
        later(START_MS, () => isOnline(pod.spec?.nodeName) && setPodReady(name, true));
    }
    if (plural === 'nodes' && type === 'ADDED') later(CREATE_MS, fill);
    if (plural === 'daemonsets' && type !== 'DELETED') {
      const set = object as DaemonSet;
      const behind = (set.status?.observedGeneration ?? 0) < (set.metadata?.generation ?? 0);
      if (behind && nativeController.observes)
        later(OBSERVE_MS, () => {
          record(getSet(name));
          acknowledge(name);
        });
    }
  });

  return {
    clock,
    api,
    nativeController,
    record: (name = 'app'): void => record(getSet(name)),
    acknowledge,
    getSet,
    setPodReady,
    tagOf,
    addNode(
      name: string,
      { ready = true, labels = {} }: { ready?: boolean; labels?: Record<string, string> } = {},
    ): void {
      const since = isoTime(clock.now() - 3_600_000);
      const conditions = [{ type: 'Ready', status: ready ? 'True' : 'Unknown', lastTransitionTime: since }];
      objects.create(nodes, { metadata: { name, labels }, spec: {}, status: { conditions } } as Node);
    },
    setNodeReady(name: string, ready: boolean): void {
      const node = objects.find(nodes, { name }) as Node;
      const conditions = [
        { type: 'Ready', status: ready ? 'True' : 'Unknown', lastTransitionTime: isoTime(clock.now()) },
      ];
      objects.replace(nodes, { ...node, status: { conditions } }, 'status');
    },
    createSet(
      annotations: Record<string, string> = {},
      { name = 'app', tag = 'v1', optIn = true }: { name?: string; tag?: string; optIn?: boolean } = {},
    ): void {
      const strategy: Record<string, string> = optIn ? { [annotation.strategy]: 'auto' } : {};
      objects.create(daemonSets, {
        metadata: { namespace: NAMESPACE, name, annotations: { ...strategy, ...annotations } },
        spec: {
          selector: { matchLabels: { app: 'app' } },
          template: template(tag),
          updateStrategy: { type: 'OnDelete' },
        },
      } as DaemonSet);
      later(CREATE_MS, fill);
    },
    setImage(tag: string): void {
      const set = getSet();
      update(daemonSets, { ...set, spec: { ...set.spec, template: template(tag) } } as DaemonSet);
    },
    /** Null removes an annotation. */
    annotate(annotations: Record<string, string | null>): void {
      objects.patch(daemonSets, { namespace: NAMESPACE, name: 'app' }, { metadata: { annotations } });
    },
    /** Image tag of each node's pod, by node. */
    tags(): Record<string, string> {
      const live = (objects.all(pods) as Pod[]).filter((pod) => !pod.metadata?.deletionTimestamp);
      return Object.fromEntries(live.map((pod) => [pod.spec?.nodeName ?? '', pod.metadata?.labels?.[HASH] ?? '']));
    },
    podOn: (node: string): Pod | undefined => (objects.all(pods) as Pod[]).find((pod) => pod.spec?.nodeName === node),
    rollout(name = 'app'): DaemonRollout | undefined {
      return objects.all(daemonRollouts).find((object) => object.metadata?.name === name) as DaemonRollout | undefined;
    },
  };
};
export type TestCluster = ReturnType<typeof createTestCluster>;
