// Whoever reaches the dashboard, without a token, in the memory that it is shipped with.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { eventually } from '../support/index.ts';
import { kubectlApply, type RealCluster } from './index.ts';
import { limitMemory, type MemoryLimit } from './memory-limit.ts';
import { callDashboard, createUser, daemonSet, startDashboard, startDashboardCluster } from './served-dashboard.ts';

const HOSTILE = 2_048;
const ATTACK_MS = 20_000;
const EVERY_MS = 250;
/** Of the median answer, and of each, on a machine that runs the attack, too. */
const MEDIAN_MS = 1_000;
const MOST_MS = 10_000;
const MIB = 2 ** 20;

/** `512Mi` of the manifest. */
const shippedLimit = (): number => {
  const file = join(import.meta.dirname, '..', '..', 'deploy', 'dashboard', 'dashboard.yaml');
  const limit = parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document) => document.getIn(['spec', 'template', 'spec', 'containers', 0, 'resources', 'limits', 'memory']))
    .find((found) => found !== undefined);
  const [, mebibytes] = /^"(\d+)Mi"$/.exec(JSON.stringify(limit)) ?? [];
  assert.ok(mebibytes, 'the manifest has a limit of memory');
  return Number(mebibytes) * MIB;
};

let cluster: RealCluster;
let limit: MemoryLimit;
let shop: string;
before(async () => {
  limit = limitMemory(`edgeset-dashboard-${process.pid}`, shippedLimit());
  cluster = await startDashboardCluster();
  shop = await cluster.createNamespace('shop');
  await kubectlApply(cluster.kubeconfig, daemonSet(shop));
});
after(async () => {
  await cluster.stop();
  limit.remove();
});

/** Where the connections of each attack come from. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  '2,048 connections that do not read neither end it nor keep others out': ['127.0.0.1'],
  '2,048 connections from 32 addresses neither end it nor keep others out': Array.from(
    { length: 32 },
    (_, index) => `127.0.1.${index + 1}`,
  ),
};

for (const [name, addresses] of Object.entries(ATTACKS))
  test(name, async (t) => {
    const dashboard = await startDashboard(cluster, `dashboard-${addresses.length}`, limit.within);
    const { program } = dashboard;
    const token = await createUser(cluster, `viewer-${addresses.length}`, shop, false);
    const logIn = async (from: string): Promise<string> => {
      const { status, cookie, body } = await callDashboard(dashboard, 'POST', '/api/session', {
        body: { token },
        from,
      });
      assert.equal(status, 200, body);
      return cookie;
    };
    const cookie = await logIn('127.0.0.2');
    assert.equal((await callDashboard(dashboard, 'GET', '/api/session', { cookie, from: '127.0.0.2' })).status, 200);
    const page = (await callDashboard(dashboard, 'GET', '/', { from: '127.0.0.2' })).body;
    const sizes = await Promise.all(
      page.matchAll(/(?:src|href)="(\/[^"]+)"/g).map(async ([, path = '']) => {
        const { body } = await callDashboard(dashboard, 'GET', path, { from: '127.0.0.2' });
        return { path, bytes: body.length };
      }),
    );
    const [largest] = sizes.toSorted((a, b) => b.bytes - a.bytes);
    assert.ok(largest && largest.bytes > 50_000, JSON.stringify(sizes));
    const { path } = largest;
    const calm = limit.peak(program.pid);

    const took: number[] = [];
    const ask = async (asked: string): Promise<void> => {
      const startedAt = performance.now();
      const { status } = await callDashboard(dashboard, 'GET', asked, { cookie, from: '127.0.0.2' });
      assert.equal(status, 200, asked);
      took.push(performance.now() - startedAt);
    };
    const hostile = await cluster.plane.processes.start({
      name: `hostile-${addresses.length}`,
      file: process.execPath,
      args: [
        join(import.meta.dirname, 'hostile-client.ts'),
        String(dashboard.port),
        addresses.join(),
        String(HOSTILE),
        path,
      ],
    });
    await eventually('the attack has begun', async () => /"opened":[1-9]/.test(await hostile.log()), { everyMs: 50 });
    const endsAt = performance.now() + ATTACK_MS;
    while (performance.now() < endsAt) {
      for (const asked of ['/', path, '/api/session', '/api/labels']) await ask(asked);
      await delay(EVERY_MS);
    }
    const another = await logIn('127.0.0.3');
    const said = (await hostile.log()).trim().split('\n').at(-1);
    await hostile.stop();

    const peak = limit.peak(program.pid);
    took.sort((a, b) => a - b);
    const [median = Number.NaN, slowest = Number.NaN] = [took[Math.floor(took.length / 2)], took.at(-1)];
    t.diagnostic(
      `${limit.isEnforced ? 'within a control group' : 'no control group can be made here: peak of resident memory'}: ${Math.round(peak / MIB)} MiB ` +
        `of ${shippedLimit() / MIB} MiB at most, ${Math.round(calm / MIB)} MiB before; ${took.length} answers, the median after ` +
        `${median.toFixed(0)} ms, the slowest after ${slowest.toFixed(0)} ms; hostile: ${said}`,
    );
    assert.equal(program.ended, undefined, 'it runs');
    assert.ok(peak < shippedLimit() * 0.75, `${peak / MIB} MiB`);
    assert.ok(median < MEDIAN_MS && slowest < MOST_MS, `${median} ms, ${slowest} ms`);
    for (const one of [cookie, another])
      assert.equal(
        (await callDashboard(dashboard, 'GET', '/api/labels', { cookie: one })).status,
        200,
        'still logged in',
      );
    await program.stop();
    assert.equal(await program.exit, 0);
  });
