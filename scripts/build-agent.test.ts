import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { AGENT_FLAGS } from './agent-flags.ts';
import { buildAgent } from './build-agent.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-build-'));
let file = '';
let inputs: readonly string[] = [];

before(async () => {
  const bundle = await buildAgent(folder);
  file = bundle.file;
  inputs = Object.keys(bundle.metafile.inputs);
});
after(() => rmSync(folder, { recursive: true }));

test('the agent is one file that runs on its own, with the licences of what is in it beside it', () => {
  assert.deepEqual(readdirSync(folder).toSorted(), ['edgeset-agent.mjs', 'edgeset-agent.mjs.LEGAL.txt']);
  assert.match(
    execFileSync(process.execPath, [file, '--version'], { cwd: folder, encoding: 'utf8' }),
    /^\d+\.\d+\.\d+\n$/,
  );
  assert.match(execFileSync(process.execPath, [file, '--help'], { cwd: folder, encoding: 'utf8' }), /--node-name/);
});

test('its flags may be given with and without its name, and a bad one is refused', () => {
  for (const name of [[], ['agent']]) {
    const { status, stderr } = spawnSync(process.execPath, [file, ...name, '--node-name', 'A b'], { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /--node-name/);
  }
});

test('the page is inside, and what builds it is not', () => {
  const text = readFileSync(file, 'utf8');
  assert.match(text, /id=\\"page\\"|id="page"/);
  assert.ok(!inputs.some((input) => input.includes('build-page') || input.includes('esbuild')));
});

test('nothing that only other processes need takes room on a device', () => {
  const banned =
    /prom-client|hono|kubernetes-types|undici\/lib\/(mock|milo|cache)|undici\/index|zod\/v4\/classic|src\/(sim|manager|native)\//;
  assert.deepEqual(
    inputs.filter((input) => banned.test(input)),
    [],
  );
  const text = readFileSync(file);
  assert.ok(text.byteLength < 900_000, `${text.byteLength} bytes`);
  // With a single letter above Latin-1, V8 would hold two bytes for each of the file's characters.
  assert.equal(
    text.findIndex((byte) => byte > 127),
    -1,
  );
});

test('what starts it on devices gives it the flags at once', () => {
  const root = path.join(import.meta.dirname, '..');
  const flagsIn = (name: string, pattern: RegExp): readonly string[] => {
    const [, flags = ''] = pattern.exec(readFileSync(path.join(root, name), 'utf8')) ?? [];
    return flags.match(/--[\w=-]+/g) ?? [];
  };
  const unit = flagsIn('deploy/agent/edgeset-agent.service', /ExecStart=\S+node (.*) \\\n/);
  assert.deepEqual(unit, AGENT_FLAGS);
  assert.deepEqual(flagsIn('Containerfile', /ENTRYPOINT \["node", (.*)"\/app\/edgeset-agent\.mjs"\]/), AGENT_FLAGS);
});
