import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { archiveNameOf, buildArchive, type Platform } from '../../scripts/release/executables.ts';
import { startBackground } from './background.ts';
import { createMachine, type Machine } from './installation.ts';

const root = path.join(import.meta.dirname, '..', '..');
const platform: Platform = { os: 'linux', arch: process.arch === 'arm64' ? 'arm64' : 'amd64' };
const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'edgeset/images');
const skip = process.platform === 'linux' ? false : 'runs the executable for Linux';

describe('kubectl-edgeset as an executable', { skip, timeout: 300_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-executable-'));
  const unpacked = path.join(folder, 'unpacked');
  let archive: Buffer;
  let machine: Machine;
  /** Runs it with nothing but itself on the PATH. */
  const run = (...args: string[]) =>
    spawnSync(path.join(unpacked, 'kubectl-edgeset'), args, {
      encoding: 'utf8',
      env: { PATH: unpacked, HOME: folder, KUBECONFIG: machine.environment.KUBECONFIG, NODE_OPTIONS: '--no-such-flag' },
    });

  before(async () => {
    archive = await buildArchive(platform, cache);
    mkdirSync(unpacked);
    writeFileSync(path.join(folder, 'archive.tar.gz'), archive);
    execFileSync('tar', ['-xzf', path.join(folder, 'archive.tar.gz'), '-C', unpacked]);
    machine = createMachine(path.join(folder, 'machine'), process.execPath);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is in an archive with its licenses, which a second build makes again byte by byte', async () => {
    assert.match(archiveNameOf(platform), /^kubectl-edgeset_v\d+\.\d+\.\d+_linux_(amd64|arm64)\.tar\.gz$/);
    assert.deepEqual(readdirSync(unpacked).toSorted(), [
      'LICENSE',
      'THIRD_PARTY_LICENSES',
      'kubectl-edgeset',
      'kubectl_complete-edgeset',
    ]);
    assert.match(readFileSync(path.join(unpacked, 'THIRD_PARTY_LICENSES'), 'utf8'), /---- zod [^]*---- Node/);
    const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
    assert.equal(digest(await buildArchive(platform, cache)), digest(archive));
  });

  it('runs without Node, whatever NODE_OPTIONS says', async () => {
    const { KUBECONFIG = '' } = machine.environment;
    const program = path.join(root, 'bin/edgeset.ts');
    const cluster = startBackground(machine, `node ${program} cluster --kubeconfig-out ${KUBECONFIG}`);
    try {
      await cluster.until(/^export KUBECONFIG/m);
      await machine.run(`node ${program} crds | kubectl apply -f -`);
      const { status, stderr } = run('status');
      assert.equal(status, 0);
      assert.match(stderr, /^No rollouts in namespace default\.\n/);
      assert.match(run('--help').stdout, /^Usage: kubectl edgeset /);
      assert.match(run('__complete', 'wait', '--ti').stdout, /^--timeout\t/);
    } finally {
      await cluster.stop();
    }
  });

  it('is a plugin of kubectl without a warning, and completes', () => {
    const tools = path.join(folder, 'tools');
    mkdirSync(tools);
    symlinkSync(
      execFileSync('/bin/sh', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim(),
      path.join(tools, 'kubectl'),
    );
    const kubectl = (...args: string[]) =>
      spawnSync(path.join(tools, 'kubectl'), args, {
        encoding: 'utf8',
        env: { PATH: `${unpacked}:${tools}`, HOME: folder },
      });
    const listed = kubectl('plugin', 'list');
    assert.deepEqual([listed.status, listed.stderr], [0, '']);
    assert.match(listed.stdout, /\/unpacked\/kubectl-edgeset\n/);
    assert.match(kubectl('edgeset', '--version').stdout, /^\d+\.\d+\.\d+\n$/);
    assert.match(kubectl('__complete', 'edgeset', 'wait', '--ti').stdout, /^--timeout\t/m);
  });
});
