import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { toAdvancedView } from './advanced-view.ts';
import type { AdvancedDaemonSetSpec } from './api/types.ts';

const viewOf = (spec: Partial<AdvancedDaemonSetSpec>, metadata: ObjectMeta = {}) =>
  toAdvancedView({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'edge', ...metadata },
    spec: { selector: { matchLabels: { app: 'app' } }, template: { spec: { containers: [] } }, ...spec },
  });

describe('the view of an Advanced DaemonSet', () => {
  it('with an empty selector matches no pod', () => {
    const { podSelector, selectsAll } = viewOf({ selector: {} }) ?? {};
    assert.deepEqual([podSelector, selectsAll], ['!edgeset.io/nothing,edgeset.io/nothing', true]);
    assert.equal(viewOf({})?.podSelector, 'app=app');
    assert.equal(viewOf({})?.selectsAll, false);
  });

  it('exists while a deletion waits for the hook, and tells what happens to the pods', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const finalizers = ['example.com/other', 'edgeset.io/pre-delete'];
    assert.equal(viewOf({})?.deleted, undefined);
    assert.equal(viewOf({}, { finalizers })?.deleted, undefined);
    assert.equal(viewOf({}, { deletionTimestamp, finalizers: ['example.com/other'] }), undefined);
    assert.equal(viewOf({}, { deletionTimestamp, finalizers })?.deleted, 'with-pods');
    assert.equal(viewOf({}, { deletionTimestamp, finalizers: [...finalizers, 'orphan'] })?.deleted, 'pods-stay');
  });
});
