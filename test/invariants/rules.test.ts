import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayRunOn, nodesOf, policyOf } from './index.ts';
import { isOnline, isSettled, obeysControls, withinBudget, withinDownBudget, withinPartition } from './rules.ts';

describe('nodesOf', () => {
  it('rounds a budget up to at least one node, and a partition down', () => {
    const cases: [share: number | string, total: number, up: number, down: number][] = [
      [2, 10, 2, 2],
      ['3', 10, 3, 3],
      ['10%', 5, 1, 0],
      ['34%', 10, 4, 3],
      ['0%', 10, 0, 0],
      ['100%', 7, 7, 7],
    ];
    for (const [share, total, up, down] of cases)
      assert.deepEqual([nodesOf(share, total), nodesOf(share, total, 'down')], [up, down], `${share} of ${total}`);
  });
});

describe('policyOf', () => {
  const advanced = (rollingUpdate: object, type?: string) =>
    policyOf({
      apiVersion: 'apps.kruise.io/v1beta1',
      spec: { template: {}, updateStrategy: { ...(type && { type }), rollingUpdate } },
    });

  it('applies the defaults of each kind', () => {
    const { limit, surging, manual } = policyOf({ apiVersion: 'apps/v1', metadata: {}, spec: { template: {} } });
    assert.deepEqual({ limit, surging, manual }, { limit: '10%', surging: false, manual: true });
    assert.deepEqual([advanced({}).limit, advanced({}).surging], [1, false]);
    assert.deepEqual(
      [advanced({ rollingUpdateType: 'Surging' }).limit, advanced({ maxSurge: '10%' }).limit],
      [1, '10%'],
    );
    assert.equal(advanced({ maxSurge: 2 }).maxUnavailable, 0);
    assert.equal(advanced({}, 'OnDelete').manual, true);
  });
});

describe('mayRunOn', () => {
  it('asks for the selector, and for tolerations of taints', () => {
    const node = (effect: string) => ({ name: 'n', labels: { role: 'edge' }, taints: [{ key: 'x', effect }] });
    const spec = { containers: [], nodeSelector: { role: 'edge' } };
    assert.equal(mayRunOn(node('NoSchedule'), spec, 'to begin'), false);
    assert.equal(mayRunOn(node('NoSchedule'), spec, 'to stay'), true);
    assert.equal(mayRunOn(node('NoExecute'), spec, 'to stay'), false);
    assert.equal(mayRunOn(node('PreferNoSchedule'), spec, 'to begin'), true);
    assert.equal(mayRunOn(node('PreferNoSchedule'), { ...spec, nodeSelector: { role: 'other' } }, 'to begin'), false);
  });
});

describe('the rules', () => {
  const idOf = (found: { invariant: string } | undefined) => found?.invariant;

  it('find an update beyond the budget', () => {
    const facts = { others: ['a'], limit: 1, hasSlot: false };
    assert.equal(idOf(withinBudget(facts)), 'S1');
    assert.equal(idOf(withinBudget({ ...facts, surging: true })), 'S10');
    assert.equal(withinBudget({ ...facts, hasSlot: true }), undefined);
    assert.equal(withinBudget({ ...facts, limit: 2 }), undefined);
    assert.equal(idOf(withinDownBudget({ down: ['a'], limit: 1 })), 'S2');
    assert.equal(withinDownBudget({ down: [], limit: 1 }), undefined);
  });

  it('find an update on a node that is offline, unknown, or has just come back', () => {
    assert.equal(idOf(isOnline({ ready: false })), 'S4');
    assert.equal(idOf(isOnline({ ready: undefined })), 'S4');
    assert.equal(isOnline({ ready: true }), undefined);
    assert.equal(idOf(isSettled({ backForMs: 999, settleMs: 1000 })), 'S3');
    assert.equal(isSettled({ backForMs: 1000, settleMs: 1000 }), undefined);
    assert.equal(isSettled({ backForMs: -1, settleMs: 1000 }), undefined);
  });

  it('find every control that is disregarded', () => {
    const all = { paused: true, manual: true, ownerHasNotAgreed: true, zeroBudget: true, unobserved: true };
    assert.equal(obeysControls({ ...all, notSelected: true }).length, 6);
    assert.deepEqual(obeysControls({ paused: false }), []);
    assert.equal(idOf(withinPartition({ updated: 2, permitted: 2 })), 'S9');
    assert.equal(withinPartition({ updated: 1, permitted: 2 }), undefined);
  });
});
