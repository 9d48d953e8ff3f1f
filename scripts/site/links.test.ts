import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteLink } from './links.ts';

const pages = new Set([
  'README.md',
  'decisions/0002-b.md',
  'decisions/0001-a.md',
  'how-to/undo.md',
  'reference/cli.md',
]);
const from = (page: string, link: string): string => siteLink(page, link, { pages, ref: 'v0.1.0' });

test('links between pages stay, with their anchors', () => {
  assert.equal(from('how-to/undo.md', '../reference/cli.md#set-up'), '../reference/cli.md#set-up');
  assert.equal(from('README.md', 'how-to/undo.md'), './how-to/undo.md');
  assert.equal(from('how-to/undo.md', '#what-stays'), '#what-stays');
});

test('the index of the documentation is the index of the site', () => {
  assert.equal(from('how-to/undo.md', '../README.md#do'), '../index.md#do');
});

test('a link to a folder leads to its first page', () => {
  assert.equal(from('README.md', 'decisions/'), './decisions/0001-a.md');
});

test('files and folders of the repository are on GitHub, as the ref has them', () => {
  const github = 'https://github.com/edgeset/edgeset';
  assert.equal(from('README.md', '../CHANGELOG.md#010'), `${github}/blob/v0.1.0/CHANGELOG.md#010`);
  assert.equal(from('how-to/undo.md', '../../deploy/gitops/'), `${github}/tree/v0.1.0/deploy/gitops/`);
});

test('other addresses, and links to what does not exist, stay as they are', () => {
  for (const link of ['https://kubernetes.io/docs#a', 'mailto:a@example.com', 'nothing/'])
    assert.equal(from('README.md', link), link);
  assert.equal(from('README.md', 'gone.md'), './gone.md');
});
