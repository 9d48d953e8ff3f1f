import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { architectures, debianPackages, withDebianPackages } from './debian-packages.ts';

it('has the same packages in the same versions for every architecture', () => {
  const [first = [], ...others] = architectures.map((architecture) =>
    debianPackages(architecture).map(({ name, version }) => `${name} ${version}`),
  );
  assert.ok(first.length > 0);
  for (const other of others) assert.deepEqual(other, first);
});

it('names each file by architecture and checksum', () => {
  for (const architecture of architectures)
    for (const { filename, sha256 } of debianPackages(architecture)) {
      assert.match(filename, new RegExp(`^pool/.*_${architecture}\\.deb$`));
      assert.match(sha256, /^[0-9a-f]{64}$/);
    }
});

it('refuses a file with another checksum', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-deb-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const { filename } of debianPackages('amd64'))
    writeFileSync(path.join(folder, path.basename(filename)), 'other');
  assert.throws(
    () => withDebianPackages('amd64', folder, () => undefined),
    /\.deb has not the SHA-256 of scripts\/images\/debian-packages\.json: remove it$/,
  );
});
