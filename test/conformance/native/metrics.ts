import assert from 'node:assert/strict';
import { budgetKey, type Case, leaderElectionArgs, section } from '../kit/index.ts';
import { createPlan, FRESH_CRD, label, planKey, ring } from '../kit/plans.ts';

/** The value of the series whose name and labels have all of these words; undefined if there is none. */
const read = async (c: Case) => {
  const lines = (await (await fetch(`${c.manager.metrics}/metrics`)).text()).split('\n');
  return (name: string, ...labels: readonly string[]): number | undefined => {
    const line = lines.find((one) => /^[^{ ]+/.exec(one)?.[0] === name && labels.every((word) => one.includes(word)));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
};

export const metrics = section(
  'Metrics',
  (rule) => {
    rule(
      'count what the manager does, and follow a rollout that halts',
      async (c) => {
        await label(c, { ring: 'lab' }, c.nodes.slice(0, 1));
        await createPlan(c, { stages: [ring('lab')] });
        await c.rolledOut({
          annotations: { [planKey]: 'rings', [budgetKey]: '2', 'edgeset.io/failure-threshold': '2' },
        });
        await c.bringTo('app:v2');
        const since = Date.now() / 1000;
        const expected: Record<string, number | undefined> = {
          'edgeset_pod_writes_total deleted': 3,
          'edgeset_rollouts native': 1,
          'edgeset_rollouts_halted native': 0,
          edgeset_budget_nodes: 2,
          edgeset_budget_used_nodes: 0,
          edgeset_updates_in_flight: 0,
          edgeset_breaker_failures: 0,
          edgeset_breaker_suspects: 0,
          edgeset_breaker_threshold: 2,
          'edgeset_stage_nodes lab "updated"': 1,
          'edgeset_stage_nodes rest "total"': 2,
          'edgeset_nodes "updated"': 3,
          leader_election_master_status: 1,
          workqueue_depth: 0,
          edgeset_clock_ahead_seconds: 0,
          edgeset_build_info: 1,
          edgeset_rollout_complete: 1,
          'edgeset_stage_state lab "Passed"': 1,
        };
        const complete = await c.until('the metrics say that it is complete, and at rest', async () => {
          const value = await read(c);
          const found = Object.keys(expected).map((key) => {
            const [name = '', ...labels] = key.split(' ');
            return [key, value(name, ...labels)];
          });
          assert.deepEqual(Object.fromEntries(found), expected);
          return value;
        });
        const atLeast: Record<string, number> = {
          // How many reconciles it takes depends on the machine: changes that arrive together share one.
          'controller_runtime_reconcile_total native success': 1,
          'controller_runtime_reconcile_time_seconds_count native': 1,
          workqueue_adds_total: 1,
          workqueue_queue_duration_seconds_count: 1,
          workqueue_work_duration_seconds_count: 1,
          'edgeset_reservations_total native': 2,
          edgeset_status_writes_total: 3,
          'edgeset_watches_opened_total "nodes"': 1,
          edgeset_lists_total: 1,
          workqueue_retries_total: 0,
          'rest_client_requests_total "DELETE" "200"': 3,
          rest_client_request_duration_seconds_count: 3,
          edgeset_last_reconcile_timestamp_seconds: since - 300,
        };
        for (const [key, least] of Object.entries(atLeast)) {
          const [name = '', ...labels] = key.split(' ');
          const value = complete(name, ...labels);
          assert.ok(value !== undefined && value >= least, `${key} is ${value}`);
        }
        await c.setImage('app:v3--crash-loop');
        // One node of the stage alone fails, and the others are held: the rollout is not halted.
        await c.until('the failure is counted', async () => (await read(c))('edgeset_breaker_failures') === 1);
        const failing = await read(c);
        assert.equal(failing('edgeset_rollout_complete'), 0);
        assert.equal(failing('edgeset_budget_used_nodes'), 1);
        assert.equal(failing('edgeset_stage_awaits', 'lab', '"Coverage"'), 1);
        await c.annotate({ 'edgeset.io/failure-threshold': '1' });
        await c.untilCondition('Halted');
        await c.until('the halt is counted', async () => (await read(c))('edgeset_rollouts_halted', 'native') === 1);
        assert.equal((await read(c))('edgeset_rollout_hold', '"halted"'), 1);
      },
      { budget: 2, manager: leaderElectionArgs },
    );
  },
  { expected: FRESH_CRD },
);
