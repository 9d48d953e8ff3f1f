import assert from 'node:assert/strict';
import type { Container, ContainerStatus, EnvVar, Pod, PodCondition } from 'kubernetes-types/core/v1.d.ts';
import { gate } from '../../../words/index.ts';
import type { InPlacePlan } from '../inplace/plan.ts';
import { type InPlaceInput, type InPlaceStep, nextInPlaceStep } from '../inplace/step.ts';

export const T0 = Date.parse('2026-01-01T00:00:00Z');

export const priority = (value: number): EnvVar[] => [{ name: 'KRUISE_CONTAINER_PRIORITY', value: String(value) }];

/** A pod and its kubelet, which restarts containers and applies strategic merge patches of the relevant fields. */
export const createWorld = (containers: Container[], sidecars: Container[] = []) => {
  let version = 1;
  let started = 0;
  const running = (name: string, image: string): ContainerStatus => {
    started += 1;
    return {
      name,
      image,
      imageID: 'sha256:same',
      containerID: `containerd://${started}`,
      ready: true,
      restartCount: 0,
      state: { running: { startedAt: new Date(T0 + started * 1000).toISOString() } },
    };
  };
  const pod: Pod & {
    metadata: NonNullable<Pod['metadata']>;
    spec: NonNullable<Pod['spec']>;
    status: NonNullable<Pod['status']>;
  } = {
    metadata: {
      name: 'app-1',
      uid: 'p-1',
      resourceVersion: '1',
      labels: { 'controller-revision-hash': 'old', app: 'app' },
      annotations: {},
    },
    spec: { containers, initContainers: sidecars, readinessGates: [{ conditionType: gate.inPlace }] },
    status: {
      conditions: [{ type: gate.inPlace, status: 'True', lastTransitionTime: '2025-12-31T00:00:00Z' }],
      containerStatuses: containers.map(({ name, image = '' }) => running(name, image)),
      initContainerStatuses: sidecars.map(({ name, image = '' }) => running(name, image)),
    },
  };
  type Patch = {
    metadata?: {
      uid?: string;
      resourceVersion?: string;
      labels?: Record<string, string | null>;
      annotations?: Record<string, string | null>;
    };
    spec?: { containers?: Container[]; initContainers?: Container[] };
    status?: { conditions: PodCondition[] };
  };
  const merge = (into: Record<string, string>, from: Record<string, string | null> = {}): void => {
    for (const [key, value] of Object.entries(from)) {
      if (value === null) delete into[key];
      else into[key] = value;
    }
  };
  const apply = (body: object): void => {
    const { metadata, spec, status } = body as Patch;
    assert.equal(metadata?.uid, 'p-1', 'every write names the pod');
    if (spec ?? metadata?.labels)
      assert.equal(metadata?.resourceVersion, pod.metadata.resourceVersion, 'and its version');
    merge(pod.metadata.labels ?? {}, metadata?.labels);
    merge(pod.metadata.annotations ?? {}, metadata?.annotations);
    for (const list of ['containers', 'initContainers'] as const)
      pod.spec[list] = (pod.spec[list] ?? []).map((each) => ({
        ...each,
        ...spec?.[list]?.find(({ name }) => name === each.name),
      }));
    for (const condition of status?.conditions ?? [])
      pod.status.conditions = [
        ...(pod.status.conditions ?? []).filter(({ type }) => type !== condition.type),
        condition,
      ];
    version += 1;
    pod.metadata = { ...pod.metadata, resourceVersion: String(version) };
  };
  return {
    pod,
    apply,
    restart: (name: string): void => {
      for (const list of ['containerStatuses', 'initContainerStatuses'] as const)
        pod.status[list] = (pod.status[list] ?? []).map((each) =>
          each.name === name ? running(name, each.image) : each,
        );
    },
    condition: (condition: PodCondition): void => {
      pod.status.conditions = [
        ...(pod.status.conditions ?? []).filter(({ type }) => type !== condition.type),
        condition,
      ];
    },
  };
};

export const plan = (more: Partial<InPlacePlan> = {}): InPlacePlan => ({
  kind: 'in-place',
  images: {},
  resources: {},
  labels: {},
  annotations: {},
  ...more,
});
export const ask = (pod: Pod, more: Partial<InPlaceInput> = {}): InPlaceStep =>
  nextInPlaceStep({ pod, revision: 'new', plan: undefined, resources: {}, graceMs: 0, now: T0, ...more });
export const bodyOf = (step: InPlaceStep, kind: 'pod' | 'status' | 'resize'): object => {
  assert.equal(step.kind, kind);
  assert.ok('body' in step);
  return step.body;
};
export const waits = (step: InPlaceStep): string => {
  assert.ok(step.kind === 'wait', `${step.kind} instead of wait`);
  return step.why;
};
