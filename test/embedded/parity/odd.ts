import { DS, daemonSet, get, MERGE, patch, post, put, remove } from './requests.ts';
import type { ApiCall } from './servers.ts';

// Requests that are unusual, large or wrong in their form.

const CM = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const APPLY = 'application/apply-patch+yaml';
const MIB = 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

const configMap = (name: string, more: Fields = {}, meta: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  data: { a: '1' },
  ...more,
});

/** A DaemonSet with one argument of this length. */
const large = (name: string, bytes: number) =>
  daemonSet(name, {
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'nginx:1', args: ['x'.repeat(bytes)] }] },
    },
  });

/** Only the code and the message of what would be long. */
const owner = (name: string, more: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: `00000000-0000-0000-0000-00000000000${name.length}`,
  ...more,
});

const apply = (path: string, body: unknown): ApiCall => patch(APPLY, path, body);
const raw = (method: string, path: string, body: string, type = 'application/json'): ApiCall => ({
  method,
  path,
  body,
  type,
});

const unknown = { ...daemonSet('o1'), spec: { ...daemonSet('o1').spec, nope: 1, minReadySecond: 2 }, extra: {} };

const sizes: readonly ApiCall[] = [
  post(CM, configMap('big', { data: { a: 'x'.repeat(MIB) } })),
  post(CM, configMap('big', { data: {}, binaryData: { a: Buffer.alloc(MIB + 1).toString('base64') } })),
  post(SECRETS, { metadata: { name: 'big' }, data: { a: Buffer.alloc(MIB + 1).toString('base64') } }),
  post(CM, configMap('big', {}, { annotations: { a: 'x'.repeat(256 * 1024) } })),
  post(DS, large('big', 1.6 * MIB)),
  post(DS, large('big', 3.1 * MIB)),
  put(`${DS}/none`, large('none', 3.1 * MIB)),
  patch(MERGE, `${DS}/none`, large('none', 3.1 * MIB)),
  post(REVISIONS, { metadata: { name: 'big' }, revision: 1, data: { a: 'x'.repeat(1.6 * MIB) } }),
];

const names: readonly ApiCall[] = [
  post(CM, configMap('o1', {}, { labels: { a: 'ä' }, annotations: { a: 'ä\u{1F600}', 'b/c/d': 'x' } })),
  ...[{ a: 'x'.repeat(64) }, { [`${'x'.repeat(254)}/b`]: 'c' }, { ['x'.repeat(64)]: 'd' }].map((labels) =>
    post(CM, configMap('o1', {}, { labels })),
  ),
  post(
    CM,
    configMap('o1', {}, { annotations: { a: 'ä\u{1F600}\n\t"\\', b: '' }, labels: { 'ex.com/a_b.c': 'A.b_c-d' } }),
  ),
  post(CM, configMap('x'.repeat(254))),
  post(CM, configMap('', {}, { generateName: 'gen-A_' })),
  post(CM, configMap('', {}, { generateName: 'gen-', name: 'o2' })),
  post(DS, daemonSet('x'.repeat(63))),
  post(DS, { ...daemonSet('x'), metadata: { name: 'x.y' } }),
  post(CM, configMap('o3', {}, { finalizers: ['unqualified', 'kubernetes', 'foregroundDeletion', 'a b/c'] })),
  post(
    CM,
    configMap('o3', {}, { ownerReferences: [owner('a', { controller: true }), owner('bb', { controller: true })] }),
  ),
  post(CM, configMap('o3', {}, { ownerReferences: [owner('a'), owner('a')] })),
  post(CM, configMap('o4', {}, { ownerReferences: [owner('a', { apiVersion: 'a/b/c' }), owner('', { kind: '' })] })),
  post(CM, configMap('o4', {}, { ownerReferences: [owner('a', { apiVersion: 'v1', kind: 'Event' })] })),
  ...['a b', '..', ''].map((key) => post(CM, configMap('o4', { data: { [key]: '1' } }))),
  post(CM, configMap('o4', { data: { a: '1' }, binaryData: { a: 'eA==' } })),
  post(CM, configMap('o4', { binaryData: { b: '!' } })),
  post(CM, configMap('o4', { data: { a: 1 } })),
  post(CM, configMap('o4', { data: { a: null } }, { labels: null, annotations: { b: null } })),
];

const options: readonly ApiCall[] = [
  post(`${CM}?dryRun=Nope`, configMap('o5')),
  post(`${CM}?dryRun=`, configMap('o5')),
  remove(`${CM}/o5?dryRun=Nope`),
  put(`${CM}/o5?dryRun=Nope`, configMap('o5')),
  patch(MERGE, `${CM}/o5?dryRun=Nope`, {}),
  post(`${CM}?fieldManager=${'x'.repeat(129)}`, configMap('o6')),
  post(`${CM}?fieldValidation=Nope`, configMap('o6')),
  put(`${CM}/o5?fieldValidation=Nope`, configMap('o5')),
  patch(MERGE, `${CM}/o5?fieldValidation=Nope`, {}),
  // Strict refuses these with the whole object, in Go's order of fields.
  ...['Warn', 'Ignore'].flatMap((mode) => [
    patch(MERGE, `${DS}/good?dryRun=All&fieldValidation=${mode}`, { spec: { nope: 1 } }),
    patch('application/json-patch+json', `${DS}/good?dryRun=All&fieldValidation=${mode}`, [
      { op: 'add', path: '/spec/nope', value: 1 },
    ]),
  ]),
  ...['Strict', 'Warn', 'Ignore'].flatMap((mode) => [
    post(`${DS}?dryRun=All&fieldValidation=${mode}`, unknown),
    put(`${DS}/good?dryRun=All&fieldValidation=${mode}`, { ...unknown, metadata: { name: 'good' } }),
    patch('application/strategic-merge-patch+json', `${DS}/good?dryRun=All&fieldValidation=${mode}`, {
      spec: { nope: 1 },
    }),
    apply(`${DS}/o1?dryRun=All&fieldManager=m&fieldValidation=${mode}`, { ...daemonSet('o1'), extra: 1 }),
  ]),
];

const versions: readonly ApiCall[] = [
  get(`${CM}/o5?resourceVersion=99999999`),
  get(`${CM}?resourceVersion=-1`),
  get(`${CM}/o5?resourceVersion=abc`),
  get(`${CM}?limit=abc`),
  get(`${CM}?timeoutSeconds=abc`),
  get(`${CM}?watch=abc&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone`),
  get(`${CM}?watch=1&resourceVersion=abc`),
  put(`${CM}/o5`, configMap('o5', {}, { resourceVersion: 'abc' })),
  put(`${CM}/o5`, configMap('o5', {}, { resourceVersion: 'abc', uid: 'x' })),
  patch(MERGE, `${CM}/o5`, { metadata: { resourceVersion: 'abc' } }),
  patch(MERGE, `${CM}/o5`, { metadata: { uid: 'x' } }),
  patch(MERGE, `${CM}/o5`, { metadata: { name: 'other' } }),
  patch(MERGE, `${CM}/o5`, {
    metadata: { creationTimestamp: null, generation: 7, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }),
];

const bodies: readonly ApiCall[] = [
  raw('POST', CM, '{}'),
  raw('POST', CM, '{"metadata":[]}'),
  raw('POST', CM, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o8}\n', 'application/yaml'),
  raw('POST', CM, '{}', 'text/plain'),
  raw('POST', DS, JSON.stringify({ ...daemonSet('o8'), apiVersion: 'apps/v1beta1' })),
  raw('POST', DS, JSON.stringify({ ...daemonSet('o8'), kind: 'Nope' })),
  raw('PATCH', `${CM}/o5`, '{}', 'text/plain'),
  remove(`${CM}/o1`, { gracePeriodSeconds: -1 }),
  remove(`${CM}/o2`, { propagationPolicy: 'Orphan', orphanDependents: true }),
  remove(`${CM}/o2?propagationPolicy=Nope`),
  remove(`${CM}/o2?gracePeriodSeconds=abc`),
  { method: 'HEAD', path: `${CM}/o5` },
  { method: 'OPTIONS', path: `${CM}/o5` },
  { method: 'POST', path: `${CM}/o5`, body: {} },
  { method: 'PUT', path: CM, body: {} },
  { method: 'PATCH', path: CM, body: {}, type: MERGE },
  // Leases are created by an update.
  put(`${LEASES}/made`, { metadata: { name: 'made' }, spec: { holderIdentity: 'x' } }),
  put(`${LEASES}/made`, { metadata: { name: 'made', resourceVersion: '1' }, spec: { holderIdentity: 'y' } }),
  put(`${LEASES}/made2`, { metadata: { name: 'made2', resourceVersion: '1' } }),
  post(LEASES, { metadata: { name: 'l2' }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
];

const container = (...more: readonly Fields[]): Fields => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'ssa' },
  spec: { template: { spec: { containers: more } } },
});

const applies: readonly ApiCall[] = [
  apply(`${DS}/ssa?fieldManager=a`, {
    ...daemonSet('ssa'),
    metadata: { name: 'ssa', labels: { a: '1' }, annotations: { b: '1' } },
  }),
  apply(`${DS}/ssa?fieldManager=b`, {
    ...container({ name: 'c', image: 'x:2' }),
    metadata: { name: 'ssa', labels: { a: '2' } },
  }),
  apply(
    `${DS}/ssa?fieldManager=b`,
    container({ name: 'c', env: [{ name: 'A', value: '1' }] }, { name: 'd', image: 'd:1' }),
  ),
  apply(
    `${DS}/ssa?fieldManager=c`,
    container({ name: 'c', env: [{ name: 'A', value: '2' }] }, { name: 'd', image: 'd:1' }),
  ),
  apply(`${DS}/ssa?fieldManager=c`, container({ name: 'd', image: 'd:1' }, { name: 'd', image: 'd:2' })),
  apply(`${DS}/ssa?fieldManager=c`, container({ image: 'd:1' })),
  apply(
    `${DS}/ssa?fieldManager=c`,
    container({ name: 'c', args: null, ports: [{ containerPort: 80 }, { containerPort: 80 }] }),
  ),
  apply(`${DS}/ssa?fieldManager=a`, { ...daemonSet('ssa'), metadata: { name: 'ssa' } }),
  apply(`${DS}/ssa?fieldManager=b`, container()),
  apply(`${DS}/ssa?fieldManager=b`, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'ssa', resourceVersion: '1' },
  }),
  apply(`${DS}/ssa2?fieldManager=b`, { ...daemonSet('ssa2'), metadata: { name: 'ssa2', resourceVersion: '1' } }),
  apply(`${DS}/ssa2?fieldManager=b`, { ...daemonSet('ssa2'), metadata: { name: 'ssa2', uid: 'x' } }),
  apply(`${DS}/ssa2?fieldManager=b`, { ...daemonSet('other') }),
  apply(`${DS}/ssa2?fieldManager=b`, { spec: {} }),
  apply(`${DS}/ssa2?fieldManager=b`, { ...daemonSet('ssa2'), apiVersion: 'apps/v1beta1' }),
  apply(`${DS}/ssa?fieldManager=b`, { ...container(), metadata: { name: 'ssa', managedFields: [{ manager: 'x' }] } }),
  apply(`${DS}/ssa/status?fieldManager=b`, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'ssa' },
    status: { numberReady: 3 },
  }),
  patch(MERGE, `${DS}/ssa?force=true`, {}),
  patch(MERGE, `${DS}/ssa`, { metadata: { managedFields: [{}] } }),
  get(`${DS}/ssa`),
];

export const oddCalls: readonly ApiCall[] = [
  post(CM, configMap('o5')),
  ...sizes,
  ...names,
  ...options,
  ...versions,
  ...bodies,
  ...applies,
];
