import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isPreparing } from '../../../rollout/index.ts';
import { gate, LIFECYCLE_STATE } from '../../../words/index.ts';
import type { PreDelete } from '../api/types.ts';
import { cancelDelete, holdersOf, nextDeleteStep, type PreDeleteInput } from './pre-delete.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const byLabel: PreDelete = { labelsHandler: { 'example.io/block-deleting': 'true' } };
const byFinalizer: PreDelete = { finalizersHandler: ['example.io/unready-blocker'], markPodNotReady: true };

const pod = (metadata: Pod['metadata'] = {}, gated = false, condition?: 'True' | 'False'): Pod => ({
  metadata: { name: 'app-1', uid: 'p-1', resourceVersion: '5', creationTimestamp: '2025-12-31T00:00:00Z', ...metadata },
  spec: { containers: [], ...(gated && { readinessGates: [{ conditionType: gate.lifecycle }] }) },
  ...(condition && { status: { conditions: [{ type: gate.lifecycle, status: condition }] } }),
});
const blocked = { labels: { 'example.io/block-deleting': 'true' } };
const preparing = (since?: string): Pod['metadata'] => ({
  labels: { ...blocked.labels, [LIFECYCLE_STATE]: 'PreparingDelete' },
  ...(since !== undefined && { annotations: { 'lifecycle.apps.kruise.io/timestamp': since } }),
});
const step = (of: Pod, hook: PreDelete | undefined, more: Partial<PreDeleteInput> = {}) =>
  nextDeleteStep({ pod: of, hook, timeoutMs: Number.POSITIVE_INFINITY, seenSince: T0, now: T0, ...more });

describe('before a pod is deleted', () => {
  it('nothing is written without a hook, or to a pod that the hook does not apply to', () => {
    assert.deepEqual(step(pod(blocked), undefined), { kind: 'delete', overdue: false });
    assert.deepEqual(step(pod(), byLabel), { kind: 'delete', overdue: false });
    assert.deepEqual(step(pod({ labels: { 'example.io/block-deleting': 'false' } }), byLabel), {
      kind: 'delete',
      overdue: false,
    });
    assert.deepEqual(step(pod({ finalizers: ['other.io/x'] }), byFinalizer), { kind: 'delete', overdue: false });
  });

  it('label and timestamp call the hook, on this version of the pod only', () => {
    assert.deepEqual(step(pod(blocked), byLabel), {
      kind: 'pod',
      body: {
        metadata: {
          uid: 'p-1',
          resourceVersion: '5',
          labels: { 'lifecycle.apps.kruise.io/state': 'PreparingDelete' },
          annotations: { 'lifecycle.apps.kruise.io/timestamp': '2026-01-01T00:00:00Z' },
        },
      },
    });
  });

  it('it waits and names the reason, until label and finalizer are removed', () => {
    assert.deepEqual(step(pod(preparing('2026-01-01T00:00:00Z')), byLabel), {
      kind: 'wait',
      holders: ['label example.io/block-deleting'],
      until: Number.POSITIVE_INFINITY,
    });
    const released = { labels: { [LIFECYCLE_STATE]: 'PreparingDelete' } };
    assert.deepEqual(step(pod(released), byLabel), { kind: 'delete', overdue: false });
  });

  it('markPodNotReady first removes it from its Services if it has the gate', () => {
    const held = { finalizers: ['example.io/unready-blocker'] };
    const first = step(pod(held, true, 'True'), byFinalizer);
    assert.equal(first.kind, 'status');
    assert.equal(step(pod(held, true, 'False'), byFinalizer).kind, 'pod');
    assert.equal(step(pod(held, false), byFinalizer).kind, 'pod', 'without the gate there is nothing to close');
    assert.equal(
      step(pod(held, true, 'True'), { finalizersHandler: held.finalizers }).kind,
      'pod',
      'nor where it is not asked for',
    );
  });

  it('the wait ends after the timeout, also if the timestamp is invalid', () => {
    const timed = { timeoutMs: 60_000 };
    const asked = pod(preparing('2026-01-01T00:00:00Z'));
    assert.deepEqual(step(asked, byLabel, { ...timed, now: T0 + 59_999 }), {
      kind: 'wait',
      holders: ['label example.io/block-deleting'],
      until: T0 + 60_000,
    });
    assert.deepEqual(step(asked, byLabel, { ...timed, now: T0 + 60_000 }), { kind: 'delete', overdue: true });
    for (const since of [undefined, 'yesterday'])
      assert.deepEqual(step(pod(preparing(since)), byLabel, timed), { kind: 'delete', overdue: true });
  });

  it('clock skew does not shorten the wait, and extends it by at most ten minutes', () => {
    const asked = pod(preparing('2026-01-01T00:00:00Z'));
    const until = (seenSince: number) => {
      const next = step(asked, byLabel, { timeoutMs: 60_000, seenSince, now: seenSince });
      return next.kind === 'wait' ? next.until - T0 : next.kind;
    };
    assert.deepEqual(
      [-300_000, 5_000, 300_000, 3_600_000].map((ms) => until(T0 + ms)),
      [-240_000, 65_000, 360_000, 'delete'],
    );
  });

  it('every label and finalizer that holds it is named', () => {
    const both = { ...byLabel, ...byFinalizer };
    assert.deepEqual(holdersOf(pod({ ...blocked, finalizers: ['example.io/unready-blocker', 'x.io/y'] }), both), [
      'label example.io/block-deleting',
      'finalizer example.io/unready-blocker',
    ]);
  });
});

describe('a pod whose deletion is cancelled', () => {
  it('first gets its label changed, and then returns to its Services', () => {
    const waiting = pod(preparing('2026-01-01T00:00:00Z'), true, 'False');
    assert.ok(isPreparing(waiting));
    const told = cancelDelete(waiting, T0);
    assert.ok(told?.kind === 'pod');
    assert.deepEqual((told.body as { metadata: { labels: object } }).metadata.labels, { [LIFECYCLE_STATE]: 'Normal' });
    const normal = pod({ labels: { [LIFECYCLE_STATE]: 'Normal' } }, true, 'False');
    assert.equal(cancelDelete(normal, T0)?.kind, 'status');
    assert.equal(cancelDelete(pod({ labels: { [LIFECYCLE_STATE]: 'Normal' } }, true, 'True'), T0), undefined);
  });

  it('is not written to if nothing was prepared', () => {
    assert.equal(cancelDelete(pod(blocked), T0), undefined);
  });
});
