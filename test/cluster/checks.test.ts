// Checks of stages that ask a real Prometheus which is right, wrong or empty.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CheckResult, createCheckRunner } from '../../src/checks/index.ts';
import type { KubeClient } from '../../src/kube/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import { findPromtool } from './helm/promtool.ts';
import { createProcesses, type Processes } from './processes.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

const promtool = findPromtool();
const skip = 'missing' in promtool && promtool.missing;
const dir = mkdtempSync(join(tmpdir(), 'edgeset-checks-'));
let processes: Processes;
let prometheus: Prometheus;

before(async () => {
  if ('missing' in promtool) return;
  processes = createProcesses(dir);
  prometheus = await startPrometheus({ dir, processes }, { file: promtool.prometheus });
});
after(async () => {
  if ('missing' in promtool) return;
  await processes.close();
  promtool.close();
});

/** The first result of a check of a plan of the cluster. */
const first = async (query: string, condition: string): Promise<string> => {
  const stopping = new AbortController();
  // There are no Secrets to read.
  const client = {} as KubeClient;
  const runner = createCheckRunner({ client, clock: systemClock, log: silentLogger, timeoutMs: 30_000 });
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
  const check = { name: 'c', prometheus: { address: prometheus.url, query, condition, interval: '1s' } };
  let said = '';
  const changed = ({ state, message }: CheckResult): void => {
    said ||= `${state}: ${message}`;
    stopping.abort();
  };
  await runner.run(check, subject, systemClock.now(), 0, changed, stopping.signal);
  return said;
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
});
