import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { architectures } from './debian-packages.ts';
import { lockedNode, nodePackage } from './node-package.ts';

it('is the Node of the lockfile for every architecture', () => {
  for (const architecture of architectures) {
    const { version, integrity } = lockedNode(architecture);
    assert.equal(version, process.versions.node, 'the tests run on it');
    assert.match(integrity, /^sha512-/);
  }
});

it('is not accepted with other bytes than those of the lockfile', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-node-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { name, version } = lockedNode('arm64');
  const file = path.join(folder, `${name}-${version}.tgz`);
  writeFileSync(file, 'other bytes');
  assert.throws(() => nodePackage('arm64', folder), /has integrity sha512-.* and package-lock\.json says sha512-/);
  assert.ok(!existsSync(file), 'the next build downloads it again');
});
