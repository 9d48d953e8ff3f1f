import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Plan, withPlan } from '../rollout/index.ts';
import { native } from '../view/index.ts';
import { awaitingApproval, stage } from '../view/testing/index.ts';
import type { DaemonRolloutStage, PlanStage } from '../words/index.ts';
import { type Staged, stagesOf } from './stage-steps.ts';

const view = { generation: 2 };
const statusWith = (stages: readonly DaemonRolloutStage[]) => ({
  daemonSetGeneration: 2,
  plan: 'rings',
  stages: [...stages],
  target: { revision: 'web-2', hash: 'two', number: 2 },
});
/** The plan as the manager reads it. */
const planOf = (stages: PlanStage[]): Plan | undefined => {
  const annotations = { 'apps.openyurt.io/update-strategy': 'auto', 'edgeset.io/rollout-plan': 'rings' };
  const policy = native.policyWith({ metadata: { annotations } }, {});
  return policy.kind === 'off' ? undefined : withPlan(policy, () => ({ spec: { stages } })).policy.plan;
};
const needsApproval = (required: boolean) => planOf([{ name: 'canary', promote: { approval: { required } } }]);
const ledgerWith = (plan: Plan | undefined, stages: Staged['tally']['stages'] = []) => ({
  state: { target: { hash: 'two' } },
  policy: { plan },
  tally: { stages },
});
const unplanned = ledgerWith(undefined);
const decisions = (stages: readonly DaemonRolloutStage[], plan?: Plan) =>
  stagesOf(statusWith(stages), view, ledgerWith(plan))?.steps.map((step) => step.decisions.join());

describe('the stages on the dashboard', () => {
  it('are none without a plan, and while the status is about an older template', () => {
    assert.equal(stagesOf(undefined, view, unplanned), undefined);
    assert.equal(stagesOf({ daemonSetGeneration: 2 }, view, unplanned), undefined);
    assert.equal(stagesOf(statusWith([]), view, unplanned), undefined);
    assert.equal(stagesOf(statusWith(awaitingApproval), { generation: 3 }, unplanned), undefined);
  });

  it('have what people read, and nothing of the sample', () => {
    const [soakUntil, promotedAt] = ['2030-01-01T01:00:00Z', '2030-01-01T00:00:00Z'];
    const coveredAt = '2030-01-01T00:30:00Z';
    const open = stage('canary', 'Open', {
      awaits: { reason: 'Soak', message: 'soaks until one' },
      coveredAt,
      soakUntil,
      sample: 'abcdefgh'.repeat(100),
      checks: [{ name: 'errors', state: 'NoResult', failures: 2, message: 'no answer' }],
    });
    const passed = stage('lab', 'Passed', { promotion: 'ByHand', promotedBy: 'bob', promotedAt, coveredAt, soakUntil });
    const nodes = { total: 4, online: 3, updated: 0 };
    assert.deepEqual(stagesOf(statusWith([passed, open]), view, unplanned), {
      plan: 'rings',
      steps: [
        {
          name: 'lab',
          state: 'Passed',
          nodes,
          promotedAt,
          awaits: '',
          way: 'by hand, by bob',
          checks: [],
          decisions: [],
        },
        {
          name: 'canary',
          state: 'Open',
          nodes,
          coveredAt,
          soakUntil,
          awaits: 'soaks until one',
          way: '',
          checks: [{ name: 'errors', state: 'NoResult', message: 'no answer' }],
          decisions: ['promote'],
        },
      ],
    });
  });

  it('count the nodes that the page draws, where the plan still has the stage', () => {
    const recorded = [stage('canary', 'Open'), stage('removed', 'Closed'), stage('rest', 'Closed')];
    const now = [
      { exposed: 0, eligible: 5, online: 4, updated: 2 },
      { exposed: 1, eligible: 9, online: 9, updated: 1 },
    ];
    const found = stagesOf(statusWith(recorded), view, ledgerWith(needsApproval(true), now));
    assert.deepEqual(
      found?.steps.map(({ name, nodes }) => [name, nodes.total, nodes.online, nodes.updated]),
      [
        ['canary', 5, 4, 2],
        ['removed', 4, 3, 0],
        ['rest', 9, 9, 1],
      ],
    );
  });

  it('can be approved where the plan requires it, and promoted while more is left to skip', () => {
    assert.deepEqual(decisions(awaitingApproval), ['', 'approve', '', '']);
    assert.deepEqual(decisions([stage('lab', 'Passed'), stage('rest', 'Open')]), ['', '']);
    assert.deepEqual(decisions([stage('lab', 'Open')]), [''], 'the rollout is complete');
    const late = [stage('canary', 'Open', { awaits: { reason: 'Timeout', message: 'waits' } })];
    assert.deepEqual(decisions(late, needsApproval(true)), ['approve,promote']);
    assert.deepEqual(decisions(late, needsApproval(false)), ['promote']);
  });

  it('wait with decisions until the page shows the target that they are for', () => {
    const older = { ...ledgerWith(undefined), state: { target: { hash: 'one' } } };
    const found = stagesOf(statusWith(awaitingApproval), view, older);
    assert.deepEqual(
      found?.steps.flatMap((step) => step.decisions),
      [],
    );
  });
});
