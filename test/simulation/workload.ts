import { type AdvancedDaemonSet, advancedDaemonSetCrd } from '../../src/advanced/index.ts';
import { defineResource } from '../../src/kube/index.ts';
import { daemonRolloutCrd } from '../../src/rollout/index.ts';
import type { Machinery } from '../../src/sim/index.ts';
import type { Plan, Strategy } from './plan.ts';

const APP = { namespace: 'default', name: 'app' };

const crds = defineResource<object>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
const native = defineResource<object>({
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
});
const advanced = defineResource<object>({ ...native, group: 'apps.kruise.io', version: 'v1beta1' });

/** An integer is written as one. */
const intOrText = (limit: string): number | string => (/^\d+$/.test(limit) ? Number(limit) : limit);

type RollingUpdate = NonNullable<NonNullable<AdvancedDaemonSet['spec']['updateStrategy']>['rollingUpdate']>;

const rollingUpdateOf = (strategy: Strategy, limit: string): RollingUpdate =>
  strategy === 'surge'
    ? { rollingUpdateType: 'Standard', maxSurge: intOrText(limit), maxUnavailable: 0 }
    : {
        rollingUpdateType: strategy === 'in-place' ? 'InPlaceIfPossible' : 'Standard',
        maxUnavailable: intOrText(limit),
        maxSurge: 0,
      };

/** The DaemonSet of a plan, and what its user does to it. What is not there is left alone. */
export const createWorkload = (machinery: Machinery, plan: Plan) => {
  const isNative = plan.kind === 'native';
  const resource = isNative ? native : advanced;
  let image = 'app:v0';
  let { strategy, limit } = plan;

  const patch = (body: object): void => {
    if (machinery.find(resource, APP) === undefined) return;
    machinery.patch(resource, APP, body, { type: isNative ? 'strategic' : 'merge' });
  };
  const annotate = (annotations: Record<string, string | null>): void => patch({ metadata: { annotations } });
  const roll = (rollingUpdate: object): void => patch({ spec: { updateStrategy: { rollingUpdate } } });
  const template = () => ({
    metadata: { labels: { app: 'app' } },
    spec: { nodeSelector: { role: 'edge' }, containers: [{ name: 'app', image }] },
  });

  return {
    resource,
    install(): void {
      machinery.create(crds, daemonRolloutCrd);
      if (!isNative) machinery.create(crds, advancedDaemonSetCrd);
    },
    create: (): void =>
      void machinery.create<object>(resource, {
        apiVersion: isNative ? 'apps/v1' : 'apps.kruise.io/v1beta1',
        kind: 'DaemonSet',
        metadata: {
          ...APP,
          annotations: {
            ...(isNative && { 'apps.openyurt.io/update-strategy': 'auto', 'apps.openyurt.io/max-unavailable': limit }),
            ...(plan.model === 'ota' && { 'apps.openyurt.io/update-strategy': 'ota' }),
            'edgeset.io/settle-seconds': String(plan.settleSeconds),
          },
        },
        spec: {
          minReadySeconds: plan.minReadySeconds,
          selector: { matchLabels: { app: 'app' } },
          updateStrategy: isNative ? { type: 'OnDelete' } : { rollingUpdate: rollingUpdateOf(strategy, limit) },
          template: template(),
        },
      }),
    exists: (): boolean => machinery.find(resource, APP) !== undefined,
    delete: (): void => {
      if (machinery.find(resource, APP) !== undefined)
        machinery.delete(resource, APP, { propagationPolicy: 'Background' });
    },
    release(next: string): void {
      image = next;
      patch({ spec: { template: { spec: { containers: [{ name: 'app', image }] } } } });
    },
    setStrategy(next: Strategy): void {
      strategy = next;
      if (!isNative) roll(rollingUpdateOf(strategy, limit));
    },
    setLimit(next: string): void {
      // An Advanced DaemonSet has no budget of zero.
      limit = !isNative && next === '0' ? '1' : next;
      if (isNative) annotate({ 'apps.openyurt.io/max-unavailable': limit });
      else roll(rollingUpdateOf(strategy, limit));
    },
    pause: (paused: boolean): void =>
      isNative ? annotate({ 'edgeset.io/paused': paused ? 'true' : null }) : roll({ paused }),
    setPartition: (nodes: number): void =>
      isNative ? annotate({ 'edgeset.io/partition': nodes === 0 ? null : String(nodes) }) : roll({ partition: nodes }),
    setDeadline: (deadline: { at: string; spreadSeconds: number } | undefined): void =>
      annotate({
        'edgeset.io/ota-deadline': deadline?.at ?? null,
        'edgeset.io/ota-deadline-spread': deadline ? `${deadline.spreadSeconds}s` : null,
      }),
    resume: (hash: string): void => annotate({ 'edgeset.io/resume': hash }),
  };
};
