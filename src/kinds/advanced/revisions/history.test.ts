import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import {
  describing,
  HASH_LABEL,
  type HistoryInput,
  type HistoryPlan,
  onNameTaken,
  planHistory,
  type RevisionSummary,
  revisionData,
  summaryOf,
} from './history.ts';

const owner = {
  apiVersion: 'apps.kruise.io/v1beta1',
  name: 'app',
  namespace: 'default',
  uid: 'u-1',
  collisionCount: 0,
};
const template = (image: string): PodTemplateSpec => ({
  metadata: { labels: { app: 'app' } },
  spec: { containers: [{ name: 'main', image }] },
});
const plan = (image: string, revisions: readonly RevisionSummary[], more: Partial<HistoryInput> = {}): HistoryPlan =>
  planHistory({ owner, template: template(image), revisions, live: new Set(), keep: 10, ...more });

/** The revisions after a plan was carried out. */
const after = (revisions: readonly RevisionSummary[], { write, remove }: HistoryPlan): RevisionSummary[] => {
  const left = revisions.filter((revision) => !remove.includes(revision));
  if (write.kind === 'none') return left;
  const revision = write.kind === 'create' ? summaryOf(write.revision) : write.revision;
  return [...left.filter(({ metadata }) => metadata?.name !== revision.metadata?.name), revision];
};
const rollOut = (...images: string[]): RevisionSummary[] =>
  images.reduce<RevisionSummary[]>((revisions, image) => after(revisions, plan(image, revisions)), []);
const numbers = (revisions: readonly RevisionSummary[]): number[] => revisions.map(({ revision }) => revision);

describe('the history of an Advanced DaemonSet', () => {
  it('starts with a revision in the format of the native controller', () => {
    const { target, write, remove } = plan('v1', []);
    assert.ok(write.kind === 'create');
    const { metadata, data, revision } = write.revision;
    assert.equal(metadata?.name, `app-${target.hash}`);
    assert.equal(metadata?.labels?.[HASH_LABEL], target.hash);
    assert.equal(metadata?.labels?.app, 'app');
    assert.equal(metadata?.ownerReferences?.[0]?.uid, 'u-1');
    assert.deepEqual(data, { spec: { template: { $patch: 'replace', ...template('v1') } } });
    assert.equal(revision, 1);
    assert.deepEqual(remove, []);
  });

  it('writes nothing while the template stays the same', () => {
    const revisions = rollOut('v1', 'v2');
    assert.deepEqual(plan('v2', revisions).write, { kind: 'none' });
  });

  it('reuses an earlier revision and its hash, with the highest number', () => {
    const revisions = rollOut('v1', 'v2', 'v3');
    const first = revisions[0];
    const { target, write } = plan('v1', revisions);
    assert.equal(target.hash, first?.metadata?.labels?.[HASH_LABEL]);
    assert.equal(target.number, 4);
    assert.equal(write.kind, 'renumber');
  });

  it('keeps the history limit in addition to the target, and every revision in use', () => {
    const revisions = rollOut('v1', 'v2', 'v3', 'v4', 'v5');
    const hashes = revisions.map(({ metadata }) => metadata?.labels?.[HASH_LABEL] ?? '');
    assert.deepEqual(numbers(plan('v5', revisions, { keep: 2 }).remove), [1, 2]);
    const live = new Set([hashes[0] ?? '']);
    assert.deepEqual(numbers(plan('v5', revisions, { keep: 2, live }).remove), [2, 3]);
    assert.deepEqual(numbers(plan('v5', revisions, { keep: 0 }).remove), [1, 2, 3, 4]);
    assert.deepEqual(plan('v5', revisions, { keep: 0, live: new Set(hashes) }).remove, []);
    const all = plan('v5', revisions, { keep: 2, live: new Set(hashes) }).overLimit;
    assert.deepEqual([...all], hashes.slice(0, 4), 'looked at again once no pod carries one of them');
    assert.deepEqual([...plan('v5', revisions, { keep: 3, live }).overLimit], []);
  });

  it('adopts a revision that a native DaemonSet left behind, under its hash', () => {
    const orphan: ControllerRevision = {
      metadata: {
        name: 'app-5d8f9c',
        namespace: 'default',
        labels: { app: 'app', [HASH_LABEL]: '5d8f9c' },
        resourceVersion: '7',
      },
      data: revisionData(template('v1')),
      revision: 3,
    };
    const { target, write } = plan('v1', [summaryOf(orphan)], { live: new Set(['5d8f9c']) });
    assert.deepEqual(target, { name: 'app-5d8f9c', hash: '5d8f9c', number: 3 });
    assert.ok(write.kind === 'renumber');
    assert.equal(write.revision.metadata?.ownerReferences?.[0]?.uid, 'u-1');
    assert.equal(write.revision.metadata?.resourceVersion, '7');
  });

  it('adopts orphans with their number', () => {
    const [first, second] = rollOut('v1', 'v2').map((revision) => ({
      ...revision,
      metadata: { ...revision.metadata, ownerReferences: [] },
    }));
    assert.ok(first && second);
    const stranger = { ...first, metadata: { ...first.metadata, name: 'other' }, digest: undefined };
    const { adopt, write } = plan('v2', [first, second, stranger]);
    assert.deepEqual(
      adopt.map(({ metadata, revision }) => [metadata?.name, revision, metadata?.ownerReferences?.[0]?.uid]),
      [[first.metadata.name, 1, 'u-1']],
    );
    assert.equal(write.kind, 'renumber');
  });

  it('never deletes revisions of others', () => {
    const orphans = rollOut('v1', 'v2').map((revision) => ({
      ...revision,
      metadata: { ...revision.metadata, ownerReferences: [] },
    }));
    assert.deepEqual(plan('v3', orphans, { keep: 0 }).remove, []);
  });

  it('of two revisions with the same template selects the one in use', () => {
    const [made] = rollOut('v1');
    assert.ok(made);
    const native = {
      ...made,
      metadata: { ...made.metadata, name: 'app-77', labels: { [HASH_LABEL]: '77' } },
      revision: 1,
    };
    const ours = { ...made, revision: 2 };
    assert.equal(plan('v1', [native, ours], { live: new Set(['77']) }).target.hash, '77');
    assert.equal(plan('v1', [native, ours]).target.hash, made.metadata?.labels?.[HASH_LABEL]);
  });

  it('distinguishes an earlier attempt from a collision', () => {
    const { write } = plan('v1', []);
    assert.ok(write.kind === 'create');
    assert.equal(onNameTaken(write.revision, write.revision), 'same');
    const foreign = { ...write.revision, data: revisionData(template('v2')) };
    assert.equal(onNameTaken(foreign, write.revision), 'collision');
    const otherOwner = { ...write.revision, metadata: { ...write.revision.metadata, ownerReferences: [] } };
    assert.equal(onNameTaken(otherOwner, write.revision), 'collision');
    const raised = plan('v1', [], { owner: { ...owner, collisionCount: 1 } });
    assert.notEqual(raised.target.name, write.revision.metadata?.name);
  });

  it('records the change cause and the release notes when the template is first set', () => {
    const said = (annotations: Record<string, string>) => {
      const { write } = plan('v1', [], { owner: { ...owner, description: describing(annotations) } });
      assert.ok(write.kind === 'create');
      return write.revision.metadata?.annotations;
    };
    const both = { 'kubernetes.io/change-cause': 'ticket 12', 'edgeset.io/release-notes': 'Faster.' };
    assert.deepEqual(said({ ...both, 'edgeset.io/paused': 'true' }), both);
    assert.equal(said({ 'edgeset.io/paused': 'true' }), undefined);
  });

  it('has one increasing number for each revision', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 30 }),
        fc.nat(4),
        (images, keep) => {
          let revisions: RevisionSummary[] = [];
          let last = 0;
          let before = '';
          for (const image of images) {
            const made = plan(image, revisions, { keep });
            revisions = after(revisions, made);
            assert.equal(new Set(numbers(revisions)).size, revisions.length);
            assert.equal(made.target.number, Math.max(...numbers(revisions)));
            assert.ok(image === before ? made.target.number === last : made.target.number > last);
            assert.ok(revisions.length <= keep + 1);
            assert.deepEqual(plan(image, revisions, { keep }).write, { kind: 'none' });
            last = made.target.number;
            before = image;
          }
        },
      ),
    );
  });
});
