import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckResult } from '../../checks/index.ts';
import { createLedger } from '../../rollout/index.ts';
import { systemClock } from '../../runtime/index.ts';
import type { DaemonSetView } from '../kind.ts';
import { policyWithPlan } from '../testing/plans.ts';
import { createStageChecks } from './stage-checks.ts';

const check = { name: 'errors', prometheus: { query: 'up', condition: 'true' } };
const START = 1_000_000;
const policy = policyWithPlan({
  checks: [check],
  stages: [{ name: 'lab', promote: { soak: '1h', checks: ['errors'] } }],
});

/** A rollout whose only stage soaks since START, and a runner that only notes what it is asked. */
const soaking = (change: object = {}) => {
  const ledger = createLedger(policy);
  for (const hash of ['a', 'b']) ledger.setTarget({ name: `web-${hash}`, hash, number: 1 }, START);
  const lab = {
    name: 'lab',
    openedAt: START,
    coveredAt: START,
    soakUntil: START + 3_600_000,
    checks: {},
    promoted: undefined,
    sample: undefined,
  };
  ledger.patchState({ stages: [{ ...lab, ...change }] }, START);
  const runs: {
    from: number;
    failures: number;
    secrets: string;
    report: (result: CheckResult) => void;
    signal: AbortSignal;
  }[] = [];
  let changes = 0;
  const checks = createStageChecks({
    runner: {
      run: async (_check, { secretNamespace }, from, failures, report, signal) =>
        void runs.push({ from, failures, secrets: secretNamespace, report, signal }),
    },
    ownNamespace: 'edgeset-system',
    daemonSet: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      short: 'ds',
      namespace: 'ns',
      name: 'web',
      uid: 'u',
      rolloutName: 'web',
    },
    ledger,
    view: () => ({ namespace: 'ns', name: 'web' }) as DaemonSetView,
    clock: { ...systemClock, now: () => START },
    changed: () => void (changes += 1),
  });
  const standing = () => ledger.state.stages[0]?.checks['errors']?.state;
  return { ledger, runs, checks, standing, changes: () => changes };
};

const result = (state: CheckResult['state'], failures = 0): CheckResult => ({
  state,
  failures,
  at: START,
  message: '',
});

describe('the checks of a stage', () => {
  it('begin with its soak, once, and what they say is noted', () => {
    const { runs, checks, standing, changes } = soaking();
    checks.follow();
    checks.follow();
    assert.equal(runs.length, 1);
    assert.deepEqual([runs[0]?.from, runs[0]?.failures, runs[0]?.secrets], [START, 0, 'edgeset-system']);
    runs[0]?.report(result('Passing'));
    assert.deepEqual([standing(), changes()], ['Passing', 1]);
  });

  it('do not run before the soak, and end with it', () => {
    const { ledger, runs, checks, standing } = soaking({ coveredAt: undefined, soakUntil: undefined });
    checks.follow();
    assert.equal(runs.length, 0);
    ledger.patchStage('lab', { coveredAt: START, soakUntil: START + 1 }, START);
    checks.follow();
    assert.equal(runs.length, 1);
    ledger.patchStage('lab', { promoted: { at: START, how: 'Gates', by: undefined } }, START);
    checks.follow();
    assert.equal(runs[0]?.signal.aborted, true);
    runs[0]?.report(result('Failing', 1));
    assert.equal(standing(), undefined, 'an answer that comes too late is ignored');
  });

  it('continue where an earlier leader was, and begin again after a resume', () => {
    const { ledger, runs, checks } = soaking({ checks: { errors: result('Failing', 2) } });
    checks.follow();
    assert.equal(runs[0]?.failures, 2);
    runs[0]?.report(result('Failed', 3));
    checks.follow();
    assert.equal(runs.length, 1);
    ledger.patchStage('lab', { checks: {} }, START);
    checks.follow();
    assert.deepEqual([runs.length, runs[0]?.signal.aborted, runs[1]?.failures], [2, true, 0]);
  });

  it('begin again, with Secrets of the namespace, when a plan there replaces one of the cluster', () => {
    const { ledger, runs, checks } = soaking();
    checks.follow();
    ledger.setPolicy({ ...policy, rolloutPlan: { name: 'plan', cluster: false } }, START);
    checks.follow();
    assert.equal(runs[0]?.signal.aborted, true);
    assert.deepEqual(
      runs.map(({ secrets }) => secrets),
      ['edgeset-system', 'ns'],
    );
  });

  it('rest while the rollout is halted, and when this process no longer leads', () => {
    const { ledger, runs, checks } = soaking();
    checks.follow();
    ledger.patchState({ halted: { at: START, reason: 'CheckFailed', nodes: [], check: 'lab/errors' } }, START);
    checks.follow();
    assert.equal(runs[0]?.signal.aborted, true);
    ledger.patchState({ halted: undefined }, START);
    checks.follow();
    checks.stop();
    assert.equal(runs[1]?.signal.aborted, true);
  });
});
