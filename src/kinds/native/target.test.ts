import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '../../../test/support/index.ts';
import type { RevisionView } from '../../controller/index.ts';
import type { NativeView } from './native-view.ts';
import { createTargetFinder } from './target.ts';

const revision = (number: number, templateDigest: string): RevisionView => ({
  ownerUid: 'u',
  name: `app-${number}`,
  hash: `h${number}`,
  number,
  templateDigest,
});
const view = (generation: number, observedGeneration: number, templateDigest: string) =>
  ({ uid: 'u', generation, observedGeneration, templateDigest }) as NativeView;
const { signal } = new AbortController();

/** `generation`: of the DaemonSet as it is read; by default the one that is asked for. */
const createFinder = (cached: RevisionView[], served: RevisionView[], generation?: number) => {
  const clock = createTestClock();
  let reads = 0;
  const find = createTargetFinder({
    clock,
    cached: () => cached,
    read: (asked) => {
      reads += 1;
      return Promise.resolve({ revisions: served, generation: generation ?? asked.generation });
    },
  });
  return { clock, find: (asked: NativeView) => find(asked, signal), reads: () => reads };
};

describe('the target', () => {
  it('is the newest revision with the current template', async () => {
    const { find, reads } = createFinder([revision(1, 'a'), revision(2, 'b')], []);
    const target = await find(view(2, 2, 'b'));
    assert.equal(target.kind === 'known' && target.revision.name, 'app-2');
    assert.equal(reads(), 0);
  });

  it('is unknown until the native controller has observed the generation, however long that takes', async () => {
    const { find, reads, clock } = createFinder([revision(1, 'a')], []);
    assert.deepEqual(await find(view(2, 1, 'a')), {
      kind: 'held',
      hold: { kind: 'unobserved' },
      recheckAt: Number.POSITIVE_INFINITY,
    });
    await clock.advance(3_600_000);
    assert.equal((await find(view(2, 1, 'a'))).kind, 'held');
    assert.equal(reads(), 0);
  });

  it('is not an older revision with the same template: its number rises first', async () => {
    const cached = [revision(1, 'a'), revision(2, 'b')];
    const { find } = createFinder(cached, []);
    assert.equal((await find(view(3, 3, 'a'))).kind, 'held');
    cached[0] = { ...revision(1, 'a'), number: 3 };
    const target = await find(view(3, 3, 'a'));
    assert.equal(target.kind === 'known' && target.revision.hash, 'h1');
  });

  it('is read from the API server after a second, which counts until the watch has it', async () => {
    const { find, reads, clock } = createFinder([revision(1, 'a')], [revision(1, 'a'), revision(2, 'b')]);
    const first = await find(view(2, 2, 'b'));
    assert.deepEqual(first, { kind: 'held', hold: { kind: 'unobserved' }, recheckAt: clock.now() + 1_000 });
    await clock.advance(1_000);
    for (let again = 0; again < 3; again += 1) {
      const target = await find(view(2, 2, 'b'));
      assert.equal(target.kind === 'known' && target.revision.name, 'app-2');
    }
    assert.equal(reads(), 1);
  });

  it('is the revision of the current template among two with one number, as watched and as read', async () => {
    const twice = [revision(1, 'a'), revision(2, 'b'), { ...revision(3, 'c'), number: 2 }];
    const watched = await createFinder(twice, []).find(view(3, 3, 'c'));
    assert.equal(watched.kind === 'known' && watched.revision.name, 'app-3');
    const { find, clock } = createFinder(twice.slice(0, 2), twice);
    assert.equal((await find(view(3, 3, 'c'))).kind, 'held');
    await clock.advance(1_000);
    const read = await find(view(3, 3, 'c'));
    assert.equal(read.kind === 'known' && read.revision.name, 'app-3');
  });

  it('is not the revision of a later generation: what else changed with it is not known yet', async () => {
    const served = [revision(1, 'a'), revision(2, 'b')];
    const { find, clock } = createFinder(served, served, 2);
    await find(view(1, 1, 'a'));
    await clock.advance(1_000);
    assert.equal((await find(view(1, 1, 'a'))).kind, 'held');
    assert.equal((await find(view(2, 2, 'b'))).kind, 'known');
  });

  it('is determined again for every generation, if templates never compare equal', async () => {
    const cached = [revision(1, 'other-a')];
    const { find, reads, clock } = createFinder(cached, cached);
    assert.equal((await find(view(1, 1, 'a'))).kind, 'held');
    await clock.advance(1_000);
    assert.equal((await find(view(1, 1, 'a'))).kind, 'known');
    assert.equal((await find(view(2, 2, 'b'))).kind, 'held', 'the revision of before must not stand in');
    cached.push(revision(2, 'other-b'));
    await clock.advance(10_000);
    const target = await find(view(2, 2, 'b'));
    assert.equal(target.kind === 'known' && target.revision.name, 'app-2');
    assert.equal(reads(), 2);
  });

  it('is not read again and again while there is none, nor later because the clock was set back', async () => {
    const { find, reads, clock } = createFinder([], []);
    for (let second = 0; second < 60; second += 1) {
      await find(view(1, 1, 'a'));
      await clock.advance(1_000);
    }
    assert.ok(reads() >= 5 && reads() <= 7, `${reads()} reads a minute`);
    clock.jump(-3_600_000);
    await find(view(1, 1, 'a'));
    await clock.advance(1_000);
    await find(view(1, 1, 'a'));
    assert.ok(reads() >= 6 && reads() <= 8);
  });
});
