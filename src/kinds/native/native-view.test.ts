import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { formatPolicyError } from '../../rollout/index.ts';
import { toNativeView } from './native-view.ts';

const daemonSet = (
  change: { annotations?: Record<string, string>; metadata?: object; spec?: object } = {},
): DaemonSet =>
  ({
    metadata: {
      uid: 'u',
      namespace: 'edge',
      name: 'app',
      resourceVersion: '7',
      generation: 3,
      annotations: { 'apps.openyurt.io/update-strategy': 'auto', ...change.annotations },
      ...change.metadata,
    },
    spec: {
      selector: {
        matchLabels: { app: 'app' },
        matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['test'] }],
      },
      template: { spec: { containers: [] } },
      updateStrategy: { type: 'OnDelete' },
      minReadySeconds: 4,
      ...change.spec,
    },
    status: { observedGeneration: 2 },
  }) as unknown as DaemonSet;

describe('a DaemonSet that opted in', () => {
  it('with a selector that no request can carry watches no pod, and says so', () => {
    const labels = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'x'.repeat(50)]));
    const fits = toNativeView(daemonSet({ spec: { selector: { matchLabels: labels(400) } } }));
    assert.equal(fits?.policy.kind, 'on');
    const view = toNativeView(daemonSet({ spec: { selector: { matchLabels: labels(1_200) } } }));
    assert.equal(view?.podSelector, '!edgeset.io/nothing,edgeset.io/nothing');
    assert.ok(view?.policy.kind === 'invalid');
    assert.match(
      view.policy.errors.map(formatPolicyError).join(),
      /spec\.selector "\d+ bytes" is longer than the 32768/,
    );
  });

  it('with a template that no node can be compared with is held', () => {
    const nodeSelector = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`key-${index}`, '']));
    const { policy } =
      toNativeView(daemonSet({ spec: { template: { spec: { containers: [], nodeSelector } } } })) ?? {};
    assert.match(policy?.kind === 'invalid' ? policy.errors.map(formatPolicyError).join() : '', /give at most 1000 in/);
  });

  it('is cached with what a rollout needs', () => {
    const view = toNativeView(daemonSet());
    assert.equal(view?.podSelector, 'app=app,tier!=test');
    assert.deepEqual([view?.generation, view?.observedGeneration, view?.resourceVersion], [3, 2, '7']);
    assert.equal(view?.policy.kind, 'on');
    assert.equal(view?.policy.policy.minReadyMs, 4_000);
  });

  it('keeps what follows from its spec alone while the generation is the same', () => {
    const image = (name: string) => ({ template: { spec: { containers: [{ name: 'app', image: name }] } } });
    const known = toNativeView(daemonSet({ spec: image('app:v1') }));
    const same = toNativeView(daemonSet({ spec: image('app:v1'), metadata: { resourceVersion: '8' } }), known);
    assert.equal(same?.resourceVersion, '8');
    assert.equal(same.needs, known?.needs, 'the same object');
    assert.equal(same.templateDigest, known?.templateDigest);
    const next = daemonSet({ spec: image('app:v2'), metadata: { generation: 4 } });
    assert.deepEqual(toNativeView(next, known), toNativeView(next));
    assert.notEqual(toNativeView(next, known)?.templateDigest, known?.templateDigest);
  });

  it('is cached as invalid while the native controller updates it or a value is wrong', () => {
    const kinds = [
      daemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } }),
      daemonSet({ spec: { updateStrategy: undefined } }),
      daemonSet({ annotations: { 'apps.openyurt.io/update-strategy': 'sometimes' } }),
      daemonSet({ annotations: { 'apps.openyurt.io/max-unavailable': '-1' } }),
    ].map((each) => toNativeView(each)?.policy.kind);
    assert.deepEqual(kinds, ['invalid', 'invalid', 'invalid', 'invalid']);
  });

  it("opts in with the proposal's annotation too", () => {
    const annotations = { 'apps.openyurt.io/upgrade-strategy': 'AdvancedRollingUpdate' };
    assert.equal(toNativeView(daemonSet({ metadata: { annotations } }))?.policy.kind, 'on');
  });
});

describe('a DaemonSet is not cached', () => {
  const cases: [string, DaemonSet][] = [
    ['without the annotation', daemonSet({ metadata: { annotations: { other: 'x' } } })],
    ['without any annotation', daemonSet({ metadata: { annotations: undefined } })],
    ['that is being deleted', daemonSet({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
    ['without a pod template', daemonSet({ spec: { template: {} } })],
  ];
  for (const [what, set] of cases) it(what, () => assert.equal(toNativeView(set), undefined));
});
