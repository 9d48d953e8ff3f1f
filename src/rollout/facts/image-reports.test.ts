import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { imageReportsOf, parseImageId } from './image-reports.ts';
import { toPodFacts } from './pod.ts';

const A = `sha256:${'a'.repeat(64)}`;
const B = `sha256:${'b'.repeat(64)}`;

const status = (name: string, imageID: string, change: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  image: 'whatever:the-runtime-says',
  imageID,
  containerID: 'containerd://1',
  ready: true,
  restartCount: 0,
  state: { running: { startedAt: '2030-01-01T00:00:00Z' } },
  ...change,
});

/** A pod of containers `[name, image, imageID]`. */
const podOf = (containers: readonly [string, string, string][], change: Partial<ContainerStatus> = {}): Pod => ({
  metadata: { uid: 'u', name: 'p', generation: 1 },
  spec: { nodeName: 'n', containers: containers.map(([name, image]) => ({ name, image })) },
  status: {
    phase: 'Running',
    containerStatuses: containers.map(([name, , imageID]) => status(name, imageID, change)),
  },
});

const reported = (pod: Pod): string[] =>
  imageReportsOf(pod).map(({ image, source, digest }) => `${image} ${source} ${digest.slice(0, 8)}`);

describe('an image ID', () => {
  const cases: [string, string, ReturnType<typeof parseImageId>][] = [
    ['of containerd', `docker.io/library/app@${A}`, { repository: 'app', digest: A }],
    ['of another registry, with a port', `host:5000/team/app@${A}`, { repository: 'host:5000/team/app', digest: A }],
    ['of Docker', `docker-pullable://app@${A}`, { repository: 'app', digest: A }],
    ['of an image that Docker has built', `docker://${A}`, { repository: '', digest: A }],
    ['of an image that was imported', A, { repository: '', digest: A }],
    [
      'with another algorithm',
      `app@sha512:${'c'.repeat(128)}`,
      { repository: 'app', digest: `sha512:${'c'.repeat(128)}` },
    ],
    ['that is empty', '', undefined],
    ['without an algorithm', 'a'.repeat(64), undefined],
    ['with a digest that is cut off', 'app@sha256:abc', undefined],
    ['in another form', 'app:v2', undefined],
    ['that is too long', `${'x'.repeat(2_000)}@${A}`, undefined],
  ];
  for (const [name, text, expected] of cases) it(name, () => assert.deepEqual(parseImageId(text), expected));
});

describe('a pod reports', () => {
  it('each image that it runs, init containers first', () => {
    const pod = podOf([
      ['app', 'app:v2', `reg/app@${A}`],
      ['side', 'side:v1', `reg/side@${B}`],
    ]);
    Object.assign(pod.spec ?? {}, { initContainers: [{ name: 'setup', image: 'setup:v1' }] });
    Object.assign(pod.status ?? {}, {
      // The order is the kubelet's own.
      containerStatuses: pod.status?.containerStatuses?.toReversed(),
      initContainerStatuses: [status('setup', A, { state: { terminated: { exitCode: 0 } } })],
    });
    assert.deepEqual(reported(pod), ['setup:v1  sha256:a', 'app:v2 reg/app sha256:a', 'side:v1 reg/side sha256:b']);
  });

  it('an image once for each content that its containers run', () => {
    const same = podOf([
      ['one', 'app:v2', `app@${A}`],
      ['two', 'app:v2', `app@${A}`],
    ]);
    assert.deepEqual(reported(same), ['app:v2 app sha256:a']);
    const moved = podOf([
      ['one', 'app:v2', `app@${A}`],
      ['two', 'app:v2', `app@${B}`],
    ]);
    assert.deepEqual(reported(moved), ['app:v2 app sha256:a', 'app:v2 app sha256:b']);
  });

  it('what has crashed, which may be why', () => {
    const pod = podOf([['app', 'app:v2', `app@${A}`]], { state: { waiting: { reason: 'CrashLoopBackOff' } } });
    assert.deepEqual(reported(pod), ['app:v2 app sha256:a']);
  });

  it('the same list as other pods do, so that it is kept once', () => {
    const pod = (): Pod => podOf([['app', 'app:v2', `app@${A}`]]);
    assert.equal(imageReportsOf(pod()), imageReportsOf(pod()));
  });

  it('CRI-O apart, which names another digest of a multi-architecture image', () => {
    const pod = podOf([['app', 'app:v2', `app@${A}`]], { containerID: 'cri-o://1' });
    assert.deepEqual(reported(pod), ['app:v2 cri-o app sha256:a']);
  });
});

describe('a pod reports nothing', () => {
  it('of an image that is named by its digest', () =>
    assert.deepEqual(reported(podOf([['app', `app:v2@${A}`, `app@${A}`]])), []));

  it('while its containers have not started', () =>
    assert.deepEqual(reported(podOf([['app', 'app:v2', '']], { containerID: '', state: { waiting: {} } })), []));

  it('of a container that its spec lacks', () => {
    const pod = podOf([['app', 'app:v2', `app@${A}`]]);
    Object.assign(pod.status?.containerStatuses?.[0] ?? {}, { name: 'debugger' });
    assert.deepEqual(reported(pod), []);
  });

  it('while its status is about an earlier spec', () => {
    const pod = podOf([['app', 'app:v2', `app@${A}`]]);
    Object.assign(pod.metadata ?? {}, { generation: 2 });
    assert.deepEqual(reported(pod), ['app:v2 app sha256:a'], 'a kubelet that does not say which');
    Object.assign(pod.status ?? {}, { observedGeneration: 1 });
    assert.deepEqual(reported(pod), []);
    Object.assign(pod.status ?? {}, { observedGeneration: 2 });
    assert.deepEqual(reported(pod), ['app:v2 app sha256:a']);
  });

  it('of a container that its in-place update has not restarted yet', () => {
    const pod = podOf([['app', 'app:v2', `app@${A}`]]);
    const before = { imageID: `app@${A}`, containerID: 'containerd://1', startedAt: '', image: 'app:v1' };
    const state = {
      revision: 'b',
      updateTimestamp: '2030-01-01T00:00:00Z',
      lastContainerStatuses: { app: before },
      nextContainerImages: {},
    };
    Object.assign(pod.metadata ?? {}, {
      annotations: { 'apps.kruise.io/inplace-update-state': JSON.stringify(state) },
    });
    assert.deepEqual(reported(pod), []);
    Object.assign(pod.status?.containerStatuses?.[0] ?? {}, { containerID: 'containerd://2', imageID: `app@${B}` });
    assert.deepEqual(reported(pod), ['app:v2 app sha256:b']);
  });

  it('while it is updated in place, ends, or has ended', () => {
    const facts = (change: Pod): unknown => {
      const pod = podOf([['app', 'app:v2', `app@${A}`]]);
      return toPodFacts({
        metadata: { ...pod.metadata, ...change.metadata },
        spec: { containers: [], ...pod.spec, ...change.spec },
        status: { ...pod.status, ...change.status },
      })?.imageReports;
    };
    const gates = {
      readinessGates: [{ conditionType: 'InPlaceUpdateReady' }],
      containers: [{ name: 'app', image: 'app:v2' }],
    };
    const gate = (open: string) => ({ conditions: [{ type: 'InPlaceUpdateReady', status: open }] });
    assert.notEqual(facts({ spec: gates, status: gate('True') }), undefined);
    assert.equal(facts({ spec: gates, status: gate('False') }), undefined);
    assert.equal(facts({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }), undefined);
    assert.equal(facts({ status: { phase: 'Failed' } }), undefined);
  });
});
