import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { type Ran, run as runMain } from './testing/index.ts';
import { startEdgeset } from './testing/process.ts';
import { version } from './version.ts';

const root = path.join(import.meta.dirname, '..', '..');

const run = (...args: string[]): Promise<Ran> => runMain(args);

test('--version prints the version of the package', async () => {
  assert.deepEqual(await run('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
});

test('help goes to stdout and lists every command', async () => {
  for (const args of [['help'], ['--help']]) {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stderr], [0, '']);
    for (const command of ['manager', 'crds']) assert.match(stdout, new RegExp(`^ {2}${command}\\b`, 'm'));
  }
  const { code, stdout } = await run('help', 'manager');
  assert.equal(code, 0);
  assert.match(stdout, /--leader-elect \[boolean\]/);
});

test('a missing command prints help to stderr', async () => {
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^Usage: edgeset/);
});

const mistakes: [string[], RegExp][] = [
  [['manger'], /unknown command 'manger'[^]*Did you mean manager/],
  [
    ['manager', '--metrics-bind-adress=0'],
    /unknown option '--metrics-bind-adress=0'[^]*Did you mean --metrics-bind-address/,
  ],
  [['manager', '--predownload=maybe'], /--predownload: "maybe" is not known: give one of true, false/],
  [['manager', 'now'], /too many arguments/],
  [['manager', '--context'], /'--context <name>' argument missing/],
  [['manager', '--controllers=nativ'], /--controllers: "nativ" is not known: give one of native/],
  [['manager', '--leader-elect=maybe'], /--leader-elect: "maybe" is not known: give one of true, false/],
  [['crds', '--json'], /unknown option '--json'/],
  [['crds', '--controllers=nativ'], /--controllers: "nativ" is not known: give native or advanced/],
];
for (const [args, message] of mistakes) {
  test(`edgeset ${args.join(' ')} exits with 2 and an error on stderr`, async () => {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, message);
  });
}

test('crds prints the files of deploy/crds', async () => {
  const folder = path.join(root, 'deploy', 'crds');
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .toSorted();
  const { code, stdout, stderr } = await run('crds');
  assert.deepEqual([code, stderr], [0, '']);
  const withoutHeader = files.map((name) => readFileSync(path.join(folder, name), 'utf8').replace(/^#.*\n/, ''));
  assert.equal(stdout, withoutHeader.join('---\n'));
  for (const document of parseAllDocuments(stdout)) assert.deepEqual(document.errors, []);
});

test('crds prints the CRDs of all or of the given controllers', async () => {
  const names = async (...args: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await run('crds', ...args);
    assert.deepEqual([code, stderr], [0, '']);
    return parseAllDocuments(stdout).map(
      (document) => (document.toJS() as { metadata: { name: string } }).metadata.name,
    );
  };
  const both = ['daemonsets.apps.kruise.io', 'daemonrollouts.edgeset.io'];
  assert.deepEqual(await names(), both);
  assert.deepEqual(await names('--controllers=advanced'), both);
  assert.deepEqual(await names('--controllers=native'), ['daemonrollouts.edgeset.io']);
});

test('crds of native DaemonSets load neither the manager nor the client', { timeout: 20_000 }, async () => {
  const edgeset = startEdgeset(['crds', '--controllers=native'], { NODE_DEBUG: 'esm' });
  assert.equal(await edgeset.ended, 0);
  assert.match(edgeset.stdout(), /^kind: CustomResourceDefinition$/m);
  assert.match(edgeset.stderr(), /\/src\/cli\/crds\.ts/, 'the loader tells what it loads');
  assert.doesNotMatch(edgeset.stderr(), /\/src\/(manager|kube|native)\/|prom-client|undici/);
});

const bin = (name: string): string => path.join(root, 'bin', name);
const spawn = (file: string, ...args: string[]) => spawnSync(file, args, { encoding: 'utf8', timeout: 30_000 });

describe('executables', () => {
  it('are all installed by the package', () => {
    for (const name of ['edgeset', 'kubectl-edgeset', 'kubectl_complete-edgeset'] as const)
      assert.equal(manifest.bin[name], `bin/${name}`);
  });

  it('kubectl-edgeset prints help for `kubectl edgeset`, also through a symlink', () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-bin-'));
    try {
      const link = path.join(dir, 'kubectl-edgeset');
      symlinkSync(bin('kubectl-edgeset'), link);
      const asked = spawn(link, '--help');
      assert.deepEqual([asked.status, asked.stderr], [0, '']);
      assert.match(asked.stdout, /^Usage: kubectl edgeset /);
      const missing = spawn(link);
      assert.deepEqual([missing.status, missing.stdout], [2, '']);
      assert.match(missing.stderr, /^Usage: kubectl edgeset /);
      assert.match(spawn(link, 'plan', '--help').stdout, /^Usage: kubectl edgeset plan .*<daemonset>/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('kubectl_complete-edgeset prints completions, or nothing without an installation', () => {
    const { stdout, stderr, status } = spawn(bin('kubectl_complete-edgeset'), 'wait', '--ti');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^--timeout\thow long to wait, .*\n:4\n$/);
    const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-bin-'));
    try {
      mkdirSync(path.join(dir, 'bin'));
      const copy = path.join(dir, 'bin', 'kubectl_complete-edgeset');
      copyFileSync(bin('kubectl_complete-edgeset'), copy);
      const bare = spawn(copy, 'wait', '--ti');
      assert.deepEqual([bare.status, bare.stdout, bare.stderr], [0, ':4\n', '']);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
