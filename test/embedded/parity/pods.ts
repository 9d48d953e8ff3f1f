import { MERGE, PODS, STRATEGIC } from './requests.ts';
import type { ApiCall } from './servers.ts';

const JSON_PATCH = 'application/json-patch+json';
const NOWHERE = '00000000-0000-0000-0000-000000000000';

const amounts = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { memory } });

const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: {
    // Without a kubelet and a scheduler.
    nodeName: 'unmanaged',
    containers: [
      { name: 'c', image: 'main:1', resources: amounts('100m', '64Mi') },
      { name: 'd', image: 'other:1' },
    ],
    initContainers: [
      { name: 'once', image: 'once:1' },
      { name: 'beside', image: 'beside:1', restartPolicy: 'Always', resources: amounts('10m', '16Mi') },
    ],
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
    readinessGates: [{ conditionType: 'InPlaceUpdateReady' }],
    ...spec,
  },
});

const get = (path: string): ApiCall => ({ method: 'GET', path: `${PODS}/${path}` });
const post = (body: object): ApiCall => ({ method: 'POST', path: PODS, body });
const patch = (type: string, path: string, body: unknown): ApiCall => ({
  method: 'PATCH',
  path: `${PODS}/${path}`,
  body,
  type,
});
const change = (spec: object, metadata?: object): ApiCall =>
  patch(STRATEGIC, 'u1', { spec, ...(metadata && { metadata }) });
const status = (body: unknown, type = STRATEGIC, name = 'u1'): ApiCall =>
  patch(type, `${name}/status`, { status: body });
const resize = (spec: object, metadata?: object, name = 'u1'): ApiCall =>
  patch(STRATEGIC, `${name}/resize`, { spec, ...(metadata && { metadata }) });
const ofC = (resources: object): object => ({ containers: [{ name: 'c', resources }] });

const running = (name: string, more: object = {}) => ({
  name,
  image: `${name}:1`,
  imageID: `sha256:${name}`,
  containerID: `containerd://${name}`,
  ready: true,
  started: true,
  restartCount: 0,
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  ...more,
});

/** What an update in place sends, for a pod that has these. */
const bound = ({
  revision = 'x',
  message = 'closed on version 7',
  container = 'containerd://c',
  fence = null as string | null,
  uid = '',
}): ApiCall =>
  patch(JSON_PATCH, 'u1', [
    ...(uid === '' ? [] : [{ op: 'test', path: '/metadata/uid', value: uid }]),
    { op: 'test', path: '/metadata/deletionTimestamp', value: null },
    { op: 'test', path: '/metadata/labels/controller-revision-hash', value: revision },
    { op: 'test', path: '/metadata/annotations/edgeset.io~1fence', value: fence },
    { op: 'test', path: '/status/conditions/0/type', value: 'InPlaceUpdateReady' },
    { op: 'test', path: '/status/conditions/0/status', value: 'False' },
    { op: 'test', path: '/status/conditions/0/message', value: message },
    { op: 'test', path: '/spec/containers/0/name', value: 'c' },
    { op: 'test', path: '/status/containerStatuses/0/containerID', value: container },
    { op: 'replace', path: '/spec/containers/0/image', value: 'main:9' },
    { op: 'add', path: '/metadata/labels/controller-revision-hash', value: 'z' },
    { op: 'add', path: '/metadata/annotations/gone', value: '' },
    { op: 'remove', path: '/metadata/annotations/gone' },
  ]);

/** Updates of a running pod. */
export const podCalls: readonly ApiCall[] = [
  post(pod('u1')),
  post(pod('u2', { hostNetwork: true, containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 8 }] }] })),
  post(pod('u3', { containers: [{ name: 'c', image: ' x' }] })),
  post(pod('u3', { containers: [{ name: 'c', image: 'x', resources: { limits: { cpu: '1', memory: '1Gi' } } }] })),
  post(pod('u4', { containers: [{ name: 'c', image: 'x' }], initContainers: [], restartPolicy: 'OnFailure' })),
  post(
    pod('u5', {
      initContainers: [],
      containers: [{ name: 'c', image: 'x', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
    }),
  ),

  post(pod('u6', { containers: [{ name: 'c', image: 'x', resources: { limits: { cpu: 'nope' } } }] })),

  // The spec.
  change({ containers: [{ name: 'c', image: 'main:2' }] }),
  change({ initContainers: [{ name: 'beside', image: 'beside:2' }] }),
  change({ initContainers: [{ name: 'once', image: 'once:2' }] }),
  change(
    { containers: [{ name: 'd', image: 'other:2' }], initContainers: [{ name: 'beside', image: 'beside:3' }] },
    { labels: { 'controller-revision-hash': 'x', app: null }, annotations: { state: '{"a":"<b>"}' } },
  ),
  change({ containers: [{ name: 'c', image: '' }] }),
  change({ containers: [{ name: 'c', image: ' main:3' }] }),
  change({ containers: [{ name: 'c', image: 'main:3', imagePullPolicy: 'Always' }] }),
  change({ containers: [{ name: 'c', env: [{ name: 'A', value: 'b' }] }] }),
  change({ containers: [{ name: 'c', resources: amounts('200m', '64Mi') }] }),
  change({ containers: [{ name: 'new', image: 'x' }] }),
  change({ initContainers: [{ name: 'new', image: 'x' }] }),
  change({ containers: [{ name: 'c', image: 'main:3' }] }, { resourceVersion: '1' }),
  change({ containers: [{ name: 'c', image: 'main:3' }] }, { uid: NOWHERE }),
  change({ readinessGates: [{ conditionType: 'Other' }] }),
  change({ nodeName: 'other' }),
  change({ schedulingGates: [{ name: 'example.com/g' }] }),
  change({ terminationGracePeriodSeconds: 5 }),
  change({ nodeSelector: { a: 'b' } }),
  patch(MERGE, 'u1', { spec: { tolerations: [] } }),
  patch(JSON_PATCH, 'u1', [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'b', operator: 'Exists' } }]),
  patch(JSON_PATCH, 'u1', [{ op: 'add', path: '/spec/tolerations/0/tolerationSeconds', value: 4 }]),
  patch(JSON_PATCH, 'u1', [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'c', operator: 'Nope' } }]),
  change({ activeDeadlineSeconds: -1 }),
  change({ activeDeadlineSeconds: 100 }),
  change({ activeDeadlineSeconds: 50 }),
  change({ activeDeadlineSeconds: 60 }),
  patch(MERGE, 'u1', { spec: { activeDeadlineSeconds: null } }),
  patch(MERGE, 'u1', { metadata: { ownerReferences: [{ apiVersion: 'x/v1', kind: 'Y', name: 'y', uid: NOWHERE }] } }),

  // The status, by part.
  status({ conditions: [{ type: 'InPlaceUpdateReady', status: 'False', reason: 'Start' }] }),
  status({ conditions: [{ type: 'InPlaceUpdateReady', status: 'True' }] }),
  status({ conditions: [{ type: 'InPlaceUpdateReady', $patch: 'delete' }] }),
  status({ conditions: [{ type: 'Ready', status: 'True' }] }, MERGE),
  status({
    conditions: [
      { type: 'not a type', status: 'True' },
      { type: 'A', status: 'Maybe' },
    ],
  }),
  status({ phase: 'Running', containerStatuses: [running('c'), running('d')] }),
  status({ containerStatuses: [{ name: 'c', ready: false }] }),
  status({ containerStatuses: [running('c', { resources: amounts('100m', '64Mi') }), running('d')] }),
  status({ initContainerStatuses: [running('beside')] }),

  // Bound to what the pod is, in place of its version.
  change({}, { labels: { 'controller-revision-hash': 'x' }, annotations: { state: '1', gone: 'soon' } }),
  status({ conditions: [{ type: 'InPlaceUpdateReady', status: 'False', message: 'closed on version 7' }] }),
  bound({ revision: 'y' }),
  bound({ message: 'closed on version 8' }),
  bound({ container: 'containerd://other' }),
  bound({ fence: 'm1/1' }),
  bound({ uid: NOWHERE }),
  bound({}),
  bound({}),
  patch(JSON_PATCH, 'u1', [{ op: 'test', path: '/metadata/annotations/state', value: null }]),
  patch(JSON_PATCH, 'u1', [{ op: 'test', path: '/metadata/none/deep', value: null }]),
  patch(JSON_PATCH, 'u1', [{ op: 'test', path: '/status/conditions/99/type', value: 'Ready' }]),
  status({ qosClass: 'Guaranteed' }),
  status({ qosClass: null }, MERGE),
  status({ podIPs: [{ ip: '10.0.0.1' }], podIP: '10.0.0.1', hostIP: '10.1.0.1' }),
  status({ observedGeneration: 3 }),
  patch(STRATEGIC, 'u1/status', { metadata: { uid: NOWHERE }, status: { phase: 'Running' } }),
  patch(STRATEGIC, 'u1/status', { metadata: { resourceVersion: '1' }, status: { phase: 'Running' } }),
  patch(STRATEGIC, 'u1/status', {
    metadata: { labels: { by: 'status' }, annotations: { by: 'status' }, finalizers: ['example.com/f'] },
    spec: { containers: [{ name: 'c', image: 'by:status' }] },
  }),
  patch(STRATEGIC, 'u1/status', { metadata: { $patch: 'merge', labels: { x: 'y' } } }),
  get('u1/status'),

  // Resources.
  resize(ofC({ requests: { cpu: '200m' } })),
  resize(ofC({ requests: { cpu: '250m', memory: '80Mi' }, limits: { memory: '80Mi' } })),
  get('u1/resize'),
  resize({ containers: [{ name: 'd', resources: { requests: { cpu: '10m' } } }] }),
  resize({ initContainers: [{ name: 'beside', resources: amounts('20m', '32Mi') }] }),
  resize({ initContainers: [{ name: 'once', resources: amounts('20m', '32Mi') }] }),
  resize(ofC({ requests: { cpu: null } })),
  resize(ofC({ limits: null })),
  resize(ofC({ requests: { cpu: '1' }, limits: { cpu: '500m' } })),
  resize(ofC({ requests: { 'ephemeral-storage': '1Gi' } })),
  resize({ containers: [{ name: 'new', image: 'x', resources: {} }] }),
  resize({ containers: [{ name: 'c', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }] }),
  // Changes other than resources are ignored. Dry runs, because the real server records who requested the resize.
  ...[
    { spec: { containers: [{ name: 'c', image: 'by:resize', env: [{ name: 'A', value: 'b' }] }] } },
    { spec: { nodeSelector: { a: 'b' } }, metadata: { labels: { by: 'resize' }, annotations: { by: 'resize' } } },
  ].map((body) => patch(STRATEGIC, 'u1/resize?dryRun=All', body)),
  resize(ofC({ requests: { cpu: '300m' } }), { resourceVersion: '1' }),
  resize(ofC({ requests: { cpu: '300m' } }), { uid: NOWHERE }),
  resize(ofC({ limits: { cpu: '2' } }), undefined, 'u5'),
  resize(ofC({ requests: { cpu: '2' }, limits: { cpu: '2' } }), undefined, 'u5'),
  resize(ofC({ requests: { cpu: '1' } }), undefined, 'u4'),
  resize(ofC({ requests: { cpu: '1' } }), undefined, 'none'),
  patch(MERGE, 'u1/resize', { spec: { containers: [] } }),
  patch(MERGE, 'u1', { spec: { containers: null } }),

  // Without resources in the status, resize isn't supported.
  status({ containerStatuses: [running('c'), running('d')] }),
  resize(ofC({ requests: { cpu: '300m' } })),
  status({ containerStatuses: [running('c', { resources: {} }), running('d')] }),
  resize(ofC({ requests: { cpu: '300m' } })),

  // Finished and terminating pods.
  status(
    { phase: 'Running', containerStatuses: [running('c', { state: { terminated: { exitCode: 0 } } })] },
    STRATEGIC,
    'u4',
  ),
  status({ containerStatuses: [running('c')] }, STRATEGIC, 'u4'),
  status({ phase: 'Succeeded' }, STRATEGIC, 'u4'),
  patch(STRATEGIC, 'u4', { spec: { containers: [{ name: 'c', image: 'x:2' }] } }),
  { method: 'DELETE', path: `${PODS}/u4` },
  { method: 'DELETE', path: `${PODS}/u1` },
  change({ containers: [{ name: 'c', image: 'main:9' }] }),
  resize(ofC({ requests: { cpu: '400m' } })),
  change({}, { finalizers: ['example.com/late'] }),
  ...['u1', 'u2', 'u5'].map((name) => ({
    method: 'DELETE',
    path: `${PODS}/${name}`,
    body: { gracePeriodSeconds: 0 },
  })),
];
