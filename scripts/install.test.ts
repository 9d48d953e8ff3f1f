import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** A clone with an npm that ends with this code. */
const install = (exit: number, installed = false): { status: number | null; stderr: string } => {
  const root = mkdtempSync(path.join(tmpdir(), 'edgeset-install-'));
  folders.push(root);
  const [scripts, bin, modules] = ['scripts', 'bin', 'node_modules'].map((name) => path.join(root, name));
  for (const folder of [scripts, bin, modules]) mkdirSync(folder ?? '');
  const script = path.join(scripts ?? '', 'install.mjs');
  copyFileSync(path.join(import.meta.dirname, 'install.mjs'), script);
  writeFileSync(path.join(bin ?? '', 'npm'), `#!/bin/sh\necho "npm $*"\nexit ${exit}\n`, { mode: 0o755 });
  if (installed) writeFileSync(path.join(modules ?? '', '.package-lock.json'), '{}');
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  assert.equal(stdout, '', 'what the caller prints stays its own');
  return { status, stderr };
};

describe('installation', () => {
  it('says what it does, how long that takes, and when it is done', () => {
    const { status, stderr } = install(0);
    assert.equal(status, 0);
    const [starts, npm, ends] = stderr.split('\n');
    assert.match(starts ?? '', /^edgeset: installing the packages of .*; once, in under a minute$/);
    assert.equal(npm, 'npm ci');
    assert.match(ends ?? '', /^edgeset: installed in \d+ s$/);
  });

  it('says nothing where nothing is to be done', () => {
    assert.deepEqual(install(1, true), { status: 0, stderr: '' });
  });

  it('fails with npm', () => {
    const { status, stderr } = install(1);
    assert.equal(status, 1);
    assert.match(stderr, /edgeset: npm ci failed\n$/);
    assert.doesNotMatch(stderr, /installed in/);
  });
});
