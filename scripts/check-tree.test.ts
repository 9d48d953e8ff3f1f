import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeChecker } from './check-tree.ts';

const check = treeChecker({
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
  const local = treeChecker({ paths: [], registries: ['http://127.0.0.1:4873/', 'off', 'direct', ''] });
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

test('marks of unfinished work are found, but not in digests', () => {
  const mark = ['TO', 'DO'].join('');
  assert.deepEqual(lines('src/a/b.ts', `// ${mark}: later`), [1]);
  assert.deepEqual(lines('go.sum', `h1:ab/${mark}/c=`), []);
});

test('a source file of 400 lines passes, one of 401 does not', () => {
  assert.deepEqual(lines('src/a/b.ts', 'x\n'.repeat(400)), []);
  assert.deepEqual(lines('src/a/b.ts', 'x\n'.repeat(401)), [401]);
  assert.deepEqual(lines('docs/a.md', 'x\n'.repeat(401)), []);
});

test('a binary file is left alone', () => {
  assert.deepEqual(check('web/icon.png', `\0${['FIX', 'ME'].join('')} `), []);
});
