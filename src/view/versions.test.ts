import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { versionStep, versionText } from './versions.ts';

const step = (before: readonly string[] | undefined, after: readonly string[]): [string, string, number] => {
  const { from, to, changed } = versionStep(before, after);
  return [from, to, changed];
};

describe('what a rollout changes', () => {
  it('is the version of the image that changed', () => {
    assert.deepEqual(step(['r:5000/a/pos:2.0.1', 'log:1'], ['r:5000/a/pos:2.1.0', 'log:1']), ['2.0.1', '2.1.0', 1]);
    assert.deepEqual(step(['pos@sha256:0123456789abcdef'], ['pos@sha256:fedcba9876543210']), [
      '0123456789ab',
      'fedcba987654',
      1,
    ]);
  });

  it('is no single version where several images changed, or none of several', () => {
    assert.deepEqual(step(['a:1', 'b:1'], ['a:2', 'b:2']), ['', '', 2]);
    assert.deepEqual(step(['a:1', 'b:1'], ['a:1', 'b:1']), ['', '', 0]);
    assert.equal(versionText(versionStep(['a:1', 'b:1'], ['a:2', 'b:2'])), 'The target revision');
  });

  it('is no version where the only image stays, and the version of a first rollout', () => {
    assert.deepEqual(step(['a:1'], ['a:1']), ['', '', 0]);
    assert.deepEqual(step(['a:1-init', 'a:1'], ['a:1-init', 'a:2']), ['1', '2', 1]);
    assert.deepEqual(step(['a:1-init', 'a:1'], ['a:1-init', 'a:1']), ['', '', 0]);
    assert.deepEqual(step(undefined, ['a:1']), ['', '1', 0]);
    assert.equal(versionText(versionStep(undefined, ['a:1'])), 'Version 1');
  });

  it('names images that come and go', () => {
    assert.deepEqual(versionStep(['a:1', 'b:1'], ['a:1', 'c:3']), {
      from: '',
      to: '',
      changed: 2,
      images: [
        { name: 'a', from: '1', to: '1' },
        { name: 'c', from: '', to: '3' },
        { name: 'b', from: '1', to: '' },
      ],
    });
    assert.deepEqual(step(['a:1'], ['a:1', 'c:3']), ['', '3', 1]);
    assert.deepEqual(step([], []), ['', '', 0]);
  });
});
