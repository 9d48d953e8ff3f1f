import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assert as always, array, boolean, constantFrom, integer, property, record } from 'fast-check';
import type { ImageReport } from '../facts/image-reports.ts';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { conditionsOf } from '../report/conditions.ts';
import { explainHold } from '../report/explain-hold.ts';
import { rebuild } from '../testing/rebuild.ts';
import { createWorkbench, daemonSetName, runs, START, seed, type Workbench } from '../testing/workbench.ts';

const digestOf = (letter: string): string => `sha256:${letter.repeat(64)}`;

const report = (letter: string, change: Partial<ImageReport> = {}): ImageReport => ({
  image: 'app:v2',
  source: 'app',
  digest: digestOf(letter),
  ...change,
});

/** Nodes at the target, whose template has `app:v2`; each letter is what the next one runs. */
const benchOf = (letters: string, change: Partial<Policy> = {}): Workbench => {
  const bench = createWorkbench(change);
  bench.ledger.setTarget({ name: 'set-b', hash: 'b', number: 2 }, START, {
    images: ['app:v2', 'side:v1'],
    changedBy: undefined,
  });
  bench.ledger.finishInitialSync();
  for (const [index, letter] of letters.split('').entries()) {
    bench.node(`n${index}`, { arch: 'amd64' });
    bench.pod(`n${index}`, 'b', { imageReports: [report(letter)] });
  }
  return bench;
};

const drifting = (bench: Workbench): string[] =>
  bench
    .decide()
    .summary.drift.map(
      ({ image, arch, ids }) =>
        `${image} ${arch}: ${ids.map(({ digest, nodes }) => `${nodes} ${digest.at(-1)}`).join(', ')}`,
    );

const condition = (bench: Workbench) => {
  const found = conditionsOf(bench.ledger, bench.decide().summary, daemonSetName).find(
    ({ type }) => type === 'ImageDrift',
  );
  assert.ok(found);
  return found;
};

/** Carries out what is decided about the rollout as a whole. */
const follow = (bench: Workbench): string[] =>
  bench.decide().actions.flatMap((action) => {
    if (action.type === 'halt') bench.ledger.patchState({ halted: action.halt }, bench.now());
    else if (action.type === 'end-halt') bench.ledger.patchState({ halted: undefined }, bench.now());
    else return [];
    return [`${action.type} ${action.because}`];
  });

describe('images differ', () => {
  it('when nodes report different digests of one image; most nodes first', () => {
    assert.deepEqual(drifting(benchOf('aaaa')), []);
    const bench = benchOf('baac');
    assert.deepEqual(drifting(bench), ['app:v2 amd64: 2 a, 1 b, 1 c']);
    assert.deepEqual(condition(bench), {
      type: 'ImageDrift',
      status: true,
      reason: 'ImagesDiffer',
      message: `Image app:v2 is not the same on all nodes of amd64: 2 nodes report ${digestOf('a')}, 1 node reports ${digestOf('b')}, 1 node reports ${digestOf('c')}. Give each version a tag of its own, or name images by their digests.`,
    });
  });

  it('no longer once they report the same', () => {
    const bench = benchOf('ab');
    bench.change('n1', { imageReports: [report('a')] });
    assert.deepEqual(drifting(bench), []);
    assert.deepEqual(condition(bench), { type: 'ImageDrift', status: false, reason: 'ImagesAgree', message: '' });
  });

  it('by what an offline node reported last, until it is removed', () => {
    const bench = benchOf('ab');
    bench.offline('n1');
    assert.deepEqual(drifting(bench), ['app:v2 amd64: 1 a, 1 b']);
    bench.ledger.removeNode('n1', bench.now());
    assert.deepEqual(drifting(bench), []);
  });

  it('also within one pod', () => {
    const bench = benchOf('a');
    bench.change('n0', { imageReports: [report('a'), report('b')] });
    assert.deepEqual(drifting(bench), ['app:v2 amd64: 1 a, 1 b']);
  });
});

describe('images do not differ', () => {
  it('between architectures, each of which has an image of its own', () => {
    const bench = benchOf('aab');
    bench.node('n2', { arch: 'arm64' });
    assert.deepEqual(drifting(bench), []);
    bench.node('n1', { arch: 'arm64' });
    assert.deepEqual(drifting(bench), ['app:v2 arm64: 1 a, 1 b']);
  });

  it('where IDs are of different forms or repositories', () => {
    const bench = benchOf('ab');
    bench.change('n1', { imageReports: [report('b', { source: '' })] });
    assert.deepEqual(drifting(bench), []);
  });

  it('where an image is not of the template, or a pod of another revision', () => {
    const bench = benchOf('aab');
    bench.change('n1', { imageReports: [report('a'), report('c', { image: 'injected:v1' })] });
    bench.change('n0', { imageReports: [report('a'), report('d', { image: 'injected:v1' })] });
    bench.change('n2', { revision: 'a' });
    assert.deepEqual(drifting(bench), []);
  });

  it('where a node is not eligible', () => {
    const bench = benchOf('ab');
    bench.node('n1', { eligible: false });
    assert.deepEqual(drifting(bench), []);
  });
});

describe('nodes without the label of their architecture', () => {
  it('are one group', () => {
    const bench = benchOf('');
    for (const [name, letter] of [
      ['n0', 'a'],
      ['n1', 'b'],
    ] as const) {
      bench.node(name);
      bench.pod(name, 'b', { imageReports: [report(letter)] });
    }
    assert.deepEqual(drifting(bench), ['app:v2 : 1 a, 1 b']);
    assert.match(condition(bench).message, /^Image app:v2 is not the same on all nodes: 1 node/);
  });
});

describe('an update', () => {
  const outdated = (policy: Partial<Policy>, letters = 'ab'): Workbench => {
    const bench = benchOf(letters, policy);
    bench.node('old');
    bench.pod('old', 'a');
    bench.advance(60_000);
    return bench;
  };

  it('goes on by default', () => {
    const bench = outdated({});
    assert.deepEqual(follow(bench), []);
    assert.deepEqual(bench.nodesOf('reserve'), ['old']);
  });

  it('does not begin with halt, which says which image, and ends by itself', () => {
    const bench = outdated({ onImageDrift: 'halt' });
    assert.deepEqual(follow(bench), ['halt images-differ']);
    assert.deepEqual(bench.steps(), []);
    const { hold } = bench.decide().summary;
    assert.equal(hold?.kind, 'halted');
    assert.match(explainHold(hold).what, /halted: nodes run different content under the name of app:v2$/);
    bench.change('n1', { imageReports: [report('a')] });
    assert.deepEqual(follow(bench), ['end-halt images-agree']);
    assert.deepEqual(bench.nodesOf('reserve'), ['old']);
  });

  it('goes on when the user takes halt back', () => {
    const bench = outdated({ onImageDrift: 'halt' });
    follow(bench);
    bench.policy({ onImageDrift: 'warn' });
    assert.deepEqual(follow(bench), ['end-halt images-agree']);
  });

  it('goes on when the user resumes, until there is another target', () => {
    const bench = outdated({ onImageDrift: 'halt' });
    follow(bench);
    bench.policy({ resume: { hash: 'b', value: 'b/1' } });
    assert.deepEqual(bench.steps(), [{ type: 'resume', value: 'b/1' }]);
    bench.ledger.patchState({ halted: undefined, resumed: 'b/1', driftForgiven: true }, bench.now());
    assert.deepEqual(follow(bench), []);
    assert.deepEqual(bench.nodesOf('reserve'), ['old']);
    assert.ok(condition(bench).status, 'it is still said');
    bench.target('c');
    assert.equal(bench.ledger.state.driftForgiven, false);
  });

  it('halts for failures all the same, which may be rolled back; image drift is not', () => {
    const bench = outdated({ onImageDrift: 'halt', onFailure: 'rollback', failureThreshold: count(1) });
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    follow(bench);
    assert.deepEqual(bench.steps(), []);
    bench.change('n1', { ready: false, trouble: 'crash-loop' });
    assert.deepEqual(follow(bench), ['halt failures']);
    assert.deepEqual(
      bench.steps().map(({ type }) => type),
      ['rollback'],
    );
  });

  it('is the business of users who delete pods themselves', () => {
    const bench = outdated({ onImageDrift: 'halt', strategy: 'manual' });
    assert.deepEqual(follow(bench), []);
    assert.ok(condition(bench).status);
  });
});

describe('what is said of images', () => {
  it('has a bound, however many there are and however long their names are', () => {
    const image = (index: number): string => `${'registry.example/'.padEnd(500, 'x')}:${index}`;
    const bench = createWorkbench();
    const images = Array.from({ length: 8 }, (_, index) => image(index));
    bench.ledger.setTarget({ name: 'set-b', hash: 'b', number: 2 }, START, { images, changedBy: undefined });
    for (const letter of 'abcdef') {
      bench.node(letter, { arch: 'amd64'.padEnd(63, 'x') });
      bench.pod(letter, 'b', { imageReports: images.map((each) => report(letter, { image: each })) });
    }
    const { message } = condition(bench);
    assert.ok(message.length < 1024, `${message.length}`);
    assert.match(message, /and 3 report others\. 6 more differ\. Give each/);
  });
});

it('is counted the same when changes add up as when everything is counted anew', () => {
  const event = record({
    node: integer({ min: 0, max: 5 }),
    letter: constantFrom('a', 'b', undefined),
    arch: constantFrom('amd64', 'arm64', undefined),
    revision: constantFrom('a', 'b'),
    gone: boolean(),
  });
  always(
    property(array(event, { maxLength: 30 }), (events) => {
      const bench = benchOf('aabbab');
      for (const { node, letter, arch, revision, gone } of events) {
        const name = `n${node}`;
        if (gone) bench.removePod(name);
        else if (!bench.last(name)) bench.pod(name, revision);
        if (bench.last(name))
          bench.change(name, { revision, imageReports: letter === undefined ? [] : [report(letter)] });
        if (arch) bench.node(name, { arch });
      }
      assert.deepEqual(rebuild(bench.ledger, bench.now()).imageDrift(), bench.ledger.imageDrift());
      const expected = new Map<string, Set<string>>();
      for (const { node, pods } of bench.ledger.records())
        for (const { facts } of pods)
          if (facts.revision === 'b')
            for (const { digest } of facts.imageReports ?? [])
              expected.set(node?.arch ?? '', (expected.get(node?.arch ?? '') ?? new Set()).add(digest));
      const differ = [...expected].filter(([, digests]) => digests.size > 1).map(([arch]) => arch);
      assert.deepEqual(
        bench.ledger.imageDrift().map(({ arch }) => arch),
        differ.toSorted(),
      );
    }),
    { numRuns: runs, seed },
  );
});
