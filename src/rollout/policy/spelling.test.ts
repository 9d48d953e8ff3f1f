import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { annotation, knownKeys, settingKeys } from '../../words/index.ts';
import { parsePolicy } from './policy.ts';
import { editDistance, misspelledKeys, misspelling, spellings } from './spelling.ts';
import { formatPolicyError } from './values.ts';

const parse = (annotations: Record<string, string>) =>
  parsePolicy({
    annotations: { [annotation.strategy]: 'auto', ...annotations },
    updateStrategyType: 'OnDelete',
    minReadySeconds: 0,
  });

describe('a key that is almost one of ours', () => {
  for (const [key, meant] of [
    ['edgeset.io/partiton', 'edgeset.io/partition'],
    ['edgeset.io/Partition', 'edgeset.io/partition'],
    ['edgeset.io/pause', 'edgeset.io/paused'],
    ['edgeset.io/maxUnavailable', 'edgeset.io/max-unavailable'],
    ['edgeset.io/max_unavailable', 'edgeset.io/max-unavailable'],
    ['edgeset.io/failure-treshold', 'edgeset.io/failure-threshold'],
    ['edgeset.io/settle-second', 'edgeset.io/settle-seconds'],
    ['edgeset.io/releaseNotes', 'edgeset.io/release-notes'],
    ['edgeset.io/release-note', 'edgeset.io/release-notes'],
    ['edgeset.io/node-selectors', 'edgeset.io/node-selector'],
    ['edgeset.io/upgrade-strategy', 'apps.openyurt.io/upgrade-strategy'],
    ['apps.openyurt.io/max-unavailble', 'apps.openyurt.io/max-unavailable'],
    ['apps.openyurt.io/updatestrategy', 'apps.openyurt.io/update-strategy'],
    ['apps.openyurt.io/udpate-strategy', 'apps.openyurt.io/update-strategy'],
    ['apps.openyurt.io/partition', 'edgeset.io/partition'],
  ] as const)
    it(`holds the rollout and names ${meant} for ${key}`, () => {
      assert.deepEqual(misspelling(key), { meant });
      const parsed = parse({ [key]: '1' });
      assert.equal(parsed.kind, 'invalid');
      assert.deepEqual(parsed.kind === 'invalid' && parsed.errors.map(formatPolicyError), [
        `${key} "1" is not an annotation that edgeset knows: rename it to ${meant}.`,
      ]);
    });

  it('holds the rollout too where nothing similar exists under our prefix', () => {
    for (const key of ['edgeset.io/foo', 'edgeset.io/', 'edgeset.io/constructor', `edgeset.io/${'x'.repeat(300)}`]) {
      const [error] = misspelledKeys({ [key]: 'x' });
      assert.match(error?.remedy ?? '', /^remove it, or correct its name$/, key);
      assert.equal(parse({ [key]: 'x' }).kind, 'invalid');
    }
  });

  it('is no concern of a DaemonSet that did not opt in', () => {
    const source = { annotations: { 'edgeset.io/partiton': '1' }, updateStrategyType: 'OnDelete', minReadySeconds: 0 };
    assert.equal(parsePolicy(source).kind, 'off');
  });

  it('names the field of a kind that has one in place of the annotation', () => {
    const [error] = misspelledKeys({ 'edgeset.io/partiton': '1' }, { [annotation.partition]: 'spec.partition' });
    assert.equal(error?.remedy, 'remove it, and set spec.partition');
  });

  it('reports ten of many, at once', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`edgeset.io/partiton-${i}`, 'x']));
    assert.equal(misspelledKeys(many).length, 10);
  });
});

describe('a key is left alone', () => {
  for (const key of [
    ...knownKeys,
    // Keys of OpenYurt.
    ...['nodepool', 'pool-name', 'desired-nodepool', 'is-default', 'pool-host-network', 'node-pool-type', 'replicas']
      .concat(['ref-yurtappset', 'binding', 'patch', 'used', 'poolspec', 'unit', 'template-type'])
      .map((name) => `apps.openyurt.io/${name}`),
    'apps.kruise.io/partiton',
    'sim.edgeset.io/start-ms',
    'example.com/partiton',
    'partiton',
    'kubectl.kubernetes.io/last-applied-configuration',
  ])
    it(key, () => {
      assert.equal(misspelling(key), undefined);
      assert.deepEqual(misspelledKeys({ [key]: 'x' }), []);
    });
});

describe('editDistance', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });

  it('counts letters that are inserted, removed, replaced, or swapped', () => {
    for (const [a, b, distance] of [
      ['', '', 0],
      ['', 'abc', 3],
      ['paused', 'pause', 1],
      ['udpate', 'update', 1],
      ['kitten', 'sitting', 3],
    ] as const)
      assert.equal(editDistance(a, b), distance);
  });

  it('is symmetric, zero only for equal words, and at most the longer length', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b);
        assert.equal(distance, editDistance(b, a));
        assert.equal(distance === 0, a === b);
        assert.ok(distance <= Math.max(a.length, b.length));
      }),
    );
  });
});

describe('spellings', () => {
  it('find every single mistake, and nothing that the manager accepts', () => {
    const patterns = spellings().map(({ meant, letters }) => ({ meant, letters: new RegExp(letters) }));
    assert.deepEqual(
      patterns.map(({ meant }) => meant),
      settingKeys,
    );
    const letter = fc.constantFrom('a', 'e', 'n', 'p', 's', 'x');
    fc.assert(
      fc.property(
        fc.constantFrom(...patterns),
        fc.nat(),
        fc.nat({ max: 3 }),
        letter,
        ({ meant, letters }, at, how, x) => {
          const prefix = meant.slice(0, meant.indexOf('/') + 1);
          const name = meant.slice(prefix.length).replaceAll('-', '');
          const i = at % name.length;
          const [before, here, after] = [name.slice(0, i), name.slice(i, i + 1), name.slice(i + 1)];
          const changed =
            [
              before + after,
              before + x + after,
              before + x + here + after,
              before + after.slice(0, 1) + here + after.slice(1),
            ][how] ?? '';
          assert.match(changed, letters, `${changed} for ${meant}`);
          const key = prefix + changed;
          assert.ok(knownKeys.has(key) || changed === name || misspelling(key), `${key} is accepted`);
        },
      ),
    );
  });
});
