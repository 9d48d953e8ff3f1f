import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Checkout, notesOf, problemsOf } from './state.ts';

const good: Checkout = {
  version: '1.2.0',
  status: '',
  tags: ['v1.2.0', 'nightly'],
  chart: { version: '1.2.0', appVersion: '1.2.0' },
  changelog:
    '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-22\n\n- One.\n\n## [1.1.0] - 2026-01-01\n\n- Zero.\n',
  repository: { url: 'https://github.com/edgeset/edgeset', workflow: 'edgeset/edgeset' },
};

const bad: readonly [string, Partial<Checkout>, RegExp][] = [
  ['changes', { status: ' M README.md\n?? new.ts\n' }, /2 changed or new files \(README\.md\): commit them/],
  ['no tag', { tags: ['nightly'] }, /has no tag: run "git tag v1\.2\.0"/],
  ['another tag', { tags: ['v1.1.0'] }, /tag v1\.1\.0, and package\.json has the version 1\.2\.0/],
  ['another chart', { chart: { version: '1.1.0', appVersion: '1.2.0' } }, /Chart\.yaml has version 1\.1\.0/],
  ['a version without notes', { version: '1.2.1' }, /no section "## \[1\.2\.1\]"/],
  ['empty notes', { changelog: '## [1.2.0]\n\n## [1.1.0]\n\n- Zero.\n' }, /says nothing under \[1\.2\.0\]/],
  ['a fork', { repository: { ...good.repository, workflow: 'you/edgeset' } }, /and this is you\/edgeset/],
];

describe('the state of the checkout', () => {
  it('is fit for a release', () => {
    assert.deepEqual(problemsOf(good), []);
    assert.deepEqual(problemsOf({ ...good, repository: { url: good.repository.url } }), []);
  });

  for (const [name, change, message] of bad)
    it(`is refused with ${name}`, () => {
      assert.match(problemsOf({ ...good, ...change }).join('\n'), message);
    });
});

it('the notes are those of the version, else what is not released yet, with every image by its digest', () => {
  const images = ['docker.io/edgeset/manager@sha256:1', 'docker.io/edgeset/agent@sha256:2'];
  const notes = notesOf(good, images);
  assert.match(
    notes,
    /^- One\.\n\n### Images\n\n```\ndocker.*manager@sha256:1\ndocker.*agent@sha256:2\n```\n\nSigned .*\n$/,
  );
  const changelog = '## [Unreleased]\n\n- Two.\n\n## [1.2.0]\n\n- One.\n';
  assert.match(notesOf({ ...good, changelog, version: '1.3.0' }, images), /^- Two\.\n\n### Images/);
});
