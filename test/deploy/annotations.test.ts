import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { ANNOTATION_POLICY_FILES, renderAnnotationPolicy } from '../../scripts/write-annotation-policy.ts';
import { DETECTION_LAG_MS } from '../../src/rollout/index.ts';
import { knownKeys, settingKeys } from '../../src/words/index.ts';

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** What has our prefix and is no key: API versions, and the names that Events carry. */
const OTHERS = new Set(['edgeset.io/agent', 'edgeset.io/manager', 'edgeset.io/v1', 'edgeset.io/v1alpha1']);

/** The keys in a text; not the last part of a path, a host name or another prefix. */
const keysIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w./-])(?:edgeset\.io|apps\.openyurt\.io)\/[A-Za-z0-9-]*[A-Za-z0-9]/g)].map(([key]) => key);

describe('the list of known keys', () => {
  it('has every key that the documentation and the manifests name', () => {
    const files = globSync(['docs/**/*.md', 'deploy/**/*.yaml', 'charts/**/*.yaml', 'examples/**/*', 'README.md'], {
      cwd: root,
    });
    const unknown = files
      // A decision may quote a mistake.
      .filter((file) => /\.(md|yaml|sh)$/.test(file) && !file.startsWith('docs/decisions'))
      .flatMap((file) =>
        keysIn(read(file))
          .filter((key) => !knownKeys.has(key) && !OTHERS.has(key))
          .map((key) => `${file}: ${key}`),
      );
    assert.ok(files.length > 50);
    assert.deepEqual(unknown, []);
  });

  it('has no setting that the reference does not describe', () => {
    const described = new Set(
      keysIn(read('docs/reference/annotations.md') + read('docs/reference/advanced-daemonset.md')),
    );
    assert.deepEqual(
      settingKeys.filter((key) => !described.has(key)),
      [],
    );
  });

  it('is described with the number that the note on minReadySeconds has', () => {
    const lag = `notice a lost node (${DETECTION_LAG_MS / 1000} s by default`;
    assert.ok(read('docs/reference/annotations.md').replaceAll('\n', ' ').includes(lag), lag);
  });

  it('is the only place in the code that spells a key', () => {
    const files = globSync('src/**/*.ts', { cwd: root }).filter(
      (file) => !/\.test\.ts$|\/testing\/|\/keys\.ts$|^src\/cli\//.test(file),
    );
    const spelled = files.flatMap((file) =>
      [...read(file).matchAll(/'((?:edgeset\.io|apps\.openyurt\.io)\/[\w-]+)'/g)].map(
        ([, key = '']) => `${file}: ${key}`,
      ),
    );
    assert.deepEqual(
      spelled.filter((each) => ![...OTHERS, 'edgeset.io/nothing'].some((other) => each.endsWith(`: ${other}`))),
      [],
    );
  });
});

describe('the admission policy on annotations', () => {
  it('is in step with the list', () => {
    for (const file of ANNOTATION_POLICY_FILES)
      assert.equal(readFileSync(file, 'utf8'), renderAnnotationPolicy(), 'run: npm run generate');
  });

  it('only warns', () => {
    const [policy, binding] = renderAnnotationPolicy()
      .split('---\n')
      .map((text) => parse(text) as { spec: { failurePolicy?: string; validationActions?: string[] } });
    assert.equal(policy?.spec.failurePolicy, 'Ignore');
    assert.deepEqual(binding?.spec.validationActions, ['Warn']);
  });
});
