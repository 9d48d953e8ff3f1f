import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { type AdvancedView, toAdvancedView } from './advanced-view.ts';
import { parseAdvancedPolicy } from './api/policy.ts';
import type { AdvancedDaemonSetSpec } from './api/types.ts';

const viewOf = (spec: Partial<AdvancedDaemonSetSpec>, metadata: ObjectMeta = {}, known?: AdvancedView) =>
  toAdvancedView(
    {
      apiVersion: 'apps.kruise.io/v1beta1',
      kind: 'DaemonSet',
      metadata: { name: 'app', namespace: 'edge', ...metadata },
      spec: { selector: { matchLabels: { app: 'app' } }, template: { spec: { containers: [] } }, ...spec },
    },
    known,
  );

describe('the view of an Advanced DaemonSet', () => {
  it('with an empty selector matches no pod', () => {
    const { podSelector, selectorError } = viewOf({ selector: {} }) ?? {};
    assert.deepEqual([podSelector, selectorError?.reason], ['!edgeset.io/nothing,edgeset.io/nothing', 'SelectingAll']);
    assert.equal(viewOf({})?.podSelector, 'app=app');
    assert.equal(viewOf({})?.selectorError, undefined);
  });

  it('with a selector that no request can carry matches no pod', () => {
    const values = Array.from({ length: 2_000 }, (_, index) => `value-${index}-of-many`);
    const { podSelector, selectorError } =
      viewOf({ selector: { matchExpressions: [{ key: 'app', operator: 'In', values }] } }) ?? {};
    assert.deepEqual(
      [podSelector, selectorError?.reason],
      ['!edgeset.io/nothing,edgeset.io/nothing', 'SelectorTooLong'],
    );
  });

  it('with a template that no node can be compared with is held', () => {
    const tolerations = Array.from({ length: 1001 }, (_, index) => ({ key: `key-${index}` }));
    assert.equal(viewOf({ template: { spec: { containers: [], tolerations } } })?.policy.kind, 'invalid');
  });

  it('keeps its template while the generation is the same', () => {
    const template = (image: string) => ({ template: { spec: { containers: [{ name: 'app', image }] } } });
    const known = viewOf(template('app:v1'), { generation: 3 });
    const same = viewOf(template('app:v1'), { generation: 3, resourceVersion: '8' }, known);
    assert.equal(same?.resourceVersion, '8');
    assert.equal(same.template, known?.template, 'the same object, whose digest is known');
    assert.equal(same.needs, known?.needs);
    const next = { generation: 4 };
    assert.deepEqual(viewOf(template('app:v2'), next, known), viewOf(template('app:v2'), next));
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

describe('the annotations of an Advanced DaemonSet', () => {
  const parse = (annotations: Record<string, string>) => parseAdvancedPolicy({} as AdvancedDaemonSetSpec, annotations);

  it('make its policy invalid when they are misspelled, and name the field that was meant', () => {
    const parsed = parse({ 'edgeset.io/partiton': '90%', 'edgeset.io/settle-second': '5' });
    assert.equal(parsed.kind, 'invalid');
    assert.deepEqual(parsed.kind === 'invalid' && parsed.errors.map(({ field, remedy }) => [field, remedy]), [
      ['edgeset.io/partiton', 'remove it, and set spec.updateStrategy.rollingUpdate.partition'],
      ['edgeset.io/settle-second', 'rename it to edgeset.io/settle-seconds'],
    ]);
  });

  it('are warned of when they have no effect here', () => {
    const { kind, warnings } = parse({ 'edgeset.io/paused': 'true', 'edgeset.io/max-unavailable': '1' });
    assert.equal(kind, 'on');
    assert.deepEqual(
      warnings.map(({ remedy }) => remedy),
      ['maxUnavailable', 'paused'].map((field) => `remove it, and set spec.updateStrategy.rollingUpdate.${field}`),
    );
  });
});
