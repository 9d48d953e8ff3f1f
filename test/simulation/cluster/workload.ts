import type { ApiServer } from '../../../embedded/index.ts';
import { type AdvancedDaemonSet, advancedDaemonSetCrd } from '../../../src/kinds/advanced/index.ts';
import { customResourceDefinitions, daemonSets, defineResource, type Resource } from '../../../src/kube/index.ts';
import { daemonRolloutCrd, planCrds } from '../../../src/words/index.ts';
import type { DaemonSetPlan, Hook, Plan, Predownload, Strategy } from '../plan/plan.ts';

const native = daemonSets as Resource<object>;
const advanced = defineResource<object>({ ...native, group: 'apps.kruise.io', version: 'v1beta1' });

/** How the preDelete hook holds a pod. */
export const HOLD_LABEL = 'hold';
export const HOLD_FINALIZER = 'example.com/drain';

/** Whole numbers are written as numbers. */
const intOrText = (limit: number | string): number | string => (/^\d+$/.test(String(limit)) ? Number(limit) : limit);

/** The budget as the kind permits it: that of an Advanced DaemonSet is at least 1. */
export const limitOf = (kind: DaemonSetPlan['kind'], asked: string): string =>
  kind === 'advanced' && asked === '0' ? '1' : asked;

type Spec = AdvancedDaemonSet['spec'];
type RollingUpdate = NonNullable<NonNullable<Spec['updateStrategy']>['rollingUpdate']>;

const rollingUpdateOf = (strategy: Strategy, limit: string): RollingUpdate =>
  strategy === 'surge'
    ? { rollingUpdateType: 'Standard', maxSurge: intOrText(limit), maxUnavailable: 0 }
    : {
        rollingUpdateType: strategy === 'in-place' ? 'InPlaceIfPossible' : 'Standard',
        maxUnavailable: intOrText(limit),
        maxSurge: 0,
      };

const preDeleteOf = ({ by, markPodNotReady }: Hook): NonNullable<Spec['lifecycle']> => ({
  preDelete: {
    ...(by === 'label' ? { labelsHandler: { [HOLD_LABEL]: 'yes' } } : { finalizersHandler: [HOLD_FINALIZER] }),
    markPodNotReady,
  },
});

const labelOf = (index: number): string => (index === 0 ? 'app' : `app-${index}`);

/** The DaemonSets of a plan in order. The first of each kind have the same name. */
export const setsOf = (plan: Plan): { set: DaemonSetPlan; name: string; label: string }[] => {
  const count = { native: 0, advanced: 0 };
  return [plan, ...(plan.others ?? [])].map((set, index) => {
    const name = labelOf(count[set.kind]);
    count[set.kind] += 1;
    return { set, name, label: labelOf(index) };
  });
};

export const installDefinitions = (apiServer: ApiServer, plan: Plan): void => {
  apiServer.create(customResourceDefinitions, daemonRolloutCrd);
  if (setsOf(plan).some(({ set }) => set.rolloutPlan))
    for (const crd of planCrds) apiServer.create(customResourceDefinitions, crd);
  if (setsOf(plan).some(({ set }) => set.kind === 'advanced'))
    apiServer.create(customResourceDefinitions, advancedDaemonSetCrd);
};

/** One DaemonSet of a plan, and operations of its user. While it does not exist, they are ignored. */
export const createWorkload = (apiServer: ApiServer, { set, name, label }: ReturnType<typeof setsOf>[number]) => {
  const isNative = set.kind === 'native';
  const resource = isNative ? native : advanced;
  const key = { namespace: 'default', name };
  const twinKey = { namespace: 'default', name: `${name}-native` };
  const { hook } = set;
  /** Each DaemonSet has its own images. */
  const ownImage = (next: string): string => next.replace(/^app:/, `${label}:`);
  let image = ownImage('app:v0');
  let { strategy, limit, partition: nodesHeld = 0 } = set;
  let resumes = 0;

  const patch = (body: object): void => {
    if (apiServer.find(resource, key) === undefined) return;
    apiServer.patch(resource, key, body, { type: isNative ? 'strategic' : 'merge' });
  };
  const annotate = (annotations: Record<string, string | null>): void => patch({ metadata: { annotations } });
  const roll = (rollingUpdate: object): void => patch({ spec: { updateStrategy: { rollingUpdate } } });
  const partitionOf = (nodes: number | string): number | string | undefined =>
    Number.parseInt(String(nodes), 10) === 0 ? undefined : intOrText(nodes);
  const template = () => ({
    metadata: {
      labels: { app: label, ...(hook?.by === 'label' && { [HOLD_LABEL]: 'yes' }) },
      ...(hook?.by === 'finalizer' && { finalizers: [HOLD_FINALIZER] }),
    },
    spec: { nodeSelector: { role: 'edge' }, containers: [{ name: 'app', image }] },
  });
  const annotations = (partition: number | string | undefined) => ({
    'edgeset.io/settle-seconds': String(set.settleSeconds),
    ...(isNative && { 'apps.openyurt.io/max-unavailable': limit }),
    ...((isNative || set.model === 'ota') && { 'apps.openyurt.io/update-strategy': set.model ?? 'auto' }),
    ...(isNative && partition !== undefined && { 'edgeset.io/partition': String(partition) }),
    ...(set.rolloutPlan && { 'edgeset.io/rollout-plan': label }),
    ...(set.recreate && { 'edgeset.io/recreate': set.recreate }),
    ...(set.predownload && { 'edgeset.io/predownload': set.predownload }),
    ...(set.firstWave && { 'edgeset.io/first-wave': set.firstWave }),
    ...(set.onImageDrift && { 'edgeset.io/on-image-drift': set.onImageDrift }),
    ...(set.parallelism !== undefined && { 'apps.kruise.io/image-predownload-parallelism': set.parallelism }),
    ...(set.pullSeconds !== undefined && {
      'apps.kruise.io/image-predownload-timeout-seconds': String(set.pullSeconds),
    }),
    ...(hook?.timeoutSeconds !== undefined && { 'edgeset.io/predelete-timeout-seconds': String(hook.timeoutSeconds) }),
  });

  return {
    set,
    /** For the checker. */
    ref: { group: resource.group, name },
    label,
    resource,
    ownImage,
    create(): void {
      const partition = partitionOf(nodesHeld);
      apiServer.create<object>(resource, {
        apiVersion: isNative ? 'apps/v1' : 'apps.kruise.io/v1beta1',
        kind: 'DaemonSet',
        metadata: { ...key, annotations: annotations(partition) },
        spec: {
          minReadySeconds: set.minReadySeconds,
          selector: { matchLabels: { app: label } },
          template: template(),
          ...(isNative
            ? { updateStrategy: { type: 'OnDelete' } }
            : {
                updateStrategy: {
                  rollingUpdate: { ...rollingUpdateOf(strategy, limit), ...(partition !== undefined && { partition }) },
                },
                ...(hook && { lifecycle: preDeleteOf(hook) }),
                ...(set.historyLimit !== undefined && { revisionHistoryLimit: set.historyLimit }),
                ...(set.progressive && { scaleStrategy: { partitionedScaling: true } }),
              }),
        },
      });
    },
    exists: (): boolean => apiServer.find(resource, key) !== undefined,
    /** Deletes it and leaves its pods. */
    orphan: (): void => void apiServer.delete(resource, key, { propagationPolicy: 'Orphan' }),
    /** The native DaemonSet with the same pods that an Advanced one is handed to; its manager is Kubernetes' own. */
    twin: {
      exists: (): boolean => apiServer.find(native, twinKey) !== undefined,
      create: (): void =>
        void apiServer.create<object>(native, {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          metadata: twinKey,
          spec: {
            selector: { matchLabels: { app: label } },
            template: template(),
            updateStrategy: { type: 'OnDelete' },
          },
        }),
      orphan: (): void => void apiServer.delete(native, twinKey, { propagationPolicy: 'Orphan' }),
    },
    delete: (): void => {
      if (apiServer.find(resource, key) !== undefined)
        apiServer.delete(resource, key, { propagationPolicy: 'Background' });
    },
    release(next: string): void {
      image = ownImage(next);
      patch({ spec: { template: { spec: { containers: [{ name: 'app', image }] } } } });
    },
    setStrategy(next: Strategy): void {
      strategy = next;
      if (!isNative) roll(rollingUpdateOf(strategy, limit));
    },
    setLimit(next: string): void {
      limit = limitOf(set.kind, next);
      if (isNative) annotate({ 'apps.openyurt.io/max-unavailable': limit });
      else roll(rollingUpdateOf(strategy, limit));
    },
    pause: (paused: boolean): void =>
      isNative ? annotate({ 'edgeset.io/paused': paused ? 'true' : null }) : roll({ paused }),
    setPartition(nodes: number | string): void {
      nodesHeld = nodes;
      const next = partitionOf(nodes);
      if (isNative) annotate({ 'edgeset.io/partition': next === undefined ? null : String(next) });
      else roll({ partition: next ?? 0 });
    },
    select: (wave: string | undefined): void =>
      isNative
        ? annotate({ 'edgeset.io/node-selector': wave === undefined ? null : `wave=${wave}` })
        : roll({ selector: wave === undefined ? null : { matchLabels: { wave } } }),
    setManual: (manual: boolean): void =>
      isNative
        ? annotate({ 'apps.openyurt.io/update-strategy': manual ? null : (set.model ?? 'auto') })
        : patch({ spec: { updateStrategy: { type: manual ? 'OnDelete' : 'RollingUpdate' } } }),
    setPredownload: (mode: Predownload | 'off'): void => annotate({ 'edgeset.io/predownload': mode }),
    setHook(on: boolean): void {
      if (!isNative && hook) patch({ spec: { lifecycle: on ? preDeleteOf(hook) : null } });
    },
    setDeadline: (deadline: { at: string; spreadSeconds: number } | undefined): void =>
      annotate({
        'edgeset.io/ota-deadline': deadline?.at ?? null,
        'edgeset.io/ota-deadline-spread': deadline ? `${deadline.spreadSeconds}s` : null,
      }),
    /** Each time with another value, as the command line does. */
    resume(hash: string): void {
      resumes += 1;
      annotate({ 'edgeset.io/resume': `${hash}/${resumes}` });
    },
  };
};
export type Workload = ReturnType<typeof createWorkload>;
