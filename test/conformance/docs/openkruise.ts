import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { isReady } from '../advanced/pod-context.ts';
import type { Cluster } from '../cluster.ts';
import { type Api, openApi } from '../kit/api.ts';
import { until } from '../kit/until.ts';
import { applyWith } from './shell.ts';

const NAMESPACE = 'kruise-system';
const service = { name: 'kruise-webhook-service', namespace: NAMESPACE };
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Its definition: objects are stored in the older version, and converted by a webhook. */
export const kruiseDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'daemonsets.apps.kruise.io' },
  spec: {
    group: 'apps.kruise.io',
    scope: 'Namespaced',
    names: {
      kind: 'DaemonSet',
      listKind: 'DaemonSetList',
      plural: 'daemonsets',
      singular: 'daemonset',
      shortNames: ['daemon', 'ads'],
    },
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { service: { ...service, path: '/convert' } },
        conversionReviewVersions: ['v1', 'v1beta1'],
      },
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: open },
        subresources: { status: {} },
      },
    ],
  },
};

/** Nobody serves them once its manager is gone, and then nothing that they look at can be written. */
const webhookConfiguration = (kind: 'Validating' | 'Mutating') => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${kind}WebhookConfiguration`,
  metadata: { name: `kruise-${kind.toLowerCase()}-webhook-configuration` },
  webhooks: [
    {
      name: `${kind === 'Mutating' ? 'm' : 'v'}daemonset.kb.io`,
      clientConfig: { service: { ...service, path: '/daemonset' } },
      rules: [
        {
          apiGroups: ['apps.kruise.io'],
          apiVersions: ['*'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['daemonsets'],
        },
      ],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});

const manager = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'kruise-controller-manager', namespace: NAMESPACE },
  spec: {
    replicas: 1,
    selector: { matchLabels: { 'control-plane': 'controller-manager' } },
    template: {
      metadata: { labels: { 'control-plane': 'controller-manager' } },
      spec: { containers: [{ name: 'manager', image: 'openkruise/kruise-manager:v1.7.0' }] },
    },
  },
};

const labels = { app: 'sample' };
const HASH = '7d9c5b8f64';

/** With every default filled in, as its webhook does. */
const defaulted = async (api: Api): Promise<PodTemplateSpec> => {
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx:1.19.4' }] } };
  const proved = await api.create<{ template: PodTemplateSpec }>('/api/v1/namespaces/default/podtemplates?dryRun=All', {
    metadata: { generateName: 'proof-' },
    template,
  });
  return proved.template;
};

const podOn = (node: string, template: PodTemplateSpec, owner: object) => ({
  metadata: {
    generateName: 'sample-ds-',
    namespace: 'default',
    labels: { ...labels, 'controller-revision-hash': HASH, 'pod-template-generation': '1' },
    ownerReferences: [owner],
  },
  spec: {
    ...template.spec,
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
        },
      },
    },
  },
});

/** A cluster on which OpenKruise has been at work: its definition, webhooks, manager and lease, and a DaemonSet with its pods. */
export const leaveOpenKruise = async (cluster: Cluster, nodes: readonly string[]): Promise<void> => {
  const api = await openApi(cluster.kubeconfig);
  try {
    const apply = (object: object): Promise<void> => applyWith(cluster.kubeconfig, object);
    await apply(kruiseDefinition);
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    await apply(manager);
    const sets = '/apis/apps.kruise.io/v1alpha1/namespaces/default/daemonsets';
    await until('its kind is served', () => api.find(sets));
    const template = await defaulted(api);
    const made = await api.create<{ metadata: { uid: string } }>(sets, {
      apiVersion: 'apps.kruise.io/v1alpha1',
      kind: 'DaemonSet',
      metadata: { name: 'sample-ds', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template,
        burstReplicas: 250,
        revisionHistoryLimit: 10,
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { rollingUpdateType: 'Standard', maxUnavailable: 1, maxSurge: 0, partition: 0, paused: false },
        },
      },
    });
    const { uid } = made.metadata;
    const owner = {
      apiVersion: 'apps.kruise.io/v1alpha1',
      kind: 'DaemonSet',
      name: 'sample-ds',
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    await api.create('/apis/apps/v1/namespaces/default/controllerrevisions', {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: `sample-ds-${HASH}`,
        namespace: 'default',
        labels: { ...labels, 'controller-revision-hash': HASH },
        ownerReferences: [owner],
      },
      data: { spec: { template: { ...template, $patch: 'replace' } } },
      revision: 1,
    });
    for (const node of nodes) await api.create('/api/v1/namespaces/default/pods', podOn(node, template, owner));
    await until('its pods are ready', async () => {
      const { items } = await api.get<{ items: Parameters<typeof isReady>[0][] }>('/api/v1/namespaces/default/pods');
      return items.length === nodes.length && items.every(isReady);
    });
    await apply({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'kruise-manager', namespace: NAMESPACE },
      spec: {
        holderIdentity: 'kruise-controller-manager-0',
        leaseDurationSeconds: 15,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    });
    for (const kind of ['Validating', 'Mutating'] as const) await apply(webhookConfiguration(kind));
  } finally {
    await api.close();
  }
};
