import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { type InPlacePlan, planInPlace } from './plan.ts';

const main: Container = { name: 'main', image: 'app:1' };
const template = (
  spec: Partial<PodSpec> = {},
  metadata: PodTemplateSpec['metadata'] = { labels: { app: 'app' } },
): PodTemplateSpec => ({
  metadata,
  spec: { containers: [main], ...spec },
});
const inPlace = (from: PodTemplateSpec, to: PodTemplateSpec): InPlacePlan => {
  const plan = planInPlace(from, to, to);
  assert.ok(plan.kind === 'in-place', plan.kind === 'recreate' ? plan.why : '');
  return plan;
};
const whyNot = (from: PodTemplateSpec, to: PodTemplateSpec): string => {
  const plan = planInPlace(from, to, to);
  assert.ok(plan.kind === 'recreate');
  return plan.why;
};
const sidecar = (image: string): Container[] => [{ name: 'side', image, restartPolicy: 'Always' }];
const sized = (requests: Record<string, string>, limits: Record<string, string> = {}): PodTemplateSpec =>
  template({ containers: [{ ...main, resources: { requests, limits } }] });

describe('a pod is updated in place', () => {
  it('when images of containers differ', () => {
    const to = template({ containers: [{ ...main, image: 'app:2' }] });
    assert.deepEqual(inPlace(template(), to), {
      kind: 'in-place',
      images: { main: 'app:2' },
      resources: {},
      labels: {},
      annotations: {},
    });
  });

  it('when images of sidecars differ', () => {
    assert.deepEqual(
      inPlace(template({ initContainers: sidecar('a') }), template({ initContainers: sidecar('b') })).images,
      { side: 'b' },
    );
  });

  it('when labels or annotations differ, removed ones included', () => {
    const { images, labels, annotations } = inPlace(
      template({}, { labels: { app: 'app', old: 'x' }, annotations: { a: '1' } }),
      template({}, { labels: { app: 'app', fresh: 'y' }, annotations: { a: '2' } }),
    );
    assert.deepEqual(
      { images, labels, annotations },
      { images: {}, labels: { old: null, fresh: 'y' }, annotations: { a: '2' } },
    );
  });

  for (const [from, to, before, after] of [
    ['nginx', 'nginx:1.25', 'Always', 'IfNotPresent'],
    ['nginx:1.25', 'nginx:latest', 'IfNotPresent', 'Always'],
    ['registry:5000/nginx', 'registry:5000/nginx@sha256:01', 'Always', 'IfNotPresent'],
  ] as const)
    it(`when ${to} replaces ${from}, and the pull policies follow from that`, () => {
      const old = template({ containers: [{ ...main, image: from, imagePullPolicy: before }] });
      const next = template({ containers: [{ ...main, image: to, imagePullPolicy: after }] });
      const stated = template({ containers: [{ ...main, image: to }] });
      assert.equal(planInPlace(old, next, stated).kind, 'in-place');
      assert.equal(planInPlace(old, next, next).kind, 'recreate', 'the new template states its policy');
      const other = template({ containers: [{ ...main, image: from, imagePullPolicy: 'Never' }] });
      assert.equal(planInPlace(other, next, stated).kind, 'recreate', 'the old template stated its policy');
    });

  it('when cpu or memory differ within one quality of service class', () => {
    const { resources } = inPlace(sized({ cpu: '50m', memory: '32Mi' }), sized({ cpu: '80m', memory: '48Mi' }));
    assert.deepEqual(resources, { main: { requests: { cpu: '80m', memory: '48Mi' }, limits: {} } });
  });
});

describe('a pod is recreated', () => {
  it('when anything else in its spec differs, and the field is named', () => {
    assert.match(whyNot(template(), template({ hostNetwork: true })), /^spec\.hostNetwork /);
    const commanded = template({ containers: [{ ...main, command: ['run'] }] });
    assert.match(whyNot(template(), commanded), /^spec\.containers\.0\.command /);
    assert.match(
      whyNot(template(), template({ containers: [main, { name: 'more', image: 'x' }] })),
      /^spec\.containers\.1 /,
    );
  });

  it('when an init container differs, which has already completed', () => {
    const init = (image: string): Partial<PodSpec> => ({ initContainers: [{ name: 'init', image }] });
    assert.match(whyNot(template(init('a')), template(init('b'))), /^spec\.initContainers\.0\.image /);
  });

  it('when an environment variable refers to what changes', () => {
    const reading = (fieldPath: string): Partial<PodSpec> => ({
      containers: [{ ...main, env: [{ name: 'X', valueFrom: { fieldRef: { fieldPath } } }] }],
    });
    const change = (fieldPath: string): [PodTemplateSpec, PodTemplateSpec] => [
      template(reading(fieldPath), { labels: { a: '1' }, annotations: { b: '1' } }),
      template(reading(fieldPath), { labels: { a: '2' }, annotations: { b: '2' } }),
    ];
    assert.match(whyNot(...change("metadata.labels['a']")), /container main reads/);
    assert.match(whyNot(...change("metadata.annotations['b']")), /container main reads/);
    inPlace(...change("metadata.labels['other']"));
    inPlace(...change('metadata.name'));
  });

  it('when amounts are removed, or the quality of service class changes', () => {
    assert.match(whyNot(sized({ cpu: '50m', memory: '1Mi' }), sized({ cpu: '50m' })), /loses its request of memory/);
    assert.match(whyNot(sized({}, { cpu: '1' }), sized({}, {})), /loses its limit of cpu/);
    assert.match(whyNot(sized({}), sized({ cpu: '50m' })), /from BestEffort to Burstable/);
    const both = { cpu: '1', memory: '1Gi' };
    assert.match(whyNot(sized(both, both), sized(both, { ...both, cpu: '2' })), /from Guaranteed to Burstable/);
    inPlace(sized(both, both), sized({ ...both, cpu: '2' }, { ...both, cpu: '2' }));
  });

  it('when resources differ that cannot be resized', () => {
    assert.match(
      whyNot(sized({ 'ephemeral-storage': '1Gi' }), sized({ 'ephemeral-storage': '2Gi' })),
      /^spec\.containers\.0\.resources\.requests\.ephemeral-storage /,
    );
  });

  it('when metadata other than labels and annotations differs', () => {
    assert.match(
      whyNot(template(), template({}, { labels: { app: 'app' }, finalizers: ['a.io/b'] })),
      /^metadata\.finalizers /,
    );
  });
});
