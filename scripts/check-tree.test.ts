import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadLinks, leakFinder, misnamedErrors, unlistedPages } from './check-tree.ts';

const check = leakFinder({
  paths: ['/srv/ci/edgeset', '/tmp'],
  registries: ['https://mirror.example.net/npm/', 'https://go.example.net,direct'],
});
const lines = (file: string, text: string): number[] => check(file, text).map(({ line }) => line);

test('a clean file passes', () => {
  assert.deepEqual(
    check('src/kube/a.ts', "const dir = join(tmpdir(), 'x');\nconst image = 'registry.k8s.io/pause';\n"),
    [],
  );
});

test('a registry host is found, the well-known ones and the one that this machine uses', () => {
  const known = ['registry', 'npmjs', 'org'].join('.');
  assert.deepEqual(lines('docs/a.md', `x\nhttps://${known}/undici`), [2]);
  assert.deepEqual(lines('docs/a.md', 'npm i --registry https://mirror.example.net/npm/'), [1]);
  assert.deepEqual(lines('Dockerfile', 'ENV GOPROXY=https://go.example.net'), [1]);
  assert.deepEqual(lines('docs/a.md', 'a mirror at example.net'), []);
});

test('loopback addresses and words among the registry settings forbid nothing', () => {
  const local = leakFinder({ paths: [], registries: ['http://127.0.0.1:4873/', 'off', 'direct', ''] });
  assert.deepEqual(local('src/a/b.ts', 'http://127.0.0.1:10267/ off direct'), []);
});

test('an address in the lockfile is found', () => {
  assert.deepEqual(lines('package-lock.json', '{\n  "resolved": "https://a.example/x.tgz"\n}'), [2]);
  assert.deepEqual(lines('package-lock.json', '{\n  "integrity": "sha512-abc"\n}'), []);
});

test('registry settings and credentials in .npmrc are found', () => {
  for (const line of ['registry=https://a.example', '@x:registry=https://a.example', '//a.example/:_authToken=1']) {
    assert.deepEqual(lines('.npmrc', `fund=false\n${line}`), [2], line);
  }
});

test("paths of somebody's machine are found, paths that only look alike are not", () => {
  for (const dir of ['home', 'Users', 'root', 'builds']) assert.deepEqual(lines('a.md', `cd /${dir}/ann/x`), [1], dir);
  assert.deepEqual(lines('a.md', 'see /srv/ci/edgeset/README.md'), [1]);
  for (const text of ['/apis/home/x', '$HOME/root/x', '/tmp/x', 'a/root/b', '/srv/ci/edgeset-2']) {
    assert.deepEqual(lines('a.md', text), [], text);
  }
});

test('skips binary files', () => {
  assert.deepEqual(check('web/icon.png', ['\0', 'home/ann/x'].join(' /')), []);
});

const pages: Record<string, string> = {
  'docs/guide/other.md': '# Other\n\n## What `it` does, and why\n\n```\n# no heading\n```\n',
  'docs/images/a.png': '',
};
const found = (text: string): string[] => {
  const all: Record<string, string> = { ...pages, 'docs/guide/page.md': text };
  const tree = { exists: (file: string) => file in all, read: (file: string) => all[file] ?? '' };
  return deadLinks('docs/guide/page.md', tree).map(({ line, message }) => `${line}: ${message}`);
};

test('links may lead to files, headings, pictures and other sites', () => {
  const links = [
    '[a](other.md)',
    '[b](other.md#what-it-does-and-why)',
    '[c](#here) ![d](../images/a.png) <img src="../images/a.png">',
    '[e](https://example.org/x.md) <http://127.0.0.1:10267/>',
    '# Here',
    '```\n[in code](nowhere.md)\n```',
  ];
  assert.deepEqual(found(links.join('\n')), []);
});

test('dead links are found, with their line', () => {
  assert.deepEqual(found('x\n[a](gone.md) [b](other.md#no-heading)\n<img src="gone.png">'), [
    '2: links to gone.md: docs/guide/gone.md does not exist',
    '2: links to other.md#no-heading: docs/guide/other.md has no such heading',
    '3: links to gone.png: docs/guide/gone.png does not exist',
  ]);
});

test('the time of the machine is found in the product, and a conversion is not', () => {
  assert.deepEqual(lines('src/a/b.ts', 'const now = new Date();\nconst text = Date();\nnew Date(0);'), [1, 2]);
  assert.deepEqual(lines('src/a/b.test.ts', 'new Date()'), []);
});

test('an error without a name, or with the name of another class, is found', () => {
  const inLines = (text: string): number[] => misnamedErrors('src/a.ts', text).map(({ line }) => line);
  assert.deepEqual(inLines("class AError extends Error {\n  override readonly name = 'AError';\n}\n"), []);
  assert.deepEqual(inLines("class B extends AError {\n  constructor() {\n    this.name = 'B';\n  }\n}\n"), []);
  assert.deepEqual(inLines('class AError extends Error {}\n'), [1]);
  assert.deepEqual(inLines("\nexport class AError extends Error {\n  name = 'BError';\n}\n"), [2]);
  assert.deepEqual(inLines("class B extends Error {}\nclass C extends B {\n}\nconst name = 'C';\n"), [1, 2]);
  assert.deepEqual(inLines('class Store extends Map {\n}\n'), []);
});

test('a page that the index of the documentation leaves out is found', () => {
  const index = '[a](how-to/a.md#part) [all decisions](decisions/)';
  const files = ['docs/README.md', 'docs/how-to/a.md', 'docs/how-to/b.md', 'docs/decisions/0001.md', 'README.md'];
  const unlisted = unlistedPages(files, 'docs/README.md', { read: () => index });
  assert.deepEqual(
    unlisted.map(({ file }) => file),
    ['docs/how-to/b.md'],
  );
});

test('a folder beside a page of its name is listed by that page', () => {
  const listings: Readonly<Record<string, string>> = {
    'docs/README.md': '[line](cli.md) [undo](cli/undo.md)',
    'docs/cli.md': '[get](cli/get.md)',
  };
  const files = [...Object.keys(listings), 'docs/cli/get.md', 'docs/cli/undo.md'];
  assert.deepEqual(unlistedPages(files, 'docs/README.md', { read: (file) => listings[file] ?? '' }), [
    { file: 'docs/cli/undo.md', line: 1, message: 'is not in docs/cli.md: add it there, with a sentence' },
  ]);
});
