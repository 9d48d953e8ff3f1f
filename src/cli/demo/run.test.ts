import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Addresses } from '../../dashboard/index.ts';
import { openAddress } from '../../dashboard/testing/index.ts';
import { run as runMain } from '../testing/index.ts';
import type { StartManager } from './environment.ts';
import { type DemoFlags, resolveDemoOptions } from './options.ts';
import { createPlainView } from './plain-view.ts';
import { runDemo } from './run.ts';
import {
  endsAtOnce,
  ignoresBudget,
  ignoresHooks,
  ignoresOwners,
  ignoresPlans,
  updatesOfflineNodes,
} from './testing/managers.ts';

/** At 30 times real time, an agent's requests time out after fractions of a second, which a busy machine needs. */
const SPEED_WITH_AGENTS = '12';

const run = (
  parts: readonly string[],
  flags: DemoFlags,
  startManager?: StartManager,
  onOutput: (text: string) => void = () => undefined,
  openPage: (addresses: Addresses) => void = () => undefined,
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
  const code = runDemo(options, { view, stderr, signal: stop.signal, openPage, ...(startManager && { startManager }) });
  return { code, out: () => out, err: () => err, stop };
};

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
    /step 3 of 7 \(Roll out version 2, a good one\) failed: expected the budget to hold/,
    /online nodes were down at once \(.*(berlin|cologne|hamburg|munich)-\d+.*\), the limit is 1/,
  ],
  ['does not wait for owners', 'ota', ignoresOwners, /step 2 of 5 \(Publish nginx:1\.19\.5\) failed: expected /],
  [
    'does not wait for the hook',
    'advanced',
    ignoresHooks,
    /step 5 of 7 \(A preDelete hook: kiosk:4 has to wait\) failed: expected /,
  ],
  [
    'does not stage the rollout',
    'rings',
    ignoresPlans,
    /step 3 of 8 \(checkout:2 passes the lab, but not the canary ring\) failed: expected the pods on .* to stay; saw /,
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
    if (text.includes('step 2 of 4')) demo.stop.abort();
  });
  assert.equal(await demo.code, 1);
  assert.match(demo.err(), /interrupted/);
});

test('the dashboard shows the cluster in its own time, while the demo runs and after it', async () => {
  const opened = Promise.withResolvers<string>();
  const kept = Promise.withResolvers<void>();
  const heard = (text: string): void => {
    if (text.includes('The dashboard is still there.')) kept.resolve();
  };
  const demo = run(['auto'], { dashboard: true }, undefined, heard, (addresses) =>
    opened.resolve(addresses.newAddress()),
  );
  const address = await Promise.race([opened.promise, demo.code.then(String)]);
  const { origin, hash } = new URL(address);
  assert.match(hash, /^#code=[\w-]+\/default\/ds\/nginx-daemonset$/, 'the one rollout of this part');
  const headers = await openAddress(address);
  const page = await fetch(origin);
  assert.match(await page.text(), /<div id="page">/);

  const leave = new AbortController();
  const stream = `${origin}/api/rollouts/default/ds/nginx-daemonset`;
  const { body } = await fetch(stream, { headers, signal: leave.signal });
  assert.ok(body);
  let told = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    told += text;
    // Two workers were cut off, and came back.
    const cutOff = told.lastIndexOf('"offline":2');
    if (cutOff >= 0 && told.lastIndexOf('"updated":3') > cutOff) break;
  }
  leave.abort();
  const [, now = ''] = /"type":"clock","now":(\d+)/.exec(told) ?? [];
  assert.ok(Number(now) < Date.now() - 60_000, 'the clock of the cluster starts in the past');
  await Promise.race([kept.promise, demo.code]);
  assert.match(demo.out(), /All 4 steps passed/);
  demo.stop.abort();
  assert.equal(await demo.code, 0);
});

test('all parts pass, write their picture, and print commands that work on the kept cluster', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeset-test-'));
  try {
    let commands: string[] = [];
    let environment: Record<string, string> = {};
    const kept = Promise.withResolvers<void>();
    const picture = path.join(folder, 'rollout.svg');
    const flags = { keep: true, fleet: '10', picture, speed: SPEED_WITH_AGENTS };
    const demo = run([], flags, undefined, (text) => {
      const kubeconfig = /export KUBECONFIG=(\S+)/.exec(text)?.[1];
      if (kubeconfig === undefined) return;
      environment = { KUBECONFIG: kubeconfig };
      commands = [...text.matchAll(/^ {2}npx edgeset (.*?) *#/gm)].map((found) => found[1] ?? '');
      kept.resolve();
    });
    await Promise.race([kept.promise, demo.code]);
    assert.ok(commands.length >= 4, demo.err() + demo.out());
    for (const command of commands) {
      const { code, stdout, stderr } = await runMain(command.split(' '), { environment });
      assert.equal(code, 0, `${command}: ${stdout}${stderr}`);
    }
    demo.stop.abort();
    assert.equal(await demo.code, 0, demo.err() + demo.out());
    assert.match(demo.out(), /All 31 steps passed/);
    const [first = ''] = /^ *[\d.]+s {4}nodes .*$/m.exec(demo.out()) ?? [];
    assert.doesNotMatch(first, /budget/, 'the first version uses none');
    for (const [budget, used, limit] of demo.out().matchAll(/budget (\d+)\/(\d+)/g))
      assert.ok(Number(used) <= Number(limit), budget);
    assert.match(demo.out(), /most nodes down at once 1 of a budget of 1/);
    assert.equal(demo.out().match(/^ *[\d.]+s {4}ok /gm)?.length, 31);
    const drawn = await readFile(picture, 'utf8');
    assert.match(drawn, /A good version, half way/);
    assert.match(drawn, /A bad version, halted/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
