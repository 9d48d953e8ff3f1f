import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };

const root = path.join(import.meta.dirname, '..', '..', '..');
const bin = (name: string): string => path.join(root, 'bin', name);
const run = (file: string, ...args: string[]) => spawnSync(file, args, { encoding: 'utf8', timeout: 30_000 });

describe('the executables', () => {
  it('are all installed by the package', () => {
    for (const name of ['edgeset', 'kubectl-edgeset', 'kubectl_complete-edgeset'] as const)
      assert.equal(manifest.bin[name], `bin/${name}`);
  });

  it('kubectl-edgeset shows help under the name that the user typed, also through a link', () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-bin-'));
    try {
      const link = path.join(dir, 'kubectl-edgeset');
      symlinkSync(bin('kubectl-edgeset'), link);
      const asked = run(link, '--help');
      assert.deepEqual([asked.status, asked.stderr], [0, '']);
      assert.match(asked.stdout, /^Usage: kubectl edgeset /);
      const missing = run(link);
      assert.deepEqual([missing.status, missing.stdout], [2, '']);
      assert.match(missing.stderr, /^Usage: kubectl edgeset /);
      assert.match(run(link, 'plan', '--help').stdout, /^Usage: kubectl edgeset plan .*<daemonset>/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('kubectl_complete-edgeset answers, and is silent where nothing is installed', () => {
    const { stdout, stderr, status } = run(bin('kubectl_complete-edgeset'), 'wait', '--ti');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^--timeout\thow long, .*\n:4\n$/);
    const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-bin-'));
    try {
      mkdirSync(path.join(dir, 'bin'));
      const copy = path.join(dir, 'bin', 'kubectl_complete-edgeset');
      copyFileSync(bin('kubectl_complete-edgeset'), copy);
      const bare = run(copy, 'wait', '--ti');
      assert.deepEqual([bare.status, bare.stdout, bare.stderr], [0, ':4\n', '']);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
