import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phases } from '../words/index.ts';
import { createManagerMetrics } from './metrics.ts';
import { rolloutCounts } from './testing/index.ts';
import type { ComputedCounts } from './types.ts';

const counts = (
  name: string,
  changes: Partial<ComputedCounts['phases']>,
  more: Partial<ComputedCounts> = {},
): ComputedCounts => rolloutCounts('shop', name, changes, more);

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
  metrics.request({ ...request, verb: 'watch', host: 'other', resource: 'nodes' });
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
    'edgeset_lists_total{resource="pods"} 2',
    'edgeset_watches_opened_total{resource="nodes"} 1',
    'controller_runtime_reconcile_total{controller="native",result="error"} 1',
    'controller_runtime_reconcile_time_seconds_sum{controller="native"} 0.2',
    'workqueue_depth{name="native"} 4',
    'workqueue_adds_total{name="native"} 1',
    'workqueue_retries_total{name="native"} 1',
    'workqueue_queue_duration_seconds_bucket{le="0.05",name="native"} 1',
    'workqueue_queue_duration_seconds_bucket{le="0.01",name="native"} 0',
    'workqueue_work_duration_seconds_count{name="native"} 1',
    'edgeset_pod_writes_total{controller="native",result="deleted"} 1',
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
  let rollouts = [counts('web', { updated: 7, offline: 2 }), counts('proxy', {}, { halted: true })];
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

test('refused pods hold a rollout, as its status says', async () => {
  const metrics = createManagerMetrics('1.2.3');
  const hold = { kind: 'waiting', breaker: undefined } as never;
  const summary = { breaker: {}, usage: {}, hold, refusal: 'no', complete: false, drift: [] } as never;
  metrics.showRollouts('advanced', () => [counts('web', {}, { summary })]);
  assert.deepEqual(series((await metrics.render()).body, 'edgeset_rollout_hold'), [
    'edgeset_rollout_hold{controller="advanced",namespace="shop",daemonset="web",hold="refused"} 1',
  ]);
});

test('shows where a rollout stands, and no series for what does not apply', async () => {
  const metrics = createManagerMetrics('1.2.3');
  const breaker = { failures: 1, suspects: 2, threshold: 3, open: true, mustHalt: false };
  const summary: ComputedCounts['summary'] = {
    budget: 5,
    usage: { inFlight: 2, active: 2, occupied: 4 },
    breaker,
    firstWave: undefined,
    drift: [],
    refusal: undefined,
    hold: { kind: 'waiting', breaker },
    complete: false,
    withoutRoom: 0,
    stage: undefined,
  };
  const running = {
    causes: [
      { phase: 'offline', cause: 'suspect', count: 2 },
      { phase: 'failed', cause: 'crash-loop', count: 1 },
    ],
    startedAt: 1_000_500,
    reconciledAt: 1_002_000,
    ownersAsked: 7,
    stages: [
      {
        name: 'lab',
        state: 'Open',
        nodes: { total: 3, online: 2, updated: 1 },
        awaits: { reason: 'Coverage', message: '' },
      },
      { name: 'rest', state: 'Closed', nodes: { total: 9, online: 8, updated: 0 } },
    ],
    summary,
  } satisfies Partial<ComputedCounts>;
  metrics.showRollouts('native', () => [counts('web', {}, running), counts('new', {})]);
  const { body } = await metrics.render();
  const web = 'controller="native",namespace="shop",daemonset="web"';
  const expected: Readonly<Record<string, readonly string[]>> = {
    edgeset_node_causes: [
      `edgeset_node_causes{${web},phase="offline",cause="suspect"} 2`,
      `edgeset_node_causes{${web},phase="failed",cause="crash-loop"} 1`,
    ],
    edgeset_stage_nodes: [
      `edgeset_stage_nodes{${web},stage="lab",nodes="exposed"} 0`,
      `edgeset_stage_nodes{${web},stage="lab",nodes="total"} 3`,
      `edgeset_stage_nodes{${web},stage="lab",nodes="online"} 2`,
      `edgeset_stage_nodes{${web},stage="lab",nodes="updated"} 1`,
      `edgeset_stage_nodes{${web},stage="rest",nodes="exposed"} 0`,
      `edgeset_stage_nodes{${web},stage="rest",nodes="total"} 9`,
      `edgeset_stage_nodes{${web},stage="rest",nodes="online"} 8`,
      `edgeset_stage_nodes{${web},stage="rest",nodes="updated"} 0`,
    ],
    edgeset_stage_state: [
      `edgeset_stage_state{${web},stage="lab",state="Open"} 1`,
      `edgeset_stage_state{${web},stage="rest",state="Closed"} 1`,
    ],
    edgeset_stage_awaits: [`edgeset_stage_awaits{${web},stage="lab",reason="Coverage"} 1`],
    edgeset_rollout_hold: [`edgeset_rollout_hold{${web},hold="waiting"} 1`],
    edgeset_rollout_started_timestamp_seconds: [`edgeset_rollout_started_timestamp_seconds{${web}} 1000.5`],
    edgeset_rollout_finished_timestamp_seconds: [],
    edgeset_rollout_complete: [`edgeset_rollout_complete{${web}} 0`],
    edgeset_budget_nodes: [`edgeset_budget_nodes{${web}} 5`],
    edgeset_budget_used_nodes: [`edgeset_budget_used_nodes{${web}} 4`],
    edgeset_updates_in_flight: [`edgeset_updates_in_flight{${web}} 2`],
    edgeset_breaker_failures: [`edgeset_breaker_failures{${web}} 1`],
    edgeset_breaker_suspects: [`edgeset_breaker_suspects{${web}} 2`],
    edgeset_breaker_threshold: [`edgeset_breaker_threshold{${web}} 3`],
    edgeset_owners_asked: [`edgeset_owners_asked{${web}} 7`],
    edgeset_last_reconcile_timestamp_seconds: [`edgeset_last_reconcile_timestamp_seconds{${web}} 1002`],
  };
  for (const [name, lines] of Object.entries(expected)) assert.deepEqual(series(body, name), lines, name);
});

test('measures updates while it leads, and forgets those of a DaemonSet that is gone', async () => {
  const metrics = createManagerMetrics('1.2.3');
  const updated = (name: string): void => metrics.observer('native').nodeUpdated?.({ namespace: 'shop', name }, 4);
  const measured = async (): Promise<string[]> =>
    series((await metrics.render()).body, 'edgeset_node_update_duration_seconds_sum');
  updated('web');
  assert.deepEqual(await measured(), [], 'the leader counts it');
  let rollouts = [counts('web', {}), counts('proxy', {})];
  const sum = (name: string, value: number): string =>
    `edgeset_node_update_duration_seconds_sum{controller="native",namespace="shop",daemonset="${name}"} ${value}`;
  const hide = metrics.showRollouts('native', () => rollouts);
  updated('web');
  assert.deepEqual(await measured(), [sum('web', 4), sum('proxy', 0)], 'a rate needs a zero to rise from');
  updated('web');
  updated('proxy');
  assert.deepEqual(await measured(), [sum('web', 8), sum('proxy', 4)]);
  rollouts = [counts('proxy', {})];
  assert.deepEqual(await measured(), [sum('proxy', 4)]);
  hide();
  assert.deepEqual(await measured(), []);
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
  assert.deepEqual(series((await other.render()).body, 'edgeset_pod_writes_total'), []);
});
