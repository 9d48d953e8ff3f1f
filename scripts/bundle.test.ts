import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AGENT_FLAGS, MANAGER_FLAGS } from '../bin/flags.ts';
import { type Bundle, buildAgent, buildManager } from './bundle.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-build-'));
let agent: Bundle;
let manager: Bundle;

before(async () => {
  [agent, manager] = await Promise.all([
    buildAgent(path.join(folder, 'agent')),
    buildManager(path.join(folder, 'manager')),
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
      inputsMatching(
        agent,
        /prom-client|hono|kubernetes-types|undici\/lib\/(mock|milo|cache)|undici\/index|zod\/v4\/classic|src\/(sim|manager|native)\//,
      ),
      [],
    );
    const text = readFileSync(agent.file);
    assert.ok(text.byteLength < 900_000, `${text.byteLength} bytes`);
    // With a single character above Latin-1, V8 would need two bytes for each character of the file.
    assert.equal(
      text.findIndex((byte) => byte > 127),
      -1,
    );
  });

  it('gets the flags from everything that starts it on devices', () => {
    assert.deepEqual(flagsIn('deploy/agent/edgeset-agent.service', /ExecStart=\S+node (.*) \\\n/), AGENT_FLAGS);
    assert.deepEqual(flagsIn('Containerfile', /ENTRYPOINT \["node", (.*)"\/app\/edgeset-agent\.mjs"\]/), AGENT_FLAGS);
  });
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
  });

  it('holds nothing that only other processes need', () => {
    assert.deepEqual(
      inputsMatching(
        manager,
        /undici\/lib\/(mock|milo|cache)|undici\/index|src\/(sim|agent)\/|\/cli\/(demo|plugin|cluster)\//,
      ),
      [],
    );
  });

  it('gets the flags from everything that starts it', () => {
    assert.deepEqual(
      flagsIn('Containerfile', /ENTRYPOINT \["node", (.*)"\/app\/edgeset-manager\.mjs"\]/),
      MANAGER_FLAGS,
    );
    assert.deepEqual(flagsIn('bin/edgeset', /set -- (.*) "\$bundle" "\$@"/), MANAGER_FLAGS);
  });
});
