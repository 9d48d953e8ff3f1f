import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { parse } from 'yaml';
import { platforms } from './executables.ts';
import { krewManifest } from './krew.ts';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    version: string;
    homepage: string;
    shortDescription: string;
    description: string;
    platforms: {
      selector: { matchLabels: Record<string, string> };
      uri: string;
      sha256: string;
      bin: string;
      files: { from: string; to: string }[];
    }[];
  };
}

const archives = platforms.map((platform) => [platform, Buffer.from(platform.os + platform.arch)] as const);
const manifest = parse(krewManifest(archives)) as Manifest;

// The rules of https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest, and of the validator that guards its index.
it('follows what krew asks of a manifest', () => {
  assert.deepEqual([manifest.apiVersion, manifest.kind], ['krew.googlecontainertools.github.com/v1alpha2', 'Plugin']);
  assert.match(manifest.metadata.name, /^[\w-]+$/);
  const { version, homepage, shortDescription, description, platforms: offered } = manifest.spec;
  assert.match(version, /^v\d+\.\d+\.\d+(-[\w.]+)?$/, 'semantic, with the letter v');
  assert.match(homepage, /^https:\/\//);
  assert.match(shortDescription, /^[A-Z][^\r\n]{1,49}[^.\r\n]$/, 'one short line without a full stop');
  // Its index wants no "kubectl" in it: each plugin belongs to kubectl.
  assert.doesNotMatch(shortDescription, /kubectl|plugin/i);
  for (const line of description.split('\n')) assert.ok(line.length <= 120, line);
  assert.equal(offered.length, archives.length);
  for (const { selector, uri, sha256, bin, files } of offered) {
    assert.deepEqual(Object.keys(selector), ['matchLabels']);
    assert.deepEqual(Object.keys(selector.matchLabels).toSorted(), ['arch', 'os']);
    assert.match(uri, /^https:\/\/.*\.(tar\.gz|zip)$/);
    assert.ok(uri.includes(`/${version}/`), 'an archive of this version');
    assert.match(sha256, /^[a-f0-9]{64}$/);
    assert.ok(files.every(({ from, to }) => from !== '' && to !== ''));
    // Its index asks for the license in each archive.
    assert.ok(files.some(({ from }) => from === 'LICENSE'));
    assert.ok(files.some(({ from }) => from === bin));
    assert.equal(bin, `kubectl-${manifest.metadata.name}`);
  }
});

it('names the archive of each platform once, with its checksum', () => {
  assert.deepEqual(
    manifest.spec.platforms.map(({ selector: { matchLabels }, sha256 }) => [matchLabels.os, matchLabels.arch, sha256]),
    archives.map(([{ os, arch }, content]) => [os, arch, createHash('sha256').update(content).digest('hex')]),
  );
});
