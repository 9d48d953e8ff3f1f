import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonRolloutStage } from '../../../src/rollout/index.ts';
import { checkStages } from './check-stages.ts';
import { buildHistory } from './history-builder.ts';

const plan = {
  stages: [
    { name: 'lab', nodes: { selector: { matchLabels: { ring: 'lab' } } } },
    { name: 'shop', nodes: { selector: { matchLabels: { ring: 'shop' } } } },
  ],
};
const at = '2026-01-01T00:00:00Z';
const nodes = { total: 1, online: 1, updated: 0 };
const lab: DaemonRolloutStage = { name: 'lab', state: 'Open', nodes, openedAt: at };
const labPassed: DaemonRolloutStage = { ...lab, state: 'Passed', promotedAt: at };
const closed: DaemonRolloutStage = { name: 'shop', state: 'Closed', nodes };
const shop: DaemonRolloutStage = { name: 'shop', state: 'Open', nodes, openedAt: at };

const history = () =>
  buildHistory(2)
    .label('n0', { ring: 'lab' })
    .label('n1', { ring: 'shop' })
    .plan(plan)
    .stages('new', [lab, closed])
    .wait(5_000);
const judge = ({ records }: { records: Parameters<typeof checkStages>[0] }): string[] =>
  checkStages(records, { namespace: 'edge', daemonSet: 'app' }).map((text) => text.replace(/at \S+ \S+ /, ''));

describe('the stages of a plan, judged by the audit log', () => {
  it('accepts updates of open stages in the order of the plan', () => {
    const checked: string[] = [];
    const { records } = history()
      .remove('old-n0', 'n0', 'old')
      .stages('new', [labPassed, closed])
      .stages('new', [labPassed, shop])
      .remove('old-n1', 'n1', 'old');
    const checks = { checked: (rule: string) => void checked.push(rule) };
    assert.deepEqual(checkStages(records, { namespace: 'edge', daemonSet: 'app', ...checks }), []);
    assert.deepEqual([...new Set(checked)].toSorted(), ['G1', 'G2']);
  });

  it('finds an update of a node whose stage is closed', () => {
    assert.deepEqual(judge(history().remove('old-n1', 'n1', 'old')), [
      'G1: updated app on n1, whose stage shop is closed while only lab are open',
    ]);
  });

  it('knows promotions for one revision only', () => {
    const found = history().stages('new', [labPassed, shop]).stages('newer', [lab, closed]);
    assert.deepEqual(judge(found.remove('old-n1', 'n1', 'old')), [
      'G1: updated app on n1, whose stage shop is closed while only lab are open',
    ]);
  });

  it('finds an update without a plan, unless the plan was deleted a moment ago', () => {
    assert.deepEqual(judge(history().plan(undefined).remove('old-n0', 'n0', 'old')), []);
    assert.deepEqual(judge(history().plan(undefined).wait(5_000).remove('old-n0', 'n0', 'old')), [
      'G1: updated app on n0, although its rollout plan does not exist',
    ]);
  });

  it('finds a stage that opens too early, and a promotion that is taken back', () => {
    assert.deepEqual(judge(history().stages('new', [lab, shop])), [
      'G2: opened stage shop, although lab had not been promoted',
    ]);
    assert.deepEqual(judge(history().stages('new', [labPassed, closed]).stages('new', [lab, closed])), [
      'G2: took the promotion of stage lab back, which it had written',
    ]);
  });

  it('does not stage the way back', () => {
    const back = history().stages('old', [lab, closed], { rollback: true });
    assert.deepEqual(judge(back.remove('old-n1', 'n1', 'new')), []);
  });
});
