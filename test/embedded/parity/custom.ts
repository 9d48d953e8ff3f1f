import { get, MERGE, post, put, remove } from './requests.ts';
import type { ApiCall } from './servers.ts';

const of = (version: string): string => `/apis/apps.kruise.io/${version}/namespaces/default/daemonsets`;
const NEW = of('v1beta1');
const OLD = of('v1alpha1');
const JSON_PATCH = 'application/json-patch+json';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const NOWHERE = '00000000-0000-0000-0000-000000000000';

const merge = (path: string, body: unknown): ApiCall => ({ method: 'PATCH', path, body, type: MERGE });
const watch = (path: string, lines: number): ApiCall => ({ method: 'GET', path, lines });

const labels = { app: 'x' };

const daemonSet = (name: string, version = 'v1beta1', meta: object = {}, spec: object = {}) => ({
  apiVersion: `apps.kruise.io/${version}`,
  kind: 'DaemonSet',
  metadata: { name, ...meta },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x:1' }] } },
    ...spec,
  },
});

const revision = (name: string, version: string, uid: string) => ({
  metadata: {
    name,
    labels,
    ownerReferences: [{ apiVersion: `apps.kruise.io/${version}`, kind: 'DaemonSet', name: 'a', uid, controller: true }],
  },
  revision: 1,
  data: { spec: {} },
});

/** Once these succeed, both versions are served. */
export const customProbes: readonly ApiCall[] = [
  post(`${OLD}?dryRun=All`, daemonSet('probe', 'v1alpha1')),
  post(`${NEW}?dryRun=All`, daemonSet('probe')),
];

/** Calls for a custom kind with two versions: Advanced DaemonSets, whose CRD both servers have. */
export const customCalls: readonly ApiCall[] = [
  get('/apis/apps.kruise.io'),
  get('/apis/apps.kruise.io/v2/daemonsets'),

  // Both versions create and return the same object.
  post(OLD, daemonSet('a', 'v1alpha1')),
  get(`${NEW}/a`),
  get(`${OLD}/a`),
  post(NEW, daemonSet('a', 'v1beta1')),
  post(NEW, daemonSet('b', 'v1alpha1')),
  post(NEW, daemonSet('b', 'v1beta1', {}, { burstReplicas: 0 })),
  post(`${OLD}?dryRun=All`, daemonSet('b', 'v1alpha1')),
  get(`${OLD}/b`),
  post(NEW, { ...daemonSet('b'), status: { numberReady: 4 } }),
  get(OLD),
  get(NEW),
  get(NEW, TABLE),
  get(`${OLD}/a`, PARTIAL),
  get(`${NEW}?fieldSelector=metadata.name%3Da`),
  get(`${NEW}?fieldSelector=spec.paused%3Dtrue`),

  // Updates in each version.
  merge(`${OLD}/a`, { spec: { minReadySeconds: 3 } }),
  merge(`${NEW}/a`, { metadata: { labels: { by: 'v1beta1' } } }),
  merge(`${NEW}/a`, { metadata: { labels: { by: 'v1beta1' } } }),
  merge(`${OLD}/a`, { status: { numberReady: 5 }, metadata: { annotations: { note: 'x' } } }),
  merge(`${NEW}/a`, { spec: { nothingOfTheKind: 1, template: { metadata: { creationTimestamp: null } } } }),
  merge(`${NEW}/a`, { spec: { selector: { matchLabels: { app: 'other' } } } }),
  merge(`${NEW}/a`, { apiVersion: 'apps.kruise.io/v1alpha1', spec: { minReadySeconds: 4 } }),
  {
    method: 'PATCH',
    path: `${OLD}/a`,
    body: [
      { op: 'test', path: '/apiVersion', value: 'apps.kruise.io/v1alpha1' },
      { op: 'replace', path: '/spec/minReadySeconds', value: 6 },
    ],
    type: JSON_PATCH,
  },
  put(`${NEW}/a`, daemonSet('a')),
  put(`${NEW}/a`, daemonSet('a', 'v1beta1', { resourceVersion: '1' })),
  put(`${NEW}/a`, daemonSet('a', 'v1alpha1', { resourceVersion: '1' })),
  merge(`${NEW}/a`, { metadata: { uid: NOWHERE } }),
  merge(`${NEW}/a`, { metadata: { resourceVersion: '1' } }),

  // The status subresource.
  merge(`${OLD}/a/status`, { status: { numberReady: 2, conditions: [] }, spec: { minReadySeconds: 9 } }),
  merge(`${NEW}/a/status`, {
    status: {
      collisionCount: 1,
      conditions: [{ type: 'A', status: 'True', reason: 'B', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
    metadata: { labels: { by: 'status' } },
  }),
  get(`${OLD}/a/status`),
  merge(`${NEW}/none/status`, { status: {} }),

  // Owner references may name either version.
  post('/apis/apps/v1/namespaces/default/controllerrevisions', revision('r1', 'v1alpha1', NOWHERE)),
  post('/apis/apps/v1/namespaces/default/controllerrevisions', revision('r2', 'v1beta1', NOWHERE)),
  remove('/apis/apps/v1/namespaces/default/controllerrevisions/r1'),
  remove('/apis/apps/v1/namespaces/default/controllerrevisions/r2'),

  // Finalizers and deletion.
  merge(`${NEW}/a`, { metadata: { finalizers: ['edgeset.io/pre-delete'] } }),
  remove(`${OLD}/a?dryRun=All`),
  remove(`${OLD}/a`, { preconditions: { uid: NOWHERE } }),
  remove(`${OLD}/a`),
  get(`${NEW}/a`),
  remove(`${NEW}/a`, { propagationPolicy: 'Foreground' }),
  merge(`${NEW}/a`, { metadata: { finalizers: ['edgeset.io/pre-delete', 'edgeset.io/late'] } }),
  merge(`${NEW}/a`, { spec: { minReadySeconds: 1 } }),
  merge(`${OLD}/a/status`, { status: { numberReady: 0 } }),
  merge(`${OLD}/a`, { metadata: { finalizers: null } }),
  get(`${OLD}/a`),
  remove(`${NEW}/b`, { propagationPolicy: 'Orphan' }),
  get(`${NEW}/b`),
  merge(`${NEW}/b`, { metadata: { finalizers: [] } }),
  post(NEW, daemonSet('c', 'v1beta1', { finalizers: ['foregroundDeletion'] })),
  remove(`${NEW}/c`),
  merge(`${NEW}/c`, { metadata: { finalizers: null } }),
  remove(`${NEW}/c`),

  // Watches return objects in the requested version.
  post(OLD, daemonSet('w', 'v1alpha1')),
  watch(`${NEW}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dw`, 1),
  watch(`${OLD}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dw`, 1),
  post(NEW, daemonSet('gen', 'v1beta1', { labels: { sweep: 'yes' } })),
  remove(`${OLD}?labelSelector=sweep%3Dyes`),
  remove(`${NEW}/w`),
];
