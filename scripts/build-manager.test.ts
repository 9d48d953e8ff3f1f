import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { buildManager } from './build-manager.ts';
import { MANAGER_FLAGS } from './manager-flags.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-build-'));
let file = '';
let inputs: readonly string[] = [];

before(async () => {
  const bundle = await buildManager(folder);
  file = bundle.file;
  inputs = Object.keys(bundle.metafile.inputs);
});
after(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]) =>
  spawnSync(process.execPath, [...MANAGER_FLAGS, file, ...args], { cwd: '/', encoding: 'utf8', env: {} });

test('the manager is one file that runs on its own, with the licences of what is in it beside it', () => {
  assert.deepEqual(readdirSync(folder).toSorted(), ['edgeset-manager.mjs', 'edgeset-manager.mjs.LEGAL.txt']);
  const crds = run('crds');
  assert.equal(crds.status, 0, crds.stderr);
  assert.match(crds.stdout, /^kind: CustomResourceDefinition$/m);
  // Loads the manager whole, then refuses.
  const manager = run('manager', '--log-format=none');
  assert.equal(manager.status, 2, manager.stderr);
  assert.match(manager.stderr, /^edgeset: --log-format: /);
});

test('nothing that only other processes need is in it', () => {
  const banned = /undici\/lib\/(mock|milo|cache)|undici\/index|src\/(sim|agent)\/|\/cli\/(demo|plugin|cluster)\//;
  assert.deepEqual(
    inputs.filter((input) => banned.test(input)),
    [],
  );
});

test('what starts it gives it the flags', () => {
  const flagsIn = (name: string, pattern: RegExp): readonly string[] => {
    const [, flags = ''] = pattern.exec(readFileSync(path.join(import.meta.dirname, '..', name), 'utf8')) ?? [];
    return flags.match(/--[\w=-]+/g) ?? [];
  };
  assert.deepEqual(flagsIn('Containerfile', /ENTRYPOINT \["node", (.*)"\/app\/edgeset-manager\.mjs"\]/), MANAGER_FLAGS);
  assert.deepEqual(flagsIn('bin/edgeset', /set -- (.*) "\$bundle" "\$@"/), MANAGER_FLAGS);
});
