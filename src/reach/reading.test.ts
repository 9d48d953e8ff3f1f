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

describe('the contact of a ManagedCluster', () => {
  const contactOf = (
    status: string,
    lease: KubeObject | undefined,
    transitionAt: number | 'unreadable' = AT,
    changedAt?: number,
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
    const reading = ocm.read({ status: { conditions: [condition] } });
    return ocm.contact('shop', reading, { now: AT + 1, changedAt, label: undefined }, { client, signal });
  };

  test('ended with the last renewal of its Lease, by the clock of the hub', async () => {
    const at = AT - 290_000;
    const lease = {
      metadata: { managedFields: [entry({ 'f:spec': { 'f:renewTime': {} } }, at)] },
      spec: { renewTime: text(AT - 86_400_000) },
    };
    assert.deepEqual(await contactOf('Unknown', lease), {
      contact: { state: 'gone', lastContact: at, dueBy: at + 120_000 },
    });
  });

  test('ended five lease durations before, and possibly only now, without the Lease or with one that the hub made', async () => {
    const expected = { contact: { state: 'gone', lastContact: AT - 300_000, dueBy: AT } };
    assert.deepEqual(await contactOf('Unknown', undefined), expected);
    assert.deepEqual(await contactOf('Unknown', { spec: { renewTime: text(AT + 60_000) } } as KubeObject), expected);
  });

  test('ended when its agent reported a failure', async () => {
    assert.deepEqual(await contactOf('False', undefined), {
      contact: { state: 'gone', lastContact: AT, dueBy: AT },
    });
  });

  test('ended at a time from the one inside to when the watch brought it', async () => {
    for (const [inside, brought] of [
      [AT - 360_000, AT],
      [AT, AT - 360_000],
    ] as const)
      assert.deepEqual(await contactOf('False', undefined, inside, brought), {
        contact: { state: 'gone', lastContact: AT - 360_000, dueBy: AT },
      });
  });

  test('may have ended at any time if nothing says when', async () => {
    const { contact } = await contactOf('Unknown', undefined, 'unreadable');
    assert.deepEqual(contact, {
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
    assert.equal(kind.read({ metadata: { managedFields }, status: { agent: { lastSeen: null } } }).lastSeen, 0);
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
