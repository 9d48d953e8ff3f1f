import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { daemonSets } from '../kube/index.ts';
import { newestRevision, toRevisionView } from './revisions.ts';

const revision = (
  kind: string,
  labels: Record<string, string>,
  controller = true,
  apiVersion = 'apps/v1',
): ControllerRevision => ({
  metadata: {
    name: 'app-1',
    labels,
    ownerReferences: [{ apiVersion, kind, name: 'app', uid: 'u', controller }],
  },
  revision: 3,
  data: { spec: { template: {} } },
});
const labels = { 'controller-revision-hash': 'abc' };
const view = (of: ControllerRevision) => toRevisionView(of, daemonSets);

describe('a ControllerRevision', () => {
  it('is cached with its owner, name, hash and number', () => {
    const { templateDigest: _, ...kept } = view(revision('DaemonSet', labels)) ?? {};
    assert.deepEqual(kept, { ownerUid: 'u', name: 'app-1', hash: 'abc', number: 3 });
  });

  it('of a StatefulSet, of a DaemonSet of another kind, without its hash, or without a controller is not cached', () => {
    assert.equal(view(revision('StatefulSet', labels)), undefined);
    assert.equal(view(revision('DaemonSet', {})), undefined);
    assert.equal(view(revision('DaemonSet', labels, false)), undefined);
    assert.equal(view(revision('DaemonSet', labels, true, 'apps.kruise.io/v1beta1')), undefined);
  });
});

describe('the newest revision', () => {
  const numbered = (number: number, templateDigest = '') => ({
    ownerUid: 'u',
    name: `r${number}${templateDigest}`,
    hash: `h${number}`,
    number,
    templateDigest,
  });

  it('is the one with the highest number, in any order', () => {
    assert.equal(newestRevision([numbered(9), numbered(10), numbered(2)])?.name, 'r10');
    assert.equal(newestRevision([]), undefined);
  });

  it('is the one of the template if a number was used twice, and never one with a lower number', () => {
    const [a, b] = [numbered(2, 'a'), numbered(2, 'b')];
    for (const revisions of [
      [a, b],
      [b, a],
    ])
      assert.deepEqual([newestRevision(revisions, 'a')?.name, newestRevision(revisions, 'b')?.name], ['r2a', 'r2b']);
    assert.equal(newestRevision([numbered(1, 'a'), b], 'a')?.name, 'r2b');
  });
});
