import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { DASHBOARD_FILE, renderDashboard } from './write-grafana-dashboard.ts';

it('the chart has the dashboard that the script writes', () => {
  assert.equal(readFileSync(DASHBOARD_FILE, 'utf8'), renderDashboard(), 'run: npm run generate');
});

it('every panel has its own id, a title and queries', () => {
  interface Panel {
    id: number;
    type: string;
    title: string;
    targets?: { expr: string; refId: string }[];
  }
  const { panels } = JSON.parse(renderDashboard()) as { panels: Panel[] };
  assert.ok(panels.length > 20);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { type, title, targets = [] } of panels) {
    assert.notEqual(title, '');
    if (type === 'row') continue;
    assert.ok(targets.length > 0, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
  }
});
