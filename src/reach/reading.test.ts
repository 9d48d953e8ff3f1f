import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type KubeObject } from '../kube/index.ts';
import { createFleetKind, readBundleDeployment } from './fleet.ts';
import { readLabel } from './label.ts';
import { ocm, readManifestWork } from './ocm.ts';

const AT = Date.parse('2026-01-01T10:00:00Z');
const text = (ms: number): string => new Date(ms).toISOString();
const entry = (fieldsV1: object, time = AT, more: object = {}) => ({
  manager: 'm',
  operation: 'Update',
  time: text(time),
  fieldsV1,
  ...more,
});
const signal = new AbortController().signal;

describe('the last contact of a ManagedCluster', () => {
  const lastContactOf = (
    status: string,
    {
      lease,
      transitionAt = AT,
      changedAt,
      writtenAt,
    }: {
      lease?: KubeObject;
      transitionAt?: number | 'unreadable';
      changedAt?: number;
      writtenAt?: number;
    } = {},
  ) => {
    const condition = {
      type: 'ManagedClusterConditionAvailable',
      status,
      lastTransitionTime: transitionAt === 'unreadable' ? transitionAt : text(transitionAt),
    };
    const client = {
      get: () => (lease ? Promise.resolve(lease as never) : Promise.reject(new KubeError('NotFound', 'no lease'))),
      list: () => Promise.reject(new Error('not asked')),
    };
    const fields = { 'f:status': { 'f:conditions': {} } };
    const managedFields = writtenAt === undefined ? [] : [entry(fields, writtenAt, { subresource: 'status' })];
    const reading = ocm.read({ metadata: { managedFields }, status: { conditions: [condition] } });
    return ocm.lastContact('shop', reading, changedAt, { client, signal });
  };
  const leaseAt = (at: number, said = at): KubeObject =>
    ({
      metadata: { managedFields: [entry({ 'f:spec': { 'f:renewTime': {} } }, at)] },
      spec: { renewTime: text(said) },
    }) as KubeObject;

  test('is the last renewal of its Lease, by the clock of the hub', async () => {
    const at = AT - 290_000;
    assert.deepEqual(await lastContactOf('Unknown', { lease: leaseAt(at, AT - 86_400_000) }), {
      state: 'gone',
      lastContact: at,
      dueBy: at + 120_000,
    });
  });

  test('was five lease durations before, and possibly only now, without the Lease or with one that the hub made', async () => {
    const expected = { state: 'gone', lastContact: AT - 300_000, dueBy: AT };
    assert.deepEqual(await lastContactOf('Unknown'), expected);
    assert.deepEqual(await lastContactOf('Unknown', { lease: leaseAt(AT + 60_000) }), expected);
  });

  test('was when its agent reported a failure', async () => {
    assert.deepEqual(await lastContactOf('False'), { state: 'gone', lastContact: AT, dueBy: AT });
  });

  test('was between the time inside and when it was brought or written, as the cluster may have another clock', async () => {
    const expected = { state: 'gone', lastContact: AT - 360_000, dueBy: AT };
    for (const [transitionAt, changedAt, writtenAt] of [
      [AT - 360_000, AT, undefined],
      [AT, AT - 360_000, undefined],
      [AT - 360_000, undefined, AT],
    ] as const)
      assert.deepEqual(
        await lastContactOf('False', {
          transitionAt,
          ...(changedAt && { changedAt }),
          ...(writtenAt && { writtenAt }),
        }),
        expected,
      );
  });

  test('may have been at any time if nothing says when', async () => {
    assert.deepEqual(await lastContactOf('Unknown', { transitionAt: 'unreadable' }), {
      state: 'gone',
      lastContact: Number.NEGATIVE_INFINITY,
      dueBy: Number.POSITIVE_INFINITY,
    });
  });
});

describe('a ManifestWork', () => {
  const condition = (type: string, status: string, observedGeneration = 3) => ({ type, status, observedGeneration });
  const isFinished = (...conditions: ReturnType<typeof condition>[]): boolean =>
    readManifestWork({ metadata: { name: 'till', generation: 3 }, status: { conditions } }).finished;

  test('was given when its spec was last changed', () => {
    const managedFields = [
      entry({ 'f:spec': {} }, AT),
      entry({ 'f:spec': {} }, AT + 5_000),
      entry({ 'f:metadata': {} }, AT + 60_000),
      entry({ 'f:status': {} }, AT + 90_000, { subresource: 'status' }),
    ];
    assert.deepEqual(readManifestWork({ metadata: { name: 'till', managedFields } }), {
      name: 'ManifestWork till',
      at: AT + 5_000,
      finished: false,
      failed: false,
    });
    assert.equal(readManifestWork({ metadata: { name: 'till' } }).at, undefined);
  });

  test('is finished when it is applied and no longer progressing, in its generation', () => {
    assert.ok(isFinished(condition('Applied', 'True'), condition('Progressing', 'False')));
    assert.ok(isFinished(condition('Applied', 'True'), condition('Available', 'True')));
    assert.ok(
      !isFinished(condition('Applied', 'True'), condition('Available', 'True'), condition('Progressing', 'True')),
    );
    assert.ok(!isFinished(condition('Applied', 'True'), condition('Progressing', 'False', 2)));
    assert.ok(!isFinished(condition('Applied', 'True', 2), condition('Available', 'True')));
    assert.ok(!isFinished());
  });
});

test('a ManifestWork failed when it says so of its generation', () => {
  const hasFailed = (observedGeneration: number, status: string): boolean =>
    readManifestWork({
      metadata: { generation: 3 },
      status: { conditions: [{ type: 'Degraded', status, observedGeneration }] },
    }).failed;
  assert.deepEqual([hasFailed(3, 'True'), hasFailed(2, 'True'), hasFailed(3, 'False')], [true, false, false]);
});

describe('Rancher Fleet', () => {
  const kind = createFleetKind({ checkInMs: 900_000, offlineAfterMs: 2_700_000 });

  test('a check-in has the time of the hub, and where that is missing its own', () => {
    const status = { agent: { lastSeen: text(AT) } };
    const managedFields = [
      entry({ 'f:status': { 'f:agent': { 'f:lastSeen': {} } } }, AT + 30_000, { subresource: 'status' }),
      // Of the hub, which wrote an empty value first.
      entry({ 'f:status': { 'f:agent': {}, 'f:summary': {} } }, AT + 90_000, { subresource: 'status' }),
    ];
    assert.equal(kind.read({ metadata: { managedFields }, status }).lastSeen, AT + 30_000);
    assert.equal(kind.read({ status }).lastSeen, AT);
    assert.equal(
      kind.read({ metadata: { managedFields }, status: { agent: { lastSeen: null } } }).goneAfter,
      undefined,
    );
  });

  test('a BundleDeployment was given when Fleet last wrote its spec, unless that only staged the next version', () => {
    const metadata = { managedFields: [entry({ 'f:spec': { 'f:deploymentID': {} } })] };
    const at = (stagedDeploymentID: string, ready = true) =>
      readBundleDeployment({
        metadata,
        spec: { deploymentID: 'v2', stagedDeploymentID },
        status: { appliedDeploymentID: 'v2', ready },
      }).at;
    assert.deepEqual([at('v2'), at('v3'), at('v3', false)], [AT, undefined, AT]);
  });

  test('a BundleDeployment is finished when what is asked for is applied and ready', () => {
    const read = (status: object) => readBundleDeployment({ spec: { deploymentID: 'v2' }, status }).finished;
    assert.ok(read({ appliedDeploymentID: 'v2', ready: true }));
    assert.ok(!read({ appliedDeploymentID: 'v2', ready: false }));
    assert.ok(!read({ appliedDeploymentID: 'v1', ready: true }));
    assert.ok(!readBundleDeployment({ status: { appliedDeploymentID: '', ready: true } }).finished);
  });
});

test('a BundleDeployment failed when an object of it did, or when it could not be applied', () => {
  const read = (status: object) => readBundleDeployment({ spec: { deploymentID: 'v2' }, status }).failed;
  const nonReadyStatus = [{ summary: { state: 'in-progress' } }, { summary: { error: true } }];
  const conditions = [{ type: 'Deployed', status: 'False' }];
  assert.ok(read({ appliedDeploymentID: 'v2', nonReadyStatus }));
  assert.ok(!read({ appliedDeploymentID: 'v2', nonReadyStatus: nonReadyStatus.slice(0, 1) }));
  assert.ok(!read({ appliedDeploymentID: 'v1', nonReadyStatus }));
  assert.ok(read({ appliedDeploymentID: 'v1', conditions }));
  assert.ok(!read({}));
});

test('the label has the time at which we wrote it, and no time if somebody else did', () => {
  const labels = { 'edgeset.io/reach': 'online' };
  const fields = { 'f:metadata': { 'f:labels': { 'f:edgeset.io/reach': {} } } };
  const at = (manager: string) => readLabel({ labels, managedFields: [entry(fields, AT, { manager })] });
  assert.deepEqual(at('edgeset-reach'), { reach: 'online', at: AT });
  assert.deepEqual(at('kubectl-label'), { reach: 'online', at: undefined });
  assert.equal(readLabel({ labels: { 'edgeset.io/reach': 'manual' } }), 'unmanaged');
  assert.equal(readLabel({ labels: {} }), undefined);
});
