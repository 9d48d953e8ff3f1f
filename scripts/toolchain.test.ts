import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

// Each test gets a bare clone of a tiny project and a stand-in for npm, which notes how it was called.

const scripts = import.meta.dirname;
const scratch: string[] = [];
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const dir of scratch.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const lockfile = (version: string): string =>
  JSON.stringify({
    packages: {
      '': { name: 'tiny', dependencies: { a: version } },
      'node_modules/a': { version, integrity: `sha512-${version}` },
      'node_modules/other-os': { version: '1.0.0', optional: true, os: ['plan9'] },
      'node_modules/this-os': { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] },
    },
  });

const installNode = `
  mkdirSync('node_modules/node/bin', { recursive: true });
  symlinkSync(${JSON.stringify(process.execPath)}, 'node_modules/node/bin/node');`;

const setVersion = (dir: string, version: string): void => {
  writeFileSync(path.join(dir, 'package.json'), JSON.stringify({ dependencies: { a: version } }));
  writeFileSync(path.join(dir, 'package-lock.json'), lockfile(version));
};

const npmThat = (does: string): string => `
  const { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
  appendFileSync('npm-calls', process.argv[2] + '\\n');
  const install = () => {
    rmSync('node_modules', { recursive: true, force: true });
    mkdirSync('node_modules/node', { recursive: true });
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    delete lock.packages['node_modules/other-os'];
    writeFileSync('node_modules/.package-lock.json', JSON.stringify(lock));
  };
  ${does}`;

const clone = (npmDoes: string): string => {
  const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-toolchain-'));
  scratch.push(dir);
  mkdirSync(path.join(dir, 'scripts'));
  for (const file of ['run.mjs', 'toolchain.mjs', 'lock.mjs', 'follow-parent.mjs'])
    cpSync(path.join(scripts, file), path.join(dir, 'scripts', file));
  cpSync(path.join(scripts, '..', 'bin', 'edgeset'), path.join(dir, 'bin', 'edgeset'));
  setVersion(dir, '1.0.0');
  writeFileSync(path.join(dir, 'npm.cjs'), npmThat(npmDoes));
  return dir;
};

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

const start = (
  dir: string,
  command: string,
  args: readonly string[],
): { child: ChildProcess; ended: Promise<Ended> } => {
  const child = spawn(command, args, {
    cwd: dir,
    env: {
      ...process.env,
      npm_execpath: path.join(dir, 'npm.cjs'),
      npm_node_execpath: process.execPath,
      // What outlives a failed test ends with it.
      npm_lifecycle_event: 'test',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended };
};

// Nodes before 22.15 cannot replace their process: the second way must do the same.
const WITHOUT_EXECVE = ['--import', 'data:text/javascript,delete process.execve'];
const run = (dir: string, args: readonly string[], nodeOptions: readonly string[] = []): Promise<Ended> =>
  start(dir, process.execPath, [...nodeOptions, 'scripts/run.mjs', ...args]).ended;

const npmCalls = (dir: string): string[] => {
  const file = path.join(dir, 'npm-calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

const healthy = `install(); ${installNode}`;

for (const [way, options] of [
  ['by replacing the process', []],
  ['by a child process', WITHOUT_EXECVE],
] as const) {
  test(`a bare clone installs once, then runs the command under the pinned Node ${way}`, async () => {
    const dir = clone(healthy);
    const script = 'console.log(process.env.PATH.split(":")[0], process.argv.slice(1).join()); process.exit(7)';
    const first = await run(dir, ['-e', script, 'x', '--y'], options);
    assert.equal(first.code, 7, first.stderr);
    assert.equal(first.stdout.trim(), `${path.join(dir, 'node_modules/node/bin')} x,--y`);
    const second = await run(dir, ['-e', script], options);
    assert.equal(second.code, 7);
    assert.equal(second.stderr, '', 'nothing is said when nothing is done');
    assert.deepEqual(npmCalls(dir), ['install']);
  });

  test(`signals reach the command, and its death by one is passed up, ${way}`, { timeout: 10_000 }, async () => {
    const dir = clone(healthy);
    await run(dir, ['-e', '0']);
    const script = `process.on('SIGUSR2', () => process.kill(process.pid, 'SIGKILL')); setInterval(() => {}, 1000); console.log('up')`;
    const { child, ended } = start(dir, process.execPath, [...options, 'scripts/run.mjs', '-e', script]);
    child.stdout?.once('data', () => child.kill('SIGUSR2'));
    assert.equal((await ended).signal, 'SIGKILL');
  });
}

for (const [death, signal, victim] of [
  ['npm passes SIGTERM to its shell', 'SIGTERM', 'shell'],
  ['npm is killed', 'SIGKILL', 'npm'],
] as const) {
  test(`what npx started ends gracefully when ${death}`, { skip: !existsSync('/proc/self/stat') }, async () => {
    const dir = clone(healthy);
    writeFileSync(
      path.join(dir, 'bin/edgeset.ts'),
      `process.on('SIGTERM', () => { console.log('bye'); process.exit(); }); setInterval(() => {}, 1000); console.log('up', process.pid, '');`,
    );
    await run(dir, ['-e', '0']);
    // npm's shape: it starts a shell that starts the command and does not become it.
    const npm = `const shell = require('node:child_process').spawn('sh', ['-c', 'bin/edgeset; true'],
        { stdio: 'inherit', env: { ...process.env, npm_lifecycle_event: 'npx' } });
      process.on('SIGUSR2', () => shell.kill('SIGTERM')); setInterval(() => {}, 1000);`;
    const { child, ended } = start(dir, process.execPath, ['-e', npm]);
    let all = '';
    const said = new Promise<void>((resolve) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        if (all === '') child.kill(victim === 'npm' ? signal : 'SIGUSR2');
        all += chunk.toString();
        if (all.includes('bye')) resolve();
      });
    });
    await Promise.race([said, sleep(5_000, undefined, { ref: false })]);
    child.kill('SIGKILL');
    if (!all.includes('bye')) process.kill(Number(all.split(' ')[1]), 'SIGKILL');
    await ended;
    assert.match(all, /^up \d+ \nbye\n$/);
  });
}

test('a changed lockfile installs again, a foreign optional package does not', async () => {
  const dir = clone(healthy);
  await run(dir, ['-e', '0']);
  setVersion(dir, '2.0.0');
  assert.equal((await run(dir, ['-e', '0'])).code, 0);
  assert.deepEqual(npmCalls(dir), ['install', 'install']);
});

test('a lockfile that does not fit package.json is named before anything is installed', async () => {
  const dir = clone(healthy);
  writeFileSync(path.join(dir, 'package.json'), JSON.stringify({ dependencies: { a: '3.0.0' } }));
  const { code, stderr } = await run(dir, ['-e', '0']);
  assert.equal(code, 1);
  assert.match(stderr, /disagree about dependencies: run `npm install`/);
  assert.deepEqual(npmCalls(dir), []);
});

test('a native package that an older Node left out is installed', async () => {
  const dir = clone(healthy);
  await run(dir, ['-e', '0']);
  const record = path.join(dir, 'node_modules/.package-lock.json');
  const without = readFileSync(record, 'utf8').replace('node_modules/this-os', 'node_modules/else');
  writeFileSync(record, without);
  assert.equal((await run(dir, ['-e', '0'])).code, 0);
  assert.deepEqual(npmCalls(dir), ['install', 'install']);
});

test('a torn install, which has no lockfile of its own, is done again', async () => {
  const dir = clone(healthy);
  await run(dir, ['-e', '0']);
  rmSync(path.join(dir, 'node_modules/.package-lock.json'));
  assert.equal((await run(dir, ['-e', '0'])).code, 0);
  assert.deepEqual(npmCalls(dir), ['install', 'install']);
});

test("a failing install shows npm's whole output and the cure", async () => {
  const dir = clone(
    `console.log('before'); console.error('npm error code ENOTFOUND\\nnpm error details'); process.exit(1)`,
  );
  const { code, stderr } = await run(dir, ['-e', 'console.log("ran")']);
  assert.equal(code, 1);
  for (const part of ['before', 'npm error details', 'check the network']) assert.ok(stderr.includes(part), stderr);
});

test('a Node whose install script was not run is fetched without npm’s leave', async () => {
  const dir = clone(`install(); writeFileSync('node_modules/node/installArchSpecificPackage.js',
    ${JSON.stringify(`const { mkdirSync, symlinkSync } = require('node:fs'); process.chdir('../..'); ${installNode}`)})`);
  const { code, stderr } = await run(dir, ['-e', '0']);
  assert.equal(code, 0, stderr);
});

test('a Node that cannot be fetched is named, with the output that explains it', async () => {
  const dir = clone(
    `install(); writeFileSync('node_modules/node/installArchSpecificPackage.js', 'console.log("npm error code ECONNREFUSED")')`,
  );
  const { code, stderr } = await run(dir, ['-e', '0']);
  assert.equal(code, 1);
  assert.match(stderr, /npm error code ECONNREFUSED\n.*node_modules\/node\/bin\/node is missing/);
  assert.match(stderr, /check the network/);
});

test('two runs at once install once', async () => {
  const dir = clone(`setTimeout(() => { ${healthy} }, 300)`);
  const ended = await Promise.all([1, 2, 3].map(() => run(dir, ['-e', '0'])));
  assert.deepEqual(
    ended.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.deepEqual(npmCalls(dir), ['install']);
});

test('the lock of a run that was killed is taken over', async () => {
  const dir = clone(healthy);
  const dead = start(dir, process.execPath, ['-e', '0']);
  await dead.ended;
  mkdirSync(path.join(dir, '.cache'));
  writeFileSync(path.join(dir, '.cache/install.lock'), `${dead.child.pid}\n`);
  assert.equal((await run(dir, ['-e', '0'])).code, 0);
  assert.deepEqual(npmCalls(dir), ['install']);
});

test('bin/edgeset installs, keeps stdout clean, and becomes the product through a link', async () => {
  const dir = clone(healthy);
  chmodSync(path.join(dir, 'bin/edgeset'), 0o755);
  writeFileSync(
    path.join(dir, 'bin/edgeset.ts'),
    'const pid: number = process.pid; console.log(pid, process.argv.slice(2).join());',
  );
  mkdirSync(path.join(dir, 'links'));
  symlinkSync('../bin/edgeset', path.join(dir, 'links/edgeset'));
  for (const _ of [1, 2]) {
    const { child, ended } = start(dir, path.join(dir, 'links/edgeset'), ['crds', '--x']);
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.equal(stdout, `${child.pid} crds,--x\n`, 'the process that was started is the product');
  }
  assert.deepEqual(npmCalls(dir), ['install']);
});
