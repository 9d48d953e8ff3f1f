// The alerts of the chart, by Prometheus' own promtool.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { createManagerMetrics } from '../../../src/manager/index.ts';
import { createReachMetrics } from '../../../src/reach/index.ts';
import { reasonOfHold } from '../../../src/rollout/index.ts';
import { phases } from '../../../src/words/index.ts';
import { type AlertCase, alertCases, inhibitorCases, reachCases } from './alert-cases.ts';
import { chart, createHelm } from './helm.ts';
import { findPromtool } from './promtool.ts';

interface Rule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
interface Recording {
  record: string;
  expr: string;
}

const root = join(import.meta.dirname, '..', '..', '..');
const promtool = findPromtool();
const skip = 'missing' in promtool && promtool.missing;
const INHIBITOR = 'metrics.prometheusRule.inhibitRolloutStuck=true';
const folder = mkdtempSync(join(tmpdir(), 'edgeset-alerts-'));
let recordings: Recording[];
let rules: Rule[];

before(async () => {
  const helm = await createHelm('');
  const render = async (...more: string[]): Promise<{ groups: [{ rules: Recording[] }, { rules: Rule[] }] }> => {
    // A week of minutes would take long.
    const own = ['enabled=true', 'alertLabels.team=edge', 'stragglersAfterDays=1'];
    const sets = [...own.map((value) => `metrics.prometheusRule.${value}`), ...more].join(',');
    const args = ['template', 'edgeset', chart, '--namespace=edgeset-system', '--set', sets];
    const text = await helm(...args, '--show-only=templates/manager/prometheusrule.yaml');
    return (parse(text) as { spec: { groups: [{ rules: Recording[] }, { rules: Rule[] }] } }).spec;
  };
  writeFileSync(join(folder, 'rules.yaml'), stringify(await render()));
  writeFileSync(join(folder, 'reach-rules.yaml'), stringify(await render('reach.enabled=true')));
  writeFileSync(join(folder, 'inhibitor-rules.yaml'), stringify(await render(INHIBITOR)));
  const all = await render(INHIBITOR, 'reach.enabled=true');
  [{ rules: recordings }, { rules }] = all.groups;
  writeFileSync(join(folder, 'all-rules.yaml'), stringify(all));
});
after(() => {
  rmSync(folder, { recursive: true });
  if (!('missing' in promtool)) promtool.close();
});

it('are rules that Prometheus accepts', { skip }, () => {
  if ('missing' in promtool) return;
  assert.match(
    promtool.run('check', 'rules', join(folder, 'all-rules.yaml')),
    new RegExp(`SUCCESS: ${recordings.length + rules.length} rules`),
  );
});

it('fire when they should, and not otherwise', { skip }, () => {
  if ('missing' in promtool) return;
  const firing = (alert: string, labels: string): string => {
    const { severity } = rules.find((rule) => rule.alert === alert)?.labels ?? {};
    const own = `alertname="${alert}",alertstate="firing",severity="${severity}",team="edge"`;
    return `ALERTS{${own}${labels && `,${labels}`}}`;
  };
  const run = (file: string, cases: readonly AlertCase[]): string => {
    const tests = {
      rule_files: [file],
      evaluation_interval: '1m',
      tests: cases.map(({ what, series, fires }) => ({
        name: what,
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: Object.entries(fires).map(([at, alerts]) => ({
          expr: 'ALERTS{alertstate="firing"}',
          eval_time: at,
          exp_samples: Object.entries(alerts).map(([alert, labels]) => ({ labels: firing(alert, labels), value: 1 })),
        })),
      })),
    };
    const input = join(folder, `tests-of-${file}`);
    writeFileSync(input, stringify(tests));
    return promtool.run('test', 'rules', input);
  };
  assert.match(run('rules.yaml', alertCases), /SUCCESS/);
  assert.match(run('inhibitor-rules.yaml', inhibitorCases), /SUCCESS/);
  assert.match(run('reach-rules.yaml', reachCases), /SUCCESS/);
  const tried = new Set(
    [...alertCases, ...inhibitorCases, ...reachCases].flatMap(({ fires }) => Object.values(fires).flatMap(Object.keys)),
  );
  assert.deepEqual(
    rules.map(({ alert }) => alert).filter((alert) => !tried.has(alert)),
    [],
  );
});

it('have a runbook each, and a row in the reference', () => {
  const pages = readdirSync(join(root, 'docs', 'runbooks')).toSorted();
  assert.deepEqual(pages, rules.map(({ alert }) => `${alert}.md`).toSorted());
  const reference = readFileSync(join(root, 'docs', 'reference', 'manager.md'), 'utf8');
  for (const { alert, annotations } of rules) {
    assert.equal(
      annotations.runbook_url,
      `https://github.com/edgeset/edgeset/blob/main/docs/runbooks/${alert}.md`,
      `${alert}: runbook_url`,
    );
    assert.ok(reference.includes(`| [\`${alert}\`](../runbooks/${alert}.md) |`), `${alert}: no row`);
  }
  for (const { record } of recordings) assert.ok(reference.includes(`| \`${record}\` |`), `${record}: no row`);
});

it('read metrics and phases that the manager has', async () => {
  const metrics = createManagerMetrics('test');
  const { body } = await metrics.render();
  const { body: ofReach } = await createReachMetrics('test').render();
  const known = new Set([...`${body}${ofReach}`.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  for (const { record } of recordings) known.add(record);
  for (const { expr, ...rule } of [...recordings, ...rules]) {
    const what = 'alert' in rule ? rule.alert : rule.record;
    const found = expr.matchAll(
      /\b(?:edgeset|rest_client|controller_runtime|leader_election)_\w+|\b(?:daemonset|manager):[\w:]+/g,
    );
    const names = [...found].map(([name]) => name.replace(/_bucket$/, ''));
    assert.ok(names.length > 0, what);
    for (const name of names) assert.ok(known.has(name), `${what}: ${name}`);
    const named = [...expr.matchAll(/phase=~?"([^"]+)"/g)].flatMap(([, value = '']) => value.split('|'));
    for (const phase of named) assert.ok((phases as readonly string[]).includes(phase), `${what}: ${phase}`);
  }
});

it('decide about everything that holds a rollout', () => {
  const named = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/hold=~?"([^"]+)"/g)].flatMap(([, value = '']) => value.split('|')),
  );
  // People decided it, a plan did, or EdgesetRolloutHalted fires.
  const silent = ['paused', 'frozen', 'owner', 'manual', 'deleted', 'window', 'halted'];
  assert.deepEqual([...named, ...silent].toSorted(), Object.keys(reasonOfHold).toSorted());
});
