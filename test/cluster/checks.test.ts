// Checks of stages that ask a real Prometheus which is right, wrong, empty, slow or down.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CheckResult, createCheckRunner } from '../../src/checks/index.ts';
import type { KubeClient } from '../../src/kube/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import { eventually } from '../support/index.ts';
import { findPromtool } from './helm/promtool.ts';
import { createProcesses, type Processes } from './processes.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

const promtool = findPromtool();
const skip = 'missing' in promtool && promtool.missing;
const dir = mkdtempSync(join(tmpdir(), 'edgeset-checks-'));
let processes: Processes;
let prometheus: Prometheus;
/** In front of Prometheus, and what it does: pass bytes on, or keep those of the answer. */
let proxy: Server;
let isSlow = false;
const sockets = new Set<Socket>();

const urlOf = (server: Server): string => {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
};

before(async () => {
  if ('missing' in promtool) return;
  processes = createProcesses(dir);
  prometheus = await startPrometheus({ dir, processes }, { file: promtool.prometheus });
  const { hostname, port } = new URL(prometheus.url);
  proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('close', () => upstream.destroy());
    client.pipe(upstream);
    if (!isSlow) upstream.pipe(client);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  if ('missing' in promtool) return;
  for (const socket of sockets) socket.destroy();
  proxy.close();
  await processes.close();
  promtool.close();
});

/** The results of a check of a plan of the cluster, until one of them is as wanted. */
const until = async (
  query: string,
  condition: string,
  wanted: (result: CheckResult) => boolean,
  { address = prometheus.url, timeoutMs = 30_000 }: { address?: string; timeoutMs?: number } = {},
): Promise<CheckResult[]> => {
  const results: CheckResult[] = [];
  const stopping = new AbortController();
  // There are no Secrets to read.
  const client = {} as KubeClient;
  const runner = createCheckRunner({ client, clock: systemClock, log: silentLogger, timeoutMs });
  const subject = {
    namespace: 'shop',
    daemonSet: 'web',
    revision: '7d9',
    previousRevision: '6c8',
    stage: 'canary',
    secretNamespace: 'shop',
    clusterPlan: true,
    owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', uid: 'u1' },
  };
  const check = { name: 'c', prometheus: { address, query, condition, interval: '1s', failureLimit: 1 } };
  const changed = (result: CheckResult): void => void results.push(result);
  const ended = runner.run(check, subject, systemClock.now(), 0, changed, stopping.signal);
  const isThere = (): boolean => results.some(wanted);
  await eventually(`the check of ${query}`, isThere, { everyMs: 20 }).finally(() => stopping.abort());
  await ended;
  return results;
};

const any = (): boolean => true;
const first = async (...args: [query: string, condition: string]): Promise<string> => {
  const [{ state, message } = { state: '', message: '' }] = await until(...args, any);
  return `${state}: ${message}`;
};

describe('a check that asks Prometheus', { skip }, () => {
  it('passes when the condition is true for all samples', async () => {
    const two = 'vector(0.02) or label_replace(vector(0.04), "a", "b", "", "")';
    assert.match(await first(two, 'result.all(r, r < 0.05)'), /^Passing: .* is true for 0\.0[24], 0\.0[24]\./);
    assert.match(await first('scalar(vector(3))', 'result[0] == 3.0'), /^Passing/);
    assert.match(await first('vector(1) / vector(0)', 'result[0] > 100.0'), /^Passing: .* for Infinity\./);
    const text = 'label_replace(vector(1), "ds", "${daemonSet}/${stage}", "", "")';
    assert.match(await first(text, 'size(result) == 1'), /Query: .*"web\/canary"/);
  });

  it('fails when it is false more often than the limit lets be', async () => {
    const results = await until('vector(7)', 'result.all(r, r < 0.05)', ({ state }) => state === 'Failed');
    assert.deepEqual(
      results.map(({ state, failures }) => `${state} ${failures}`),
      ['Failing 1', 'Failed 2'],
    );
  });

  for (const [name, query, problem] of [
    ['no sample', 'no_such_metric', /no sample/],
    ['NaN', 'vector(0) / vector(0)', /NaN/],
    ['an error of syntax', 'sum(', /bad_data: .*parse error/],
    ['an error of the evaluation', 'vector(1) * on() group_left vector(1) or up > bool "x"', /bad_data/],
    ['a range', 'vector(1)[1m:10s]', /returns a matrix: write one/],
    ['a text', '"x"', /returns a string: write one/],
  ] as const)
    it(`has no result for ${name}`, async () => {
      const said = await first(query, 'result.all(r, r < 0.05)');
      assert.match(said, /^NoResult: http:/);
      assert.match(said, problem);
    });

  it('has no result while it is slow, and then has one', async () => {
    isSlow = true;
    const slow = { address: urlOf(proxy), timeoutMs: 2000 };
    const waiting = until('vector(1)', 'result[0] == 1.0', ({ state }) => state === 'Passing', slow);
    await eventually('Prometheus was asked', () => sockets.size > 0);
    // The request that is on its way stays without an answer.
    isSlow = false;
    const results = await waiting;
    assert.equal(results[0]?.state, 'NoResult');
    assert.match(results[0]?.message ?? '', /no response within 2000 ms/);
    assert.deepEqual([...new Set(results.map(({ failures }) => failures))], [0]);
  });

  it('has no result when nobody listens', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, '127.0.0.1', resolve));
    const address = urlOf(closed);
    await new Promise((resolve) => void closed.close(resolve));
    const [result] = await until('vector(1)', 'result[0] == 1.0', any, { address });
    assert.deepEqual([result?.state, /ECONNREFUSED/.test(result?.message ?? '')], ['NoResult', true]);
  });
});
