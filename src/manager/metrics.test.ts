import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phases } from '../rollout/index.ts';
import { createManagerMetrics } from './metrics.ts';
import type { RolloutCounts } from './types.ts';

const counts = (name: string, changes: Partial<RolloutCounts['phases']>, halted = false): RolloutCounts => ({
  namespace: 'shop',
  name,
  halted,
  phases: { ...(Object.fromEntries(phases.map((phase) => [phase, 0])) as RolloutCounts['phases']), ...changes },
});

const series = (body: string, name: string): string[] =>
  body.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

test('counts requests, reconciles, queue and writes under their conventional names', async () => {
  const metrics = createManagerMetrics('1.2.3');
  const request = {
    verb: 'list',
    method: 'GET',
    host: 'api:6443',
    code: '200',
    resource: 'pods',
    seconds: 0.02,
  } as const;
  metrics.request(request);
  metrics.request(request);
  const observer = metrics.observer('native');
  observer.queue?.worked?.(0.2, 'error');
  observer.queue?.depth?.(4);
  observer.queue?.added?.();
  observer.queue?.retried?.();
  observer.queue?.waited?.(0.02);
  observer.podWritten?.('deleted');
  observer.reserved?.('written');
  observer.statusWritten?.();
  metrics.leading('edgeset-manager', false);
  const { contentType, body } = await metrics.render();
  assert.match(contentType, /^text\/plain; version=0\.0\.4/);
  for (const line of [
    'rest_client_requests_total{code="200",method="GET",host="api:6443"} 2',
    'rest_client_request_duration_seconds_count{verb="list",host="api:6443"} 2',
    'controller_runtime_reconcile_total{controller="native",result="error"} 1',
    'controller_runtime_reconcile_time_seconds_sum{controller="native"} 0.2',
    'workqueue_depth{name="native"} 4',
    'workqueue_adds_total{name="native"} 1',
    'workqueue_retries_total{name="native"} 1',
    'workqueue_queue_duration_seconds_bucket{le="0.05",name="native"} 1',
    'workqueue_queue_duration_seconds_bucket{le="0.01",name="native"} 0',
    'workqueue_work_duration_seconds_count{name="native"} 1',
    'edgeset_acts_total{controller="native",result="deleted"} 1',
    'edgeset_reservations_total{controller="native",result="written"} 1',
    'edgeset_status_writes_total{controller="native"} 1',
    'leader_election_master_status{name="edgeset-manager"} 0',
    'edgeset_build_info{version="1.2.3"} 1',
  ])
    assert.ok(body.split('\n').includes(line), `no line ${line} in\n${body}`);
  assert.match(body, /^process_cpu_seconds_total /m);
  assert.match(body, /^nodejs_eventloop_lag_seconds /m);
  assert.doesNotMatch(body, /eventloop_lag_(min|max|mean|stddev|p\d+)/, 'sampled metrics are disabled');
});

test('reads rollouts at each scrape, by phase and DaemonSet', async () => {
  const metrics = createManagerMetrics('1.2.3');
  let rollouts = [counts('web', { updated: 7, offline: 2 }), counts('proxy', {}, true)];
  metrics.showRollouts('native', () => rollouts);
  const first = (await metrics.render()).body;
  assert.equal(series(first, 'edgeset_nodes').length, 2 * phases.length);
  const web = 'edgeset_nodes{controller="native",namespace="shop",daemonset="web",phase=';
  assert.ok(first.includes(`${web}"updated"} 7`));
  assert.ok(first.includes(`${web}"offline"} 2`));
  assert.deepEqual(series(first, 'edgeset_rollouts'), ['edgeset_rollouts{controller="native"} 2']);
  assert.deepEqual(series(first, 'edgeset_rollouts_halted'), ['edgeset_rollouts_halted{controller="native"} 1']);

  rollouts = [];
  const second = (await metrics.render()).body;
  assert.deepEqual(series(second, 'edgeset_nodes'), [], 'a deleted DaemonSet leaves no series');
  assert.deepEqual(series(second, 'edgeset_rollouts_halted'), ['edgeset_rollouts_halted{controller="native"} 0']);
});

test('hidden rollouts leave no series', async () => {
  const metrics = createManagerMetrics('1.2.3');
  const hide = metrics.showRollouts('native', () => [counts('web', { updated: 1 })]);
  hide();
  const { body } = await metrics.render();
  for (const name of ['edgeset_nodes', 'edgeset_rollouts', 'edgeset_rollouts_halted'])
    assert.deepEqual(series(body, name), []);
});

test('two managers in one process do not share their counts', async () => {
  const one = createManagerMetrics('1');
  const other = createManagerMetrics('1');
  one.observer('native').podWritten?.('deleted');
  assert.deepEqual(series((await other.render()).body, 'edgeset_acts_total'), []);
});
