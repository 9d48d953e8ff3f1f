import { customCalls } from './custom.ts';
import { oddCalls } from './odd.ts';
import { podCalls } from './pods.ts';
import { DS, daemonSet, get, MERGE, PODS, patch, post, put, remove, STRATEGIC } from './requests.ts';
import type { ApiCall } from './servers.ts';
import { specCalls } from './specs.ts';
import { templateCalls } from './templates.ts';
import { validationCalls } from './validation.ts';

const CM = '/api/v1/namespaces/default/configmaps';
const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const watch = (path: string, lines: number): ApiCall => ({ method: 'GET', path, lines });

const pod = (name: string, more: Record<string, unknown> = {}, meta: Record<string, unknown> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'x' }, ...meta },
  spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...more },
});

const configMap = (name: string, meta: Record<string, unknown> = {}, data = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  data,
});

const revision = (name: string, number: number, meta: Record<string, unknown> = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name, ...meta },
  revision: number,
  data: { spec: { template: { $patch: 'replace' } } },
});

const NOWHERE = '00000000-0000-0000-0000-000000000000';
const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

/** API calls, sent in this order to both servers; each builds on the earlier ones. */
export const calls: readonly ApiCall[] = [
  get('/api'),
  get('/nope'),
  get('/api/v1/nope'),
  get('/apis/nope.io/v1/things'),
  get('/apis/nope.io'),
  get('/apis/apps/v2/daemonsets'),
  get('/api/v1/namespaces/none'),
  get('/api/v1/namespaces/none/pods'),
  get('/api/v1/namespaces/default/nodes'),

  // Create, and its errors.
  post(DS, daemonSet('a')),
  post(DS, daemonSet('a')),
  post(DS, { metadata: { name: 'web' } }),
  post(DS, { ...daemonSet('b'), kind: 'Pod', apiVersion: 'v1' }),
  post(DS, { ...daemonSet('b'), metadata: { name: 'b', namespace: 'other' } }),
  post(DS, { ...daemonSet('b'), metadata: { name: 'b', resourceVersion: '1' } }),
  post(DS, { ...daemonSet('b'), metadata: {} }),
  post(DS, { ...daemonSet('b'), metadata: { name: 'B_' } }),
  post(`${DS}/a`, daemonSet('a')),
  post(DS, { ...daemonSet('b'), spec: { ...daemonSet('b').spec, updateStrategy: { type: 'Nope' } } }),
  post(DS, { ...daemonSet('b'), spec: { ...daemonSet('b').spec, selector: { matchLabels: { app: 'z' } } } }),
  post(`${DS}?dryRun=All`, daemonSet('dry')),
  get(`${DS}/dry`),
  post(`${DS}?fieldValidation=Strict`, { ...daemonSet('b'), extra: 1 }),
  post('/api/v1/namespaces/none/pods', pod('p')),
  post('/api/v1/nodes', { metadata: { name: 'n1' } }),
  post('/api/v1/nodes', { metadata: { name: 'n2', namespace: 'default' } }),
  post(CM, configMap('c1')),
  post(CM, { metadata: { generateName: 'gen-' } }),
  post(CM, configMap('c2', { labels: { 'bad key': 'x' }, annotations: { 'bad key': 'x' } })),
  post(CM, configMap('c2', { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: '' }] })),
  post(CM, configMap('c2', { finalizers: ['edgeset.io/hold'], labels: { app: 'c' } })),

  // Preconditions and optimistic concurrency.
  put(`${CM}/c1`, configMap('c1', { resourceVersion: '1' })),
  put(`${CM}/c1`, configMap('c1', { uid: NOWHERE })),
  put(`${CM}/c1`, configMap('other')),
  put(`${CM}/none`, configMap('none')),
  put(`${CM}/c1`, configMap('c1', {}, { a: '2' })),
  put(`${CM}/c1`, configMap('c1', {}, { a: '2' })),
  remove(`${CM}/c1`, { preconditions: { uid: NOWHERE } }),
  remove(`${CM}/c1`, { preconditions: { resourceVersion: '1' } }),
  remove(`${CM}/c1`, { propagationPolicy: 'Nope' }),
  patch(MERGE, `${CM}/c1`, { metadata: { resourceVersion: '1' }, data: { a: '3' } }),
  patch(MERGE, `${CM}/c1`, { metadata: { uid: NOWHERE } }),
  patch(MERGE, `${CM}/c1`, { metadata: { name: 'other' } }),
  remove(`${CM}/none`),

  // Patches.
  patch(MERGE, `${DS}/a`, { spec: { minReadySeconds: 3, template: { spec: { nodeSelector: { a: 'b' } } } } }),
  patch(MERGE, `${DS}/a`, { spec: { template: { spec: { nodeSelector: null } } } }),
  patch(MERGE, `${DS}/a`, []),
  patch('application/json', `${DS}/a`, {}),
  patch(MERGE, `${DS}/a`, { status: { numberReady: 5 } }),
  patch(MERGE, `${DS}/a/status`, { status: { numberReady: 5 }, spec: { minReadySeconds: 9 } }),
  patch(MERGE, `${DS}/a/status`, { metadata: { annotations: { by: 'status' } } }),
  patch(MERGE, `${DS}/a/nope`, {}),
  patch(STRATEGIC, `${DS}/a`, {
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: 'c',
              env: [
                { name: 'A', value: '1' },
                { name: 'B', value: '2' },
              ],
            },
            { name: 'd', image: 'nginx:2' },
          ],
          $setElementOrder: undefined,
        },
      },
    },
  }),
  patch(STRATEGIC, `${DS}/a`, {
    spec: {
      template: {
        spec: {
          '$setElementOrder/containers': [{ name: 'd' }, { name: 'c' }],
          containers: [{ name: 'c', env: [{ $patch: 'delete', name: 'A' }], ports: [{ containerPort: 80 }] }],
        },
      },
    },
  }),
  patch(STRATEGIC, `${DS}/a`, {
    spec: {
      template: { spec: { containers: [{ name: 'c', env: [{ $patch: 'replace' }, { name: 'Z', value: 'z' }] }] } },
    },
  }),
  patch(STRATEGIC, `${DS}/a`, {
    metadata: { finalizers: ['edgeset.io/one', 'edgeset.io/two'], labels: { $patch: 'replace', only: 'this' } },
  }),
  patch(STRATEGIC, `${DS}/a`, {
    metadata: { '$deleteFromPrimitiveList/finalizers': ['edgeset.io/one', 'edgeset.io/two'] },
  }),
  patch(STRATEGIC, `${DS}/a`, { spec: { template: { spec: { containers: [{ image: 'x' }] } } } }),
  patch(STRATEGIC, `${DS}/a`, { spec: { template: { spec: { $patch: 'nope' } } } }),
  patch(STRATEGIC, `${DS}/a`, { spec: { template: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } } } }),
  patch(STRATEGIC, `${DS}/a`, { spec: { template: { spec: { tolerations: [{ key: 'b', operator: 'Exists' }] } } } }),
  patch(STRATEGIC, `${DS}/a`, {
    spec: {
      template: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      updateStrategy: { $retainKeys: ['type'], type: 'OnDelete' },
    },
  }),
  patch(STRATEGIC, `${DS}/a`, {
    spec: {
      template: { spec: { volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] } },
    },
  }),
  patch(JSON_PATCH, `${DS}/a`, [
    { op: 'test', path: '/spec/minReadySeconds', value: 3 },
    { op: 'copy', from: '/metadata/name', path: '/metadata/annotations/copied' },
    { op: 'move', from: '/metadata/annotations/copied', path: '/metadata/annotations/a~1b' },
    { op: 'add', path: '/spec/template/spec/containers/0/args', value: ['x', 'y'] },
    { op: 'add', path: '/spec/template/spec/containers/0/args/1', value: 'between' },
    { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: 'last' },
    { op: 'remove', path: '/spec/template/spec/containers/0/args/0' },
  ]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'test', path: '/spec/minReadySeconds', value: 4 }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'nope', path: '/x' }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'remove', path: '/spec/none' }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'add', path: '/spec/none/deep', value: 1 }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'add', path: '/spec/template/spec/containers/9', value: {} }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'replace', path: '/spec/template/spec/containers/9', value: {} }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'copy', from: '/metadata/none', path: '/metadata/annotations/copied' }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'copy', from: '/metadata/annotations/none', path: '/spec/minReadySeconds' }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'copy', from: '/none/deep', path: '/metadata/annotations/copied' }]),
  patch(JSON_PATCH, `${DS}/a`, [
    { op: 'copy', from: '/spec/template/spec/containers/9', path: '/metadata/annotations/copied' },
  ]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'copy', from: '/metadata/name', path: '/none/deep' }]),
  patch(JSON_PATCH, `${DS}/a`, [{ op: 'move', from: '/metadata/none', path: '/metadata/annotations/moved' }]),
  ...['', 'spec', 'x/metadata/labels'].flatMap((path) => [
    patch(JSON_PATCH, `${DS}/a?dryRun=All`, [{ op: 'add', path, value: {} }]),
    patch(JSON_PATCH, `${DS}/a?dryRun=All`, [{ op: 'remove', path }]),
    patch(JSON_PATCH, `${DS}/a?dryRun=All`, [{ op: 'copy', from: path, path: '/metadata/annotations/whole' }]),
  ]),
  ...['-1', '-2', '-4', '+1', '01', '1.0'].flatMap((index) => {
    const path = `/spec/template/spec/containers/0/args/${index}`;
    return [
      patch(JSON_PATCH, `${DS}/a?dryRun=All`, [{ op: 'add', path, value: 'added' }]),
      patch(JSON_PATCH, `${DS}/a?dryRun=All`, [{ op: 'replace', path, value: 'replaced' }]),
      patch(JSON_PATCH, `${DS}/a?dryRun=All`, [{ op: 'remove', path }]),
    ];
  }),
  patch(JSON_PATCH, `${DS}/a`, {}),
  patch(JSON_PATCH, `${DS}/none`, []),
  patch(MERGE, `${DS}/a`, { spec: { selector: { matchLabels: { app: 'z' } } } }),
  patch(APPLY, `${DS}/a?fieldManager=m1`, { ...daemonSet('a'), spec: { minReadySeconds: 7 } }),
  patch(APPLY, `${DS}/a?fieldManager=m2&force=true`, { ...daemonSet('a'), spec: { minReadySeconds: 8 } }),
  patch(APPLY, `${DS}/a?fieldManager=m2`, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'a', labels: { m: '2' } },
  }),
  patch(APPLY, `${DS}/a?fieldManager=m2`, { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'a' } }),
  patch(APPLY, `${DS}/a`, daemonSet('a')),
  patch(APPLY, `${CM}/applied?fieldManager=m1`, configMap('applied', {}, { a: '1' })),
  patch(APPLY, `${CM}/applied?fieldManager=m1`, { ...configMap('applied'), data: { b: '2' } }),

  // Revisions, leases.
  post(REVISIONS, revision('a-1', 1, { labels: { app: 'a' } })),
  patch(MERGE, `${REVISIONS}/a-1`, { revision: 5 }),
  patch(MERGE, `${REVISIONS}/a-1`, { data: { other: 1 } }),
  post(REVISIONS, { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'a-2' }, revision: 2 }),
  post(LEASES, {
    metadata: { name: 'l' },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.123456Z' },
  }),
  put(`${LEASES}/l`, { metadata: { name: 'l' }, spec: { holderIdentity: 'y' } }),

  // Pods.
  post(PODS, pod('p1', { nodeName: 'n1' })),
  post(PODS, pod('p2')),
  post(PODS, pod('p3', { serviceAccountName: 'nobody' })),
  post(PODS, pod('p3', { priorityClassName: 'nope' })),
  post(PODS, pod('p3', { priorityClassName: 'system-node-critical' })),
  post(
    PODS,
    pod('p4', {
      containers: [
        { name: 'c', image: 'x' },
        { name: 'c', image: '' },
      ],
    }),
  ),
  post(PODS, pod('p4', { restartPolicy: 'Nope', volumes: [{ name: 'v' }] })),
  post(PODS, pod('p4', { hostNetwork: true, containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 9 }] }] })),
  post(`${PODS}/p2/binding`, { metadata: { name: 'p2' }, target: { apiVersion: 'v1', kind: 'Node', name: 'n1' } }),
  get(`${PODS}/p2`),
  post(`${PODS}/p2/binding`, { metadata: { name: 'p2' }, target: { apiVersion: 'v1', kind: 'Node', name: 'n1' } }),
  patch(STRATEGIC, `${PODS}/p1/status`, {
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Custom', status: 'False' },
      ],
    },
  }),
  patch(STRATEGIC, `${PODS}/p1/status`, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
  patch(STRATEGIC, `${PODS}/p1/status`, {
    status: { conditions: [{ type: 'PodNeedUpgrade', status: 'True', reason: 'NewRevision', message: 'of b' }] },
  }),
  patch(STRATEGIC, `${PODS}/p1/status`, {
    status: { conditions: [{ type: 'PodNeedUpgrade', status: 'True', reason: 'Halted', message: 'of b' }] },
  }),
  patch(STRATEGIC, `${PODS}/p1/status`, {
    metadata: { uid: NOWHERE },
    status: { conditions: [{ type: 'PodNeedUpgrade', status: 'False' }] },
  }),
  patch(STRATEGIC, `${PODS}/p1/status`, {
    status: { conditions: [{ type: 'PodNeedUpgrade', $patch: 'delete' }] },
  }),
  patch(STRATEGIC, `${PODS}/p1/status`, {
    status: { conditions: [{ type: 'PodNeedUpgrade', $patch: 'delete' }] },
  }),
  patch(STRATEGIC, `${PODS}/p1`, { spec: { containers: [{ name: 'c', image: 'nginx:2' }] } }),
  patch(STRATEGIC, `${PODS}/p1`, { spec: { nodeName: 'n2' } }),
  patch(STRATEGIC, `${PODS}/p1`, { spec: { containers: [{ name: 'new', image: 'x' }] } }),
  patch(STRATEGIC, `${PODS}/p1/resize`, {
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
  }),

  // Deletion.
  remove(`${PODS}/p1`),
  get(`${PODS}/p1`),
  remove(`${PODS}/p1`),
  remove(`${PODS}/p1`, { gracePeriodSeconds: 10 }),
  remove(`${PODS}/p1`, { gracePeriodSeconds: 20 }),
  patch(MERGE, `${PODS}/p1`, { metadata: { finalizers: ['edgeset.io/late'] } }),
  remove(`${PODS}/p1`, { gracePeriodSeconds: 0 }),
  get(`${PODS}/p1`),
  post(`${PODS}/p2/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p2' } }),
  get(`${PODS}/p2`),
  remove(`${PODS}/p3`),
  remove(`${CM}/c2`),
  get(`${CM}/c2`),
  remove(`${CM}/c2`),
  patch(MERGE, `${CM}/c2`, { metadata: { finalizers: [] } }),
  get(`${CM}/c2`),
  post(DS, daemonSet('fg')),
  remove(`${DS}/fg`, { propagationPolicy: 'Foreground' }),
  patch(MERGE, `${DS}/fg`, { metadata: { finalizers: null } }),
  post(DS, daemonSet('or')),
  remove(`${DS}/or`, { propagationPolicy: 'Orphan' }),
  remove(`${DS}/or`, { propagationPolicy: 'Background' }),
  remove(`${DS}/a?dryRun=All`),
  remove(`${DS}/a`),
  remove(`${CM}?labelSelector=app%3Dnothing`),
  remove('/api/v1/nodes/n1'),
  remove('/api/v1/namespaces'),

  // Lists and watches.
  ...['w1', 'w2', 'w3', 'w4'].map((name, index) => post(CM, configMap(name, { labels: { w: 'x', n: String(index) } }))),
  get(`${CM}?labelSelector=w%3Dx`),
  get(`${CM}?labelSelector=w%3Dx`, TABLE),
  get(`${CM}/w1`, TABLE),
  get(`${CM}/w1`, PARTIAL),
  get(`${CM}?labelSelector=w%3Dx`, PARTIAL_LIST),
  get(`${CM}?labelSelector=w%3Dx`, 'text/html'),
  get(`${CM}?labelSelector=n%20in%20(0,1)`),
  get(`${CM}?labelSelector=w,n%20notin%20(0,1)`),
  get(`${CM}?labelSelector=a%20b`),
  get(`${CM}?fieldSelector=metadata.name%3Dw1`),
  get(`${CM}?fieldSelector=nope%3Dw1`),
  get(`${CM}?labelSelector=w%3Dx&limit=2`),
  get(`${CM}?resourceVersion=abc`),
  get(`${CM}?resourceVersionMatch=Exact`),
  get(`${CM}?resourceVersionMatch=Exact&resourceVersion=0`),
  get(`${CM}?resourceVersionMatch=Nope&resourceVersion=1`),
  get(`${CM}?sendInitialEvents=true`),
  get(`${CM}?watch=1&sendInitialEvents=true`),
  get(`${CM}?watch=1&resourceVersionMatch=NotOlderThan`),
  watch(`${CM}?watch=1&labelSelector=w%3Dx&resourceVersion=0&fieldSelector=metadata.name%3Dw1`, 1),
  watch(
    `${CM}?watch=1&labelSelector=w%3Dx&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dw2`,
    2,
  ),
  watch(`${CM}?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone`, 1),
  ...['timeoutSeconds=1', 'timeoutSeconds=1&allowWatchBookmarks=true'].map((query) =>
    get(`${CM}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone&${query}`),
  ),
  {
    ...get(
      `${CM}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone&timeoutSeconds=4&allowWatchBookmarks=true`,
    ),
    // Due two seconds before the end of the watch, and lost with it if the server is as late as that.
    until: 'BOOKMARK',
  },
  get(`${CM}/w3?watch=1&resourceVersion=0`),
  watch('/api/v1/namespaces?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Ddefault', 1),

  ...validationCalls,
  ...specCalls,
  ...oddCalls,
  ...templateCalls,
  ...podCalls,
  ...customCalls,
];
