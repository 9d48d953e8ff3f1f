import { randomBytes } from 'node:crypto';
import type { Container, Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonRolloutStatus } from '../../src/words/index.ts';
import { orMissing } from '../cluster/api.ts';
import { eventually } from '../support/index.ts';
import type { NodeCluster } from './cluster.ts';
import { startTimeline } from './timeline.ts';

export interface AppOptions {
  cluster: NodeCluster;
  /** The name of the namespace begins with it. */
  name: string;
  nodes: readonly string[];
  image: string;
  /** Default: an `apps/v1` DaemonSet that edgeset updates with `auto`. */
  kind?: 'auto' | 'native' | 'advanced';
  annotations?: Readonly<Record<string, string>>;
  container?: Partial<Container>;
  pod?: Partial<PodSpec>;
  /** Of the pods. */
  labels?: Readonly<Record<string, string>>;
  /** Merged into the DaemonSet's spec. */
  spec?: Readonly<Record<string, unknown>>;
}

const strategies = {
  auto: { 'apps.openyurt.io/update-strategy': 'auto', 'edgeset.io/settle-seconds': '1' },
  native: {},
  advanced: { 'edgeset.io/settle-seconds': '1' },
} as const;

const WITHIN_MS = 60_000;

/** A DaemonSet of the test program in its own namespace, with a ready pod on each of its nodes. */
export const deployApp = async (options: AppOptions) => {
  const { cluster, nodes, image, kind = 'auto', annotations, container, pod, labels, spec } = options;
  const { api } = cluster.plane;
  const namespace = `${options.name}-${randomBytes(3).toString('hex')}`;
  await cluster.createNamespace(namespace);
  const isAdvanced = kind === 'advanced';
  const group = isAdvanced ? 'apis/apps.kruise.io/v1beta1' : 'apis/apps/v1';
  const path = `/${group}/namespaces/${namespace}/daemonsets/app`;
  const rolloutPath = `/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts/app${isAdvanced ? '.apps.kruise.io' : ''}`;
  const on = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [...nodes] }];
  await cluster.apply({
    apiVersion: isAdvanced ? 'apps.kruise.io/v1beta1' : 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace, annotations: { ...strategies[kind], ...annotations } },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      ...(kind === 'auto' && { updateStrategy: { type: 'OnDelete' } }),
      ...spec,
      template: {
        metadata: { labels: { ...labels, app: 'app' } },
        spec: {
          terminationGracePeriodSeconds: 5,
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: on }] },
            },
          },
          ...pod,
          containers: [
            {
              name: 'main',
              image,
              readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
              ...container,
            },
            ...(pod?.containers ?? []),
          ],
        },
      },
    },
  });
  const timeline = startTimeline(cluster.client, namespace, 'app');

  const app = {
    namespace,
    timeline,
    /** Names it for kubectl and the plugin. */
    reference: isAdvanced ? 'ads/app' : 'ds/app',
    pods: async (): Promise<Pod[]> =>
      (await api.get<{ items: Pod[] }>(`/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dapp`)).items,
    async podOn(node: string): Promise<Pod> {
      const found = (await app.pods()).filter(
        ({ spec: its, metadata }) => its?.nodeName === node && metadata?.deletionTimestamp === undefined,
      );
      if (!found[0] || found.length > 1) throw new Error(`${node} has ${found.length} pods`);
      return found[0];
    },
    podsOn: (names: readonly string[]): Promise<Pod[]> => Promise.all(names.map((name) => app.podOn(name))),
    merge: (patch: object) => api.patch(path, patch, 'merge-patch'),
    /** Changes the template, which is a new version. */
    async edit(change: (spec: PodSpec) => void) {
      timeline.reset();
      const { spec: old } = await api.get<{ spec: { template: { spec: PodSpec } } }>(path);
      change(old.template.spec);
      await app.merge({ spec: { template: { spec: old.template.spec } } });
    },
    /** Changes the first container of the template. */
    change: (values: Partial<Container>) =>
      app.edit(({ containers: [first] }) => void (first && Object.assign(first, values))),
    annotate: (values: Readonly<Record<string, string | null>>) => app.merge({ metadata: { annotations: values } }),
    rollout: async (): Promise<DaemonRolloutStatus | undefined> =>
      (await orMissing(api.get<{ status?: DaemonRolloutStatus }>(rolloutPath)))?.status,
    /** The message of a condition that is True for the DaemonSet as it is now; undefined while it isn't. */
    async condition(type: string): Promise<string | undefined> {
      const [status, { metadata }] = await Promise.all([
        app.rollout(),
        api.get<{ metadata: { generation: number } }>(path),
      ]);
      const found = status?.conditions?.find((condition) => condition.type === type);
      if (status?.daemonSetGeneration !== metadata.generation || found?.status !== 'True') return undefined;
      return found.message || found.reason;
    },
    untilCondition: (type: string, withinMs = WITHIN_MS): Promise<string> =>
      eventually(`${namespace} is ${type}`, () => app.condition(type), { withinMs, everyMs: 100 }),
    /** Resolves when exactly these nodes have one ready pod of the image. */
    async untilRunning(wanted: string, on_ = nodes, withinMs = WITHIN_MS): Promise<void> {
      await eventually(
        `${namespace} runs ${wanted} on ${on_.join(', ')}`,
        async () => {
          cluster.plane.mustRun();
          const all = await app.pods();
          return on_.every((node) => {
            const here = all.filter(({ spec: its }) => its?.nodeName === node);
            const [only] = here;
            return (
              here.length === 1 &&
              only?.metadata?.deletionTimestamp === undefined &&
              only?.spec?.containers.some((each) => each.image === wanted) &&
              only.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') &&
              only.status.containerStatuses?.every(({ image: running, name }) => name !== 'main' || running === wanted)
            );
          });
        },
        { withinMs, everyMs: 200 },
      );
      // The watch may be behind; what it measures isn't complete before.
      await eventually(`all nodes of ${namespace} serve`, () => timeline.allServe(on_));
    },
    async remove() {
      await timeline.stop();
      await orMissing(api.delete(`/api/v1/namespaces/${namespace}`));
    },
  };
  await app.untilRunning(image);
  return app;
};
export type App = Awaited<ReturnType<typeof deployApp>>;
