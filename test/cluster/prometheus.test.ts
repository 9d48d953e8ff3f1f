// Prometheus scrapes a manager through a rollout with faults: every metric of the reference is there, and every query of the
// rules and of the Grafana dashboard finds something.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { DASHBOARD_FILE } from '../../scripts/write-grafana-dashboard.ts';
import { eventually } from '../support/index.ts';
import { chart, createHelm } from './helm/helm.ts';
import { findPromtool } from './helm/promtool.ts';
import { type RealCluster, startCluster } from './index.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

const promtool = findPromtool();
const skip = 'missing' in promtool && promtool.missing;
const patience = { everyMs: 100 };

let cluster: RealCluster;
let prometheus: Prometheus;
let shop: string;

const daemonSetPath = (name: string): string => `/apis/apps/v1/namespaces/${shop}/daemonsets/${name}`;

const apply = (name: string, image: string, annotations: Readonly<Record<string, string>> = {}) =>
  cluster.plane.api.apply(daemonSetPath(name), {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name,
      annotations: { 'apps.openyurt.io/update-strategy': 'auto', 'edgeset.io/settle-seconds': '1', ...annotations },
    },
    spec: {
      selector: { matchLabels: { app: name } },
      updateStrategy: { type: 'OnDelete' },
      template: {
        metadata: { labels: { app: name } },
        spec: { nodeSelector: { fleet: name }, containers: [{ name: 'app', image }] },
      },
    },
  });

const owners = { 'apps.openyurt.io/update-strategy': 'ota' };

/** Its only stage waits for the owner, who never decides. */
const applyPlan = () =>
  cluster.plane.api.apply(`/apis/edgeset.io/v1alpha1/namespaces/${shop}/rolloutplans/plan`, {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutPlan',
    metadata: { name: 'plan' },
    spec: { stages: [{ name: 'all' }] },
  });

/** Resolves when the query finds something. */
const finds = async (expr: string): Promise<void> => {
  await eventually(`Prometheus finds ${expr}`, async () => (await prometheus.query(expr)).length > 0, patience);
};

const findsAll = async (exprs: Iterable<string>): Promise<void> => {
  await Promise.all([...exprs].map(finds));
};

before(async () => {
  if ('missing' in promtool) return;
  cluster = await startCluster();
  shop = await cluster.createNamespace('shop');
  await Promise.all([
    cluster.addNodes(['good-0', 'good-1', 'good-2', 'good-3'], { labels: { fleet: 'good' } }),
    cluster.addNodes(['bad-0', 'bad-1'], { labels: { fleet: 'bad' } }),
    cluster.addNodes(['owned-0'], { labels: { fleet: 'owned' } }),
  ]);
  await apply('good', 'app:v1');
  await apply('bad', 'app:v1');
  await apply('owned', 'app:v1', owners);
  const namespace = await cluster.createNamespace('edgeset');
  const manager = await cluster.startManager({ namespace, args: [`--leader-election-namespace=${namespace}`] });
  const helm = await createHelm('');
  const args = ['template', 'edgeset', chart, `--namespace=${namespace}`];
  const sets = 'metrics.prometheusRule.enabled=true,metrics.prometheusRule.inhibitRolloutStuck=true';
  const text = await helm(...args, '--set', sets, '--show-only=templates/manager/prometheusrule.yaml');
  prometheus = await startPrometheus(cluster.plane, {
    file: promtool.prometheus,
    rules: (parse(text) as { spec: object }).spec,
    scrape: {
      target: manager.metrics,
      labels: { job: 'edgeset-manager', namespace, pod: 'edgeset-manager-0' },
    },
  });
  await finds('sum(edgeset_nodes{phase="updated"}) == 7');
  await cluster.offline(['good-3']);
  await finds('edgeset_nodes{daemonset="good",phase="offline"} == 1');
  await apply('good', 'app:v2');
  await apply('bad', 'app:v2--crash-loop', { 'edgeset.io/failure-threshold': '1' });
  await applyPlan();
  await apply('owned', 'app:v2', { ...owners, 'edgeset.io/rollout-plan': 'plan' });
});
after(async () => {
  if ('missing' in promtool) return;
  await cluster.stop();
  promtool.close();
});

describe('Prometheus', { skip }, () => {
  it('sees where each rollout stands', async () => {
    await findsAll([
      'edgeset_rollout_complete{daemonset="good"} == 1',
      'edgeset_rollout_finished_timestamp_seconds{daemonset="good"} > edgeset_rollout_started_timestamp_seconds',
      'edgeset_node_update_duration_seconds_count{daemonset="good"} == 3',
      'edgeset_node_causes{daemonset="good",phase="offline",cause="offline-outdated"} == 1',
      'edgeset_rollout_hold{daemonset="bad",hold="halted"} == 1',
      'edgeset_node_causes{daemonset="bad",phase="failed",cause="crash-loop"} == 1',
      'edgeset_rollout_hold{daemonset="owned",hold="owner"} == 1',
      'edgeset_owners_asked{daemonset="owned"} == 1',
      'edgeset_stage_awaits{daemonset="owned",stage="all",reason="Coverage"} == 1',
    ]);
    // In seconds since 1970, by about the same clock.
    await finds('abs(time() - edgeset_rollout_started_timestamp_seconds{daemonset="bad"}) < 120');
  });

  it('has every metric of the reference', async () => {
    const reference = readFileSync(join(import.meta.dirname, '../../docs/reference/manager.md'), 'utf8');
    const [, section = ''] = /\n## Metrics\n([^]*?)\n## /.exec(reference) ?? [];
    const cells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
    const names = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name));
    assert.ok(names.length > 35, names.join(' '));
    // Without a configuration there are no notifications to count.
    const exported = names.filter((name) => name !== 'edgeset_notifications_total');
    await findsAll(exported.map((name) => `{__name__=~"${name}(_count)?"}`));
  });

  it('evaluates every rule, and records something by each recording rule', async () => {
    const rules = await eventually(
      'every rule was evaluated',
      async () => {
        const found = await prometheus.rules();
        return found.length > 0 && found.every(({ health }) => health !== 'unknown') && found;
      },
      patience,
    );
    for (const { name, health, lastError } of rules) assert.equal(health, 'ok', `${name}: ${lastError}`);
    await findsAll(rules.filter(({ type }) => type === 'recording').map(({ name }) => name));
    // Another alert may be about to fire for a moment, but not long enough to fire.
    const expected = {
      EdgesetNodesFailed: 'pending',
      EdgesetRolloutHalted: 'firing',
      EdgesetRolloutStuckExpected: 'firing',
    };
    const firing = Object.entries(expected).flatMap(([name, state]) => (state === 'firing' ? [name] : []));
    await eventually(
      `alerts: ${JSON.stringify(expected)}`,
      async () => {
        const states = new Map((await prometheus.rules()).map(({ name, state }) => [name, state]));
        const active = [...states].flatMap(([name, state]) => (state === 'firing' ? [name] : []));
        return (
          Object.entries(expected).every(([name, state]) => states.get(name) === state) &&
          active.toSorted().join() === firing.toSorted().join()
        );
      },
      patience,
    );
  });

  it('finds something by every query of the dashboard', async () => {
    interface Dashboard {
      panels: { targets?: { expr: string }[] }[];
      templating: { list: { type: string; query: string }[] };
    }
    const { panels, templating } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as Dashboard;
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    assert.ok(queries.length > 30);
    const ofVariables = templating.list.flatMap(({ type, query }) => {
      const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
      return type === 'query' ? [`count by (${label}) (${selector}) > 0`] : [];
    });
    await findsAll(
      [...queries, ...ofVariables].map((expr) =>
        expr.replaceAll(/\$(namespace|daemonset|job)\b/g, '.*').replaceAll('$__rate_interval', '1m'),
      ),
    );
  });

  it('understands every query of the guide', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/how-to/monitor.md'), 'utf8');
    const [, table = ''] = /\| question \| query \|\n([^]*?)\n\n/.exec(guide) ?? [];
    const queries = [...table.matchAll(/^\| [^|]+ \| `([^`]+)`/gm)].map(([, query = '']) =>
      query.replaceAll('\\|', '|'),
    );
    assert.ok(queries.length > 8, queries.join('\n'));
    for (const query of queries) await prometheus.query(query);
  });

  it('loses the series of a DaemonSet that is gone', async () => {
    await cluster.plane.api.delete(daemonSetPath('good'));
    const gone = async (): Promise<boolean> =>
      (await prometheus.query('{__name__=~"edgeset_.*",daemonset="good"}')).length === 0;
    await eventually('no series is left', gone, patience);
  });
});
