import type { Pod } from 'kubernetes-types/core/v1.d.ts';

const at = '2026-01-01T00:00:00Z';

/** A DaemonSet's pod as a real API server sends it: about 5 KiB of JSON, a third of it managed fields. */
export const realisticPod = (index: number, version: number, ready: boolean): Pod => {
  const hex = index.toString(16).padStart(12, '0');
  const volume = 'kube-api-access-x7k2p';
  const condition = (type: string) => ({
    type,
    status: ready ? 'True' : 'False',
    lastProbeTime: null as unknown as string,
    lastTransitionTime: at,
  });
  const probe = { httpGet: { path: '/ready', port: 8080, scheme: 'HTTP' }, timeoutSeconds: 1, periodSeconds: 10 };
  const tolerations = ['not-ready', 'unreachable', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'];
  const field = Object.fromEntries(
    ['image', 'imagePullPolicy', 'name', 'readinessProbe', 'resources', 'terminationMessagePath', 'volumeMounts'].map(
      (name) => [`f:${name}`, { '.': {}, 'f:path': {}, 'f:port': {}, 'f:scheme': {} }],
    ),
  );
  const managed = (manager: string, subresource: string | undefined) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: at,
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': { 'f:generateName': {}, 'f:labels': { '.': {}, 'f:app': {}, 'f:controller-revision-hash': {} } },
      'f:spec': { 'f:containers': { 'k:{"name":"app"}': field }, 'f:tolerations': {} },
      'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {}, 'f:lastTransitionTime': {} } } },
    },
    ...(subresource === undefined ? {} : { subresource }),
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `app-${hex}`,
      generateName: 'app-',
      namespace: 'edge',
      uid: `5f0c1d7e-0000-4000-8000-${hex}`,
      resourceVersion: String(version),
      creationTimestamp: at,
      labels: { app: 'app', 'controller-revision-hash': '6c8f7d9b5', 'pod-template-generation': '1' },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          name: 'app',
          uid: 'd2f1a1aa-7a6b-4f63-9c54-3d9f9d3a1b11',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [managed('kube-controller-manager', undefined), managed('kubelet', 'status')] as never,
    },
    spec: {
      nodeName: `edge-${hex}`,
      serviceAccountName: 'default',
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      schedulerName: 'default-scheduler',
      priority: 0,
      enableServiceLinks: true,
      containers: [
        {
          name: 'app',
          image: 'images.example/edge/app:v1.17.4',
          imagePullPolicy: 'IfNotPresent',
          args: ['--config=/etc/app/config.yaml', '--log-level=info'],
          env: [
            { name: 'NODE_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
            { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
          ],
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          resources: { limits: { memory: '128Mi' }, requests: { cpu: '50m', memory: '64Mi' } },
          readinessProbe: probe,
          livenessProbe: probe,
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          volumeMounts: [
            { name: volume, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
            { name: 'config', mountPath: '/etc/app' },
          ],
        },
      ],
      volumes: [
        { name: 'config', configMap: { name: 'app', defaultMode: 420 } },
        {
          name: volume,
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            ],
          },
        },
      ],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [`edge-${hex}`] }] }],
          },
        },
      },
      tolerations: tolerations.map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: key.endsWith('y') ? 'NoExecute' : 'NoSchedule',
      })),
    },
    status: {
      phase: 'Running',
      hostIP: '10.0.0.7',
      podIP: '10.128.3.9',
      podIPs: [{ ip: '10.128.3.9' }],
      startTime: at,
      qosClass: 'Burstable',
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
        condition,
      ),
      containerStatuses: [
        {
          name: 'app',
          image: 'images.example/edge/app:v1.17.4',
          imageID: `images.example/edge/app@sha256:${'6c'.repeat(32)}`,
          containerID: `containerd://${'a7'.repeat(32)}`,
          lastState: {},
          ready,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: at } },
        },
      ],
    },
  };
};
