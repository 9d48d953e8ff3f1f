import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { main } from '../main.ts';
import { startAgent } from './agent.ts';
import { startEmbeddedCluster } from './embedded-cluster.ts';
import { type StartManager, startManager } from './manager.ts';
import { type DemoFlags, resolveDemoOptions } from './options.ts';
import { runDemo } from './run.ts';
import {
  startBlindManager,
  startHastyManager,
  startPushyManager,
  startRashManager,
  startShortManager,
} from './testing/managers.ts';
import { createPlainView } from './view/index.ts';

const play = async (
  parts: readonly string[],
  flags: DemoFlags,
  manager: StartManager = startManager,
  onSay: (text: string) => void = () => undefined,
) => {
  let out = '';
  let err = '';
  const stop = new AbortController();
  const view = createPlainView((text) => {
    out += text;
    onSay(text);
  });
  const options = resolveDemoOptions(parts, { speed: '30', ...flags });
  const cast = { startCluster: startEmbeddedCluster, startManager: manager, startAgent };
  const code = runDemo(options, cast, { view, stderr: (text) => (err += text), signal: stop.signal });
  return { code, out: () => out, err: () => err, stop };
};

test('all parts hold, and draw their picture', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-test-'));
  try {
    const picture = path.join(folder, 'rollout.svg');
    const run = await play([], { fleet: '10', picture });
    assert.equal(await run.code, 0, run.out() + run.err());
    assert.match(run.out(), /All 22 steps held/);
    assert.match(run.out(), /most nodes down at once 1 of a budget of 1/);
    assert.equal(run.out().match(/^ +[\d.]+s {4}ok /gm)?.length, 22);
    const drawn = await readFile(picture, 'utf8');
    assert.match(drawn, /A good version, half way/);
    assert.match(drawn, /A bad version, stopped/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a manager that does not skip offline nodes fails the step that shows it', async () => {
  const run = await play(['auto'], {}, startBlindManager);
  assert.equal(await run.code, 1);
  assert.match(run.err(), /step 3 of 4 \(Change the image to nginx:1\.19\.5\) failed: expected .*; saw /);
  assert.match(run.err(), /openyurt-e2e-test-worker[23]/);
});

test('a manager that takes all nodes down at once is seen to exceed the budget', async () => {
  const run = await play(['fleet'], { fleet: '10' }, startRashManager);
  assert.equal(await run.code, 1);
  assert.match(run.err(), /step 3 of 6 \(Roll out version 2, a good one\) failed: expected the budget to hold/);
  assert.match(run.err(), /online nodes were down at once \(.*shop-\d+.*\), 1 may be/);
});

test('a manager that does not wait for owners fails the step that only announces', async () => {
  const run = await play(['ota'], {}, startPushyManager);
  assert.equal(await run.code, 1);
  assert.match(run.err(), /step 2 of 5 \(Publish nginx:1\.19\.5\) failed: expected /);
});

test('a manager that does not wait for the hook fails the step that shows it', async () => {
  const run = await play(['advanced'], {}, startHastyManager);
  assert.equal(await run.code, 1);
  assert.match(run.err(), /step 5 of 7 \(A preDelete hook: kiosk:4 has to wait\) failed: expected /);
});

test('a manager that ends fails the demo', async () => {
  const run = await play(['auto'], {}, startShortManager);
  assert.equal(await run.code, 1);
  assert.match(run.err(), /expected the manager to run; saw that it ended/);
});

test('an interruption ends it with a failure and a word', async () => {
  const run = await play(['auto'], {}, startManager, (text) => {
    if (text.includes('step 2/4')) run.stop.abort();
  });
  assert.equal(await run.code, 1);
  assert.match(run.err(), /interrupted/);
});

test('the kept cluster answers to the edgeset commands that the closing lines name', async () => {
  let commands: string[] = [];
  let environment: Record<string, string> = {};
  const kept = Promise.withResolvers<void>();
  const run = await play(['auto', 'ota', 'advanced', 'fleet'], { keep: true, fleet: '5' }, startManager, (text) => {
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(text)?.[1];
    if (kubeconfig === undefined) return;
    environment = { KUBECONFIG: kubeconfig };
    commands = [...text.matchAll(/^ {2}npx edgeset (.*?) *#/gm)].map((found) => found[1] ?? '');
    kept.resolve();
  });
  await Promise.race([kept.promise, run.code]);
  assert.ok(commands.length >= 4, run.out() + run.err());
  for (const command of commands) {
    let said = '';
    const io = { stdout: (text: string) => (said += text), stderr: (text: string) => (said += text) };
    const code = await main(command.split(' '), { ...io, terminal: false, environment, random: Math.random });
    assert.equal(code, 0, `${command}: ${said}`);
  }
  run.stop.abort();
  assert.equal(await run.code, 0);
});
