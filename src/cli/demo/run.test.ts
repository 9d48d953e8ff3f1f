import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { run as runMain } from '../testing/index.ts';
import type { StartManager } from './environment.ts';
import { type DemoFlags, resolveDemoOptions } from './options.ts';
import { runDemo } from './run.ts';
import { endsAtOnce, ignoresBudget, ignoresHooks, ignoresOwners, updatesOfflineNodes } from './testing/managers.ts';
import { createPlainView } from './view/index.ts';

const run = (
  parts: readonly string[],
  flags: DemoFlags,
  startManager?: StartManager,
  onOutput: (text: string) => void = () => undefined,
) => {
  let out = '';
  let err = '';
  const stop = new AbortController();
  const view = createPlainView((text) => {
    out += text;
    onOutput(text);
  });
  const options = resolveDemoOptions(parts, { speed: '30', ...flags });
  const stderr = (text: string): void => void (err += text);
  const code = runDemo(options, { view, stderr, signal: stop.signal, ...(startManager && { startManager }) });
  return { code, out: () => out, err: () => err, stop };
};

test('all parts pass, and write their picture', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-test-'));
  try {
    const picture = path.join(folder, 'rollout.svg');
    const demo = run([], { fleet: '10', picture });
    assert.equal(await demo.code, 0, demo.out() + demo.err());
    assert.match(demo.out(), /All 22 steps passed/);
    assert.match(demo.out(), /most nodes down at once 1 of a budget of 1/);
    assert.equal(demo.out().match(/^ +[\d.]+s {4}ok /gm)?.length, 22);
    const drawn = await readFile(picture, 'utf8');
    assert.match(drawn, /A good version, half way/);
    assert.match(drawn, /A bad version, halted/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

for (const [what, part, manager, ...errors] of [
  [
    'updates offline nodes',
    'auto',
    updatesOfflineNodes,
    /step 3 of 4 \(Change the image to nginx:1\.19\.5\) failed: expected .*; saw /,
    /openyurt-e2e-test-worker[23]/,
  ],
  [
    'exceeds the budget',
    'fleet',
    ignoresBudget,
    /step 3 of 6 \(Roll out version 2, a good one\) failed: expected the budget to hold/,
    /online nodes were down at once \(.*shop-\d+.*\), the limit is 1/,
  ],
  ['does not wait for owners', 'ota', ignoresOwners, /step 2 of 5 \(Publish nginx:1\.19\.5\) failed: expected /],
  [
    'does not wait for the hook',
    'advanced',
    ignoresHooks,
    /step 5 of 7 \(A preDelete hook: kiosk:4 has to wait\) failed: expected /,
  ],
  ['ends', 'auto', endsAtOnce, /expected the manager to run; saw that it ended/],
] as const)
  test(`a manager that ${what} fails the demo`, async () => {
    const demo = run([part], part === 'fleet' ? { fleet: '10' } : {}, manager);
    assert.equal(await demo.code, 1);
    for (const error of errors) assert.match(demo.err(), error);
  });

test('an interrupt ends the demo with an error message', async () => {
  const demo = run(['auto'], {}, undefined, (text) => {
    if (text.includes('step 2/4')) demo.stop.abort();
  });
  assert.equal(await demo.code, 1);
  assert.match(demo.err(), /interrupted/);
});

test('the edgeset commands that are printed work on the kept cluster', async () => {
  let commands: string[] = [];
  let environment: Record<string, string> = {};
  const kept = Promise.withResolvers<void>();
  const demo = run(['auto', 'ota', 'advanced', 'fleet'], { keep: true, fleet: '5' }, undefined, (text) => {
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(text)?.[1];
    if (kubeconfig === undefined) return;
    environment = { KUBECONFIG: kubeconfig };
    commands = [...text.matchAll(/^ {2}npx edgeset (.*?) *#/gm)].map((found) => found[1] ?? '');
    kept.resolve();
  });
  await Promise.race([kept.promise, demo.code]);
  assert.ok(commands.length >= 4, demo.out() + demo.err());
  for (const command of commands) {
    const { code, stdout, stderr } = await runMain(command.split(' '), { environment });
    assert.equal(code, 0, `${command}: ${stdout}${stderr}`);
  }
  demo.stop.abort();
  assert.equal(await demo.code, 0);
});
