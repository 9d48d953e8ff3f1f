import assert from 'node:assert/strict';
import type { AdvancedDaemonSet } from '../../../src/kinds/advanced/index.ts';
import { section } from '../kit/index.ts';

/** What users of OpenKruise write, by name: a part of the metadata, and of the spec. */
const manifests: Readonly<Record<string, { metadata?: string; labels?: string; spec?: string }>> = {
  standard: {
    spec: `
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      rollingUpdateType: Standard`,
  },
  surging: {
    spec: `
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      rollingUpdateType: Surging`,
  },
  selecting: {
    spec: `
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      selector:
        matchLabels:
          nodeType: canary`,
  },
  partitioned: {
    metadata: `
  annotations:
    daemonset.kruise.io/progressive-create-pod: "true"`,
    spec: `
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      partition: 10`,
  },
  paused: {
    spec: `
  updateStrategy:
    rollingUpdate:
      paused: true`,
  },
  downloading: {
    metadata: `
  annotations:
    apps.kruise.io/image-predownload-parallelism: "10"`,
  },
  hooked: {
    labels: `
        example.io/block-deleting: "true"`,
    spec: `
  lifecycle:
    preDelete:
      labelsHandler:
        example.io/block-deleting: "true"`,
  },
  unready: {
    spec: `
  lifecycle:
    preDelete:
      markPodNotReady: true
      finalizersHandler:
      - example.io/unready-blocker`,
  },
};

/** Completed with a selector and a template, as any DaemonSet has them. */
const complete = (version: string, name: string): string => {
  const { metadata = '', labels = '', spec = '' } = manifests[name] ?? {};
  return `apiVersion: apps.kruise.io/${version}
kind: DaemonSet
metadata:
  name: ${name}${metadata}
spec:
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}${labels}
    spec:
      nodeSelector:
        example.io/none: "true"
      containers:
      - name: main
        image: app:v1${spec}
`;
};

export const applying = section(
  'kubectl apply',
  (rule) => {
    for (const version of ['v1alpha1', 'v1beta1'])
      rule(`manifests of OpenKruise users are accepted by kubectl unchanged, and served (${version})`, async (c) => {
        const names = Object.keys(manifests);
        const text = names.map((name) => complete(version, name)).join('---\n');
        const said = await c.kubectl(['apply', '-f', '-'], text);
        assert.deepEqual(
          said.trimEnd().split('\n').toSorted(),
          names.map((name) => `daemonset.apps.kruise.io/${name} created`).toSorted(),
        );
        await c.until('all are served', async () => {
          const path = `/apis/apps.kruise.io/${version}/namespaces/${c.namespace}/daemonsets`;
          const { items } = await c.api.get<{ items: AdvancedDaemonSet[] }>(path);
          return items.every(({ status }) =>
            status?.conditions?.some(({ type, status: on }) => type === 'Ready' && on === 'True'),
          );
        });
        const again = await c.kubectl(['apply', '-f', '-'], text);
        assert.equal(again.match(/ unchanged$/gm)?.length, names.length, again);
      });
  },
  { kind: 'advanced' },
);
