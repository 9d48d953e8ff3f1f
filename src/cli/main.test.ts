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
    assert.match(
      stdout,
      /\nFlags may stand before or after the command\. "edgeset COMMAND --help" lists them, with examples;\n"edgeset options" lists those/,
    );
    for (const command of ['manager', 'crds']) assert.match(stdout, new RegExp(`^ {2}${command}\\b`, 'm'));
  }
  const { code, stdout } = await run('help', 'manager');
  assert.equal(code, 0);
  assert.match(stdout, /--leader-elect \[boolean\]/);
});

test('the help of every command ends with examples that name the program as it was called', async () => {
  for (const [environment, called] of [
    [{}, 'edgeset'],
    [{ npm_command: 'exec' }, 'npx edgeset'],
  ] as const) {
    const { stdout } = await runMain(['help'], { environment });
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*(?:\[options\]|<shell>)/gm)].map(([, name = '']) => name);
    assert.ok(commands.length >= 13, commands.join(' '));
    for (const name of commands) {
      const help = await runMain(['help', name], { environment });
      assert.match(
        help.stdout,
        new RegExp(
          `\nExamples:\n(  # [^\n]+\n  ${called} ${name}\\b[^\n]*\n)+(\nUse "${called} options" [^\n]+\n)?\n?$`,
        ),
        name,
      );
    }
  }
});

test('options lists the flags that the help of each command names in one line', async () => {
  const { code, stdout, stderr } = await run('options');
  assert.deepEqual([code, stderr], [0, '']);
  const help = (await run('help', 'status')).stdout;
  const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+) +(?:<\w+> +)?\w/gm)].map(([, flag = '']) => flag);
  assert.ok(flags.includes('--namespace') && flags.includes('--as-group') && flags.length > 14, flags.join(' '));
  for (const flag of flags) assert.ok(!help.includes(`${flag} `), flag);
  assert.match(
    help,
    /\nUse "edgeset options" for the flags that choose the cluster, the namespace and the user, such as -n\.\n$/,
  );
});

test('a missing command prints help to stderr', async () => {
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^Usage: edgeset/);
});

const mistakes: [string[], RegExp][] = [
  [['manger'], /^edgeset: unknown command "manger": did you mean manager\? Run "edgeset --help"\n$/],
  [
    ['manager', '--metrics-bind-adress=0'],
    /unknown option "--metrics-bind-adress=0": did you mean --metrics-bind-address\? Run "edgeset manager --help"/,
  ],
  [['manager', '--predownload=maybe'], /--predownload: "maybe" is not known: give one of true, false/],
  [['manager', 'now'], /^edgeset: too many arguments: expected 0 but got 1 \(now\): run "edgeset manager --help"\n$/],
  [['manager', '--context'], /^edgeset: --context: the value is missing: give --context <name>\n$/],
  [['manager', '--controllers=nativ'], /--controllers: "nativ" is not known: give one of native/],
  [['manager', '--leader-elect=maybe'], /--leader-elect: "maybe" is not known: give one of true, false/],
  [['crds', '--json'], /^edgeset: unknown option "--json": run "edgeset crds --help"\n$/],
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
  assert.deepEqual(stdout.split(/^---\n/m).toSorted(), withoutHeader.toSorted());
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
  const ours = ['daemonrollouts', 'rolloutplans', 'clusterrolloutplans', 'rolloutapprovals'];
  const native = ours.map((plural) => `${plural}.edgeset.io`);
  const both = ['daemonsets.apps.kruise.io', ...native];
  assert.deepEqual(await names(), both);
  assert.deepEqual(await names('--controllers=advanced'), both);
  assert.deepEqual(await names('--controllers=native'), native);
});

test('crds of native DaemonSets load neither the manager nor the client', { timeout: 60_000 }, async () => {
  const edgeset = startEdgeset(['crds', '--controllers=native'], { NODE_DEBUG: 'esm' });
  assert.equal(await edgeset.ended, 0);
  assert.match(edgeset.stdout(), /^kind: CustomResourceDefinition$/m);
  assert.match(edgeset.stderr(), /\/src\/cli\/crds\.ts/, 'the loader tells what it loads');
  assert.doesNotMatch(edgeset.stderr(), /\/src\/(manager|kube|native)\/|prom-client/);
});

const bin = (name: string): string => path.join(root, 'bin', name);
const spawn = (file: string, ...args: string[]) => spawnSync(file, args, { encoding: 'utf8', timeout: 60_000 });

describe('executables', () => {
  it('are all installed by the package', () => {
    for (const name of readdirSync(path.join(root, 'bin')).filter((file) => !file.includes('.')))
      assert.equal(new Map(Object.entries(manifest.bin)).get(name), `dist/cli/${name}.mjs`);
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
