import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle } from '../../../test/support/index.ts';
import type { KubeErrorCode } from '../../kube/index.ts';
import { silentLogger } from '../../runtime/index.ts';
import { createTestApi } from '../testing/api.ts';
import { createPlans, rolloutPlans } from './plans.ts';

const plan = { name: 'rings', cluster: false };

/** The first attempt to list the plans of a namespace is refused. */
const refused = async (code: KubeErrorCode) => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  const { client, objects } = api;
  api.fault('list', 'rolloutplans', { kind: 'refuse', code });
  objects.create(rolloutPlans, {
    apiVersion: 'edgeset.io/v1alpha1',
    kind: 'RolloutPlan',
    metadata: { namespace: 'edge', name: 'rings' },
    spec: { stages: [{ name: 'lab' }] },
  } as Parameters<typeof objects.create>[1]);
  let changes = 0;
  const plans = createPlans({
    client,
    env: { clock, random: () => 0.5, log: silentLogger },
    namespaces: ['edge'],
    plansChanged: () => void (changes += 1),
    approvalsChanged: () => undefined,
    mayMiss: true,
  });
  const stop = new AbortController();
  const running = plans.run(stop.signal);
  plans.need();
  await settle();
  return {
    plans,
    clock,
    changes: () => changes,
    end: async (): Promise<void> => {
      stop.abort();
      await running;
    },
  };
};

describe('plans that may be missing', () => {
  it('count as read while they are forbidden, and are read once they may be', async () => {
    const { plans, clock, changes, end } = await refused('Forbidden');
    assert.deepEqual(
      [plans.synced(), plans.isUnreadable(plan), plans.unreadable(plan)],
      [true, true, ['rolloutplans']],
    );
    const before = changes();
    await clock.advance(30_000);
    await settle();
    assert.deepEqual([plans.synced(), plans.isUnreadable(plan), plans.unreadable(plan)], [true, false, []]);
    assert.equal(plans.find('edge', plan)?.spec.stages?.[0]?.name, 'lab');
    assert.ok(changes() > before);
    await end();
  });

  it('are empty where their CRD is not installed', async () => {
    const { plans, end } = await refused('NotFound');
    assert.deepEqual([plans.synced(), plans.unreadable(plan), plans.find('edge', plan)], [true, [], undefined]);
    await end();
  });
});
