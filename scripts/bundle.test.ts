import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AGENT_FLAGS, DASHBOARD_FLAGS, MANAGER_FLAGS } from '../bin/flags.ts';
import { type Bundle, buildCli, buildImagePrograms } from './bundle.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-build-'));
let agent: Bundle;
let manager: Bundle;
let dashboard: Bundle;
let cli: Bundle;

before(async () => {
  [{ agent, manager, dashboard }, cli] = await Promise.all([
    buildImagePrograms(folder),
    buildCli(path.join(folder, 'cli')),
  ]);
});
after(() => rmSync(folder, { recursive: true }));

const inputsMatching = ({ metafile }: Bundle, pattern: RegExp): string[] =>
  Object.keys(metafile.inputs).filter((input) => pattern.test(input));

/** Node's flags in a line of a file of the repository. */
const flagsIn = (name: string, pattern: RegExp): readonly string[] => {
  const [, flags = ''] = pattern.exec(readFileSync(path.join(import.meta.dirname, '..', name), 'utf8')) ?? [];
  return flags.match(/--[\w=-]+/g) ?? [];
};

describe('the bundled agent', () => {
  const run = (...args: string[]) => spawnSync(process.execPath, [agent.file, ...args], { encoding: 'utf8' });

  it('is one file that runs by itself, with the licenses of what is in it beside it', () => {
    assert.deepEqual(readdirSync(path.join(folder, 'agent')).toSorted(), [
      'edgeset-agent.mjs',
      'edgeset-agent.mjs.LEGAL.txt',
    ]);
    const elsewhere = { cwd: folder, encoding: 'utf8' } as const;
    assert.match(execFileSync(process.execPath, [agent.file, '--version'], elsewhere), /^\d+\.\d+\.\d+\n$/);
    assert.match(execFileSync(process.execPath, [agent.file, '--help'], elsewhere), /--node-name/);
  });

  it('takes its flags with and without its name, and refuses a bad one', () => {
    for (const name of [[], ['agent']]) {
      const { status, stderr } = run(...name, '--node-name', 'A b');
      assert.equal(status, 2);
      assert.match(stderr, /--node-name/);
    }
  });

  it('holds the page, but not what builds it', () => {
    assert.match(readFileSync(agent.file, 'utf8'), /id=\\"page\\"|id="page"/);
    assert.deepEqual(inputsMatching(agent, /scripts\/|esbuild/), []);
  });

  it('holds nothing that only other processes need', () => {
    assert.deepEqual(
      inputsMatching(agent, /prom-client|hono|kubernetes-types|undici|zod\/v4\/classic|src\/(sim|manager|native)\//),
      [],
    );
    const text = readFileSync(agent.file);
    assert.ok(text.byteLength < 600_000, `${text.byteLength} bytes`);
  });

  it('is ASCII', () => assert.ok(isAscii(readFileSync(agent.file))));

  it('gets the flags from everything that starts it on devices', () => {
    assert.deepEqual(flagsIn('deploy/agent/edgeset-agent.service', /ExecStart=\S+node (.*) \\\n/), AGENT_FLAGS);
    assert.deepEqual(flagsIn('bin/edgeset', /set -- (--max-semi-space-size=1 .*) \\\n/), AGENT_FLAGS);
  });
});

for (const [name, flags] of [
  ['agent', AGENT_FLAGS],
  ['manager', MANAGER_FLAGS],
  ['dashboard', DASHBOARD_FLAGS],
] as const)
  it(`a signal opens no inspector in the ${name}`, async () => {
    const program = 'process.stdin.resume(); process.once("SIGTERM", () => process.exit(7)); console.log("ready");';
    const child = spawn(process.execPath, [...flags, '-e', program], { stdio: ['pipe', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await once(child.stdout, 'data');
    child.kill('SIGUSR1');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'close'), [7, null]);
    assert.equal(stderr, '');
  });

describe('the bundled manager', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...MANAGER_FLAGS, manager.file, ...args], { cwd: '/', encoding: 'utf8', env: {} });

  it('is one file that runs by itself, with the licenses of what is in it beside it', () => {
    assert.deepEqual(readdirSync(path.join(folder, 'manager')).toSorted(), [
      'edgeset-manager.mjs',
      'edgeset-manager.mjs.LEGAL.txt',
    ]);
    const crds = run('crds');
    assert.equal(crds.status, 0, crds.stderr);
    assert.match(crds.stdout, /^kind: CustomResourceDefinition$/m);
    // This loads the whole manager before it refuses the flag.
    const refused = run('manager', '--log-format=none');
    assert.equal(refused.status, 2, refused.stderr);
    assert.match(refused.stderr, /^edgeset: --log-format: /);
    // Checks of stages need it, so nothing would notice at the start.
    assert.match(readFileSync(manager.notices, 'utf8'), /^---- @marcbachmann\/cel-js \d/m);
  });

  it('holds nothing that only other processes need', () => {
    assert.deepEqual(inputsMatching(manager, /undici|src\/(sim|agent)\/|\/cli\/(demo|plugin|cluster)\//), []);
  });

  // The pattern of durations in CEL has a µ.
  it('is ASCII: a single other character would double the memory that Node needs for the file', () =>
    assert.ok(isAscii(readFileSync(manager.file))));

  it('gets the flags from everything that starts it', () => {
    assert.deepEqual(flagsIn('bin/edgeset', /set -- (.*) "\$bundle" "\$@"/), MANAGER_FLAGS);
  });
});

describe('the bundled dashboard', () => {
  it('is one file that runs by itself, with the licenses of what is in it beside it', () => {
    assert.deepEqual(readdirSync(path.join(folder, 'dashboard')).toSorted(), [
      'edgeset-dashboard.mjs',
      'edgeset-dashboard.mjs.LEGAL.txt',
    ]);
    const args = [...DASHBOARD_FLAGS, dashboard.file, 'dashboard', '--listen=:0'];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: '/', encoding: 'utf8', env: {} });
    assert.equal(status, 2);
    assert.match(stderr, /^edgeset: --listen: needs --tls-cert-file/);
  });

  it('holds the page, and nothing that only other processes need', () => {
    assert.match(readFileSync(dashboard.file, 'utf8'), /id=\\"page\\"|id="page"/);
    const foreign = /undici|scripts\/|prom-client|src\/(sim|agent|manager)\//;
    assert.deepEqual(inputsMatching(dashboard, foreign), []);
  });
});

describe('the bundled command line', () => {
  const run = (name: string, ...args: string[]) =>
    spawnSync(path.join(folder, 'cli', `${name}.mjs`), args, {
      cwd: '/',
      encoding: 'utf8',
      env: { PATH: path.dirname(process.execPath), XDG_CACHE_HOME: path.join(folder, 'cache') },
    });

  it('runs by itself under all of its names', () => {
    assert.deepEqual(
      ['edgeset', 'kubectl-edgeset'].map((name) => /^Usage: (.*?) \[/.exec(run(name, '--help').stdout)?.[1]),
      ['edgeset', 'kubectl edgeset'],
    );
    assert.match(run('kubectl_complete-edgeset', 'wait', '--ti').stdout, /^--timeout\t.*\n:4\n$/);
    const crds = run('edgeset', 'crds');
    assert.equal(crds.stderr, '');
    assert.match(crds.stdout, /^kind: CustomResourceDefinition$/m);
  });

  it('starts the manager and the agent as the programs of their own that are beside it', () => {
    const { status, stderr } = run('edgeset', 'manager', '--log-format=none');
    assert.deepEqual([status, stderr], [2, 'edgeset: --log-format: "none" is not known: give one of json, text\n']);
    assert.match(run('edgeset', 'agent', '--node-name', 'A b').stderr, /^edgeset-agent: --node-name: /);
  });

  it('holds what kubectl explain shows of built-in kinds', () => {
    const text = readFileSync(path.join(folder, 'cli/descriptions.txt'), 'utf8');
    assert.match(text, /^core\.v1\.PodSpec\.containers List of containers .*$/m);
    assert.match(text, /^meta\.v1\.ObjectMeta\.creationTimestamp .*UTC\.\\n\\nPopulated by .*$/m);
    assert.match(text, /^api\.resource\.Quantity ./m);
    assert.ok(text.length < 500_000, `${text.length} characters`);
  });

  it('loads modules of Node as Node does, which reads none of their exports', () => {
    for (const { file } of [agent, manager, cli, { file: path.join(folder, 'cli/edgeset.mjs') }])
      assert.doesNotMatch(readFileSync(file, 'utf8'), /(from|import|require\() ?["']node:(?!ffi)/, file);
  });

  describe('keeps what V8 compiled', () => {
    const cache = path.join(folder, 'kept');
    const start = (command: string, env: Readonly<Record<string, string>> = {}) =>
      spawnSync(path.join(folder, 'cli/edgeset.mjs'), [command], {
        encoding: 'utf8',
        env: { PATH: path.dirname(process.execPath), XDG_CACHE_HOME: cache, ...env },
      });
    const compiled = path.join(cache, 'edgeset/compiled');
    const kept = (): string[] => (existsSync(compiled) ? readdirSync(compiled) : []);

    it('for each command, beside what other programs cache for the user', () => {
      assert.equal(start('crds', { NODE_DISABLE_COMPILE_CACHE: '1' }).status, 0);
      assert.deepEqual(kept(), []);
      assert.equal(start('crds').status, 0);
      const [name = '', ...others] = kept();
      assert.match(name, new RegExp(`^[0-9a-f]{16}-${process.version}-${process.arch}-crds$`));
      assert.deepEqual(others, []);
      const { ino } = statSync(path.join(compiled, name));
      assert.match(start('crds').stdout, /^kind: CustomResourceDefinition$/m);
      assert.equal(statSync(path.join(compiled, name)).ino, ino, 'it is used, and not written again');
    });

    it('but nothing of a command that is mistyped', () => {
      assert.equal(start('crd').status, 2);
      assert.deepEqual(
        kept().filter((name) => name.endsWith('-crd')),
        [],
      );
    });

    it('and starts without it if it is damaged, or cannot be written', () => {
      const [name = ''] = kept();
      const file = path.join(compiled, name);
      const whole = readFileSync(file);
      for (const damaged of [Buffer.alloc(0), Buffer.alloc(whole.length), whole.subarray(0, whole.length / 2)]) {
        writeFileSync(file, damaged);
        assert.deepEqual([start('crds').status, start('crds').stderr], [0, '']);
        assert.ok(readFileSync(file).length > whole.length * 0.9, 'it is written again');
      }
      const blocked = start('crds', { XDG_CACHE_HOME: '/dev/null' });
      assert.deepEqual([blocked.status, blocked.stderr], [0, '']);
    });
  });

  it('passes on the license of every package of which it holds code', () => {
    const notices = readFileSync(`${cli.file}.LEGAL.txt`, 'utf8');
    for (const { name, license, texts } of cli.packages) {
      assert.match(license, /^(MIT|ISC|Apache-2\.0)$/, name);
      assert.ok(texts.length > 0, `${name} has no license file`);
      assert.ok(texts.every((text) => notices.includes(text)));
    }
    for (const name of ['zod', '@marcbachmann/cel-js', 'kubernetes-types', 'preact', 'temporal-polyfill'])
      assert.match(notices, new RegExp(`^---- ${name} \\d`, 'm'));
  });
});
