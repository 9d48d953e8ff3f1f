import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { newestRevision, toRevisionView } from './revision-view.ts';

const revision = (kind: string, labels: Record<string, string>, controller = true): ControllerRevision => ({
  metadata: {
    name: 'app-1',
    labels,
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'app', uid: 'u', controller }],
  },
  revision: 3,
  data: { spec: { template: {} } },
});
const labels = { 'controller-revision-hash': 'abc' };

describe('a ControllerRevision', () => {
  it('is kept with its owner, name, hash and number', () => {
    const { templateDigest: _, ...view } = toRevisionView(revision('DaemonSet', labels)) ?? {};
    assert.deepEqual(view, { ownerUid: 'u', name: 'app-1', hash: 'abc', number: 3 });
  });

  it('of a StatefulSet, without its hash, or without a controller is not kept', () => {
    assert.equal(toRevisionView(revision('StatefulSet', labels)), undefined);
    assert.equal(toRevisionView(revision('DaemonSet', {})), undefined);
    assert.equal(toRevisionView(revision('DaemonSet', labels, false)), undefined);
  });
});

it('the newest revision is the one with the highest number, wherever it stands', () => {
  const view = (number: number) => ({
    ownerUid: 'u',
    name: `r${number}`,
    hash: `h${number}`,
    number,
    templateDigest: '',
  });
  assert.equal(newestRevision([view(9), view(10), view(2)])?.name, 'r10');
  assert.equal(newestRevision([]), undefined);
});
