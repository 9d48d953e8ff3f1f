import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ManagedFieldsEntry } from 'kubernetes-types/meta/v1.d.ts';
import { templateOrigin } from './template-origin.ts';

const template = { 'f:template': { 'f:spec': { 'f:containers': {} } } };

const entry = (manager: string, time: string, change: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'apps/v1',
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': template },
  ...change,
});

const changedBy = (...managedFields: ManagedFieldsEntry[]) => templateOrigin({ managedFields }, undefined).changedBy;

describe('who changed a template', () => {
  it('is the last client that owns a part of it', () => {
    const first = entry('kubectl-create', '2026-03-01T10:00:00Z');
    const second = entry('argocd-controller', '2026-03-02T10:00:00Z', { operation: 'Apply' });
    const wanted = { manager: 'argocd-controller', operation: 'Apply', time: '2026-03-02T10:00:00Z' };
    assert.deepEqual(changedBy(first, second), wanted);
    assert.deepEqual(changedBy(second, first), wanted);
  });

  it('is not a client that wrote something else later', () => {
    const pause = { 'f:metadata': { 'f:annotations': {} }, 'f:spec': { 'f:updateStrategy': {} } };
    const fieldsV1 = pause as NonNullable<ManagedFieldsEntry['fieldsV1']>;
    const others = [
      entry('edgeset-cli', '2026-03-03T10:00:00Z', { fieldsV1 }),
      entry('kube-controller-manager', '2026-03-04T10:00:00Z', { subresource: 'status' }),
    ];
    assert.equal(changedBy(entry('kubectl-edit', '2026-03-01T10:00:00Z'), ...others)?.manager, 'kubectl-edit');
    assert.equal(changedBy(...others), undefined);
  });

  it('is unknown where managed fields are missing or were edited', () => {
    assert.equal(templateOrigin(undefined, undefined).changedBy, undefined);
    assert.equal(changedBy(), undefined);
    assert.equal(changedBy({}, { manager: 'x' }, entry('', '2026-03-01T10:00:00Z')), undefined);
    const { time: _, ...undated } = entry('kubectl-edit', '');
    assert.equal(changedBy(undated), undefined);
    assert.equal(changedBy(entry('a', '2026-03-01T10:00:00Z', { fieldsV1: { 'f:spec': null } })), undefined);
  });
});

describe('who paused a rollout', () => {
  const pausedBy = (fieldsV1: object) =>
    templateOrigin(
      {
        managedFields: [
          entry('kubectl-edgeset', '2026-03-03T10:00:00Z', { fieldsV1 }),
          entry('other', '2026-03-04T10:00:00Z'),
        ],
      },
      undefined,
    ).pausedBy?.manager;

  it('is the last client that owns the field for it, of a DaemonSet of either kind', () => {
    assert.equal(pausedBy({ 'f:metadata': { 'f:annotations': { 'f:edgeset.io/paused': {} } } }), 'kubectl-edgeset');
    assert.equal(
      pausedBy({ 'f:spec': { 'f:updateStrategy': { 'f:rollingUpdate': { 'f:paused': {} } } } }),
      'kubectl-edgeset',
    );
    assert.equal(pausedBy({ 'f:metadata': { 'f:annotations': {} } }), undefined);
  });
});

describe('the images of a template', () => {
  it('are the first eight distinct ones, shortened if they are very long', () => {
    const containers = Array.from({ length: 10 }, (_, index) => ({ name: `c${index}`, image: `app:v${index}` }));
    const { images } = templateOrigin({}, { spec: { containers: [...containers, ...containers] } });
    assert.deepEqual(
      images,
      containers.slice(0, 8).map(({ image }) => image),
    );
    const [long] = templateOrigin({}, { spec: { containers: [{ name: 'c', image: 'x'.repeat(600) }] } }).images;
    assert.equal(long?.length, 512);
    assert.deepEqual(templateOrigin({}, undefined).images, []);
  });
});
