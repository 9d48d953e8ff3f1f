import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ResourceRequirements } from 'kubernetes-types/core/v1.d.ts';
import { readInPlaceState } from '../../../rollout/index.ts';
import { gate, IN_PLACE_STATE } from '../../../words/index.ts';
import { ask, bodyOf, createWorld, plan, priority, T0, waits } from '../testing/in-place-world.ts';
import type { InPlacePlan } from './plan.ts';

describe('an update in place', () => {
  it('closes the gate, sets the image, waits for the restart, opens the gate', () => {
    const { pod, apply, restart } = createWorld([{ name: 'main', image: 'app:1' }]);
    const change = { plan: plan({ images: { main: 'app:2' } }) };
    apply(bodyOf(ask(pod, change), 'status'));
    assert.equal(pod.status.conditions?.[0]?.status, 'False');
    apply(bodyOf(ask(pod, change), 'pod'));
    assert.equal(pod.spec.containers[0]?.image, 'app:2');
    assert.equal(pod.metadata.labels?.['controller-revision-hash'], 'new');
    assert.equal(pod.metadata.labels?.app, 'app');
    assert.match(waits(ask(pod)), /container main has not restarted/);
    restart('main');
    apply(bodyOf(ask(pod), 'status'));
    assert.equal(pod.status.conditions?.[0]?.status, 'True');
    assert.deepEqual(ask(pod), { kind: 'done' });
  });

  it('opens the gate when the kubelet reports that containers are ready, and soon without that', () => {
    const { pod, apply, restart, condition } = createWorld([{ name: 'main', image: 'app:1' }]);
    const change = { plan: plan({ images: { main: 'app:2' } }) };
    for (const kind of ['status', 'pod'] as const) apply(bodyOf(ask(pod, change), kind));
    restart('main');
    condition({ type: 'ContainersReady', status: 'False' });
    const now = Date.parse(pod.status.containerStatuses?.[0]?.state?.running?.startedAt ?? '');
    assert.match(waits(ask(pod, { now: now + 1_999 })), /not ready yet/);
    assert.equal(ask(pod, { now: now + 2_000 }).kind, 'status');
    condition({ type: 'ContainersReady', status: 'True' });
    assert.equal(ask(pod, { now }).kind, 'status');
  });

  it('recognizes the restart although the image has the same ID', () => {
    const { pod, apply, restart } = createWorld([{ name: 'main', image: 'app:1' }]);
    const change = { plan: plan({ images: { main: 'app:2' } }) };
    apply(bodyOf(ask(pod, change), 'status'));
    apply(bodyOf(ask(pod, change), 'pod'));
    const before = pod.status.containerStatuses?.[0]?.imageID;
    restart('main');
    assert.equal(pod.status.containerStatuses?.[0]?.imageID, before);
    assert.equal(ask(pod).kind, 'status');
  });

  it('does not mistake a stopped container, or another restarted one, for the new one', () => {
    const { pod, apply, restart } = createWorld([
      { name: 'main', image: 'app:1' },
      { name: 'other', image: 'x' },
    ]);
    const change = { plan: plan({ images: { main: 'app:2' } }) };
    apply(bodyOf(ask(pod, change), 'status'));
    apply(bodyOf(ask(pod, change), 'pod'));
    restart('other');
    waits(ask(pod));
    const [status] = pod.status.containerStatuses ?? [];
    assert.ok(status);
    status.containerID = 'containerd://other';
    status.state = { waiting: { reason: 'ImagePullBackOff' } };
    assert.match(waits(ask(pod)), /ImagePullBackOff/);
  });

  it('does not mistake a container that restarted before the kubelet saw the update for the new one', () => {
    const { pod, apply, restart } = createWorld([{ name: 'main', image: 'app:1' }]);
    const change = { plan: plan({ images: { main: 'app:2' } }) };
    apply(bodyOf(ask(pod, change), 'status'));
    apply(bodyOf(ask(pod, change), 'pod'));
    Object.assign(pod.metadata, { generation: 2 });
    Object.assign(pod.status, { observedGeneration: 1 });
    restart('main');
    waits(ask(pod));
    Object.assign(pod.status, { observedGeneration: 2 });
    assert.equal(ask(pod).kind, 'status');
  });

  describe('that is followed by another before the kubelet saw it', () => {
    /** Updated to `app:2`, which has not started yet, and then to another revision. */
    const followed = (more: Partial<InPlacePlan>) => {
      const world = createWorld([
        { name: 'main', image: 'app:1', env: priority(5) },
        { name: 'late', image: '1' },
      ]);
      const { pod, apply } = world;
      const first = { plan: plan({ images: { main: 'app:2', late: '2' } }) };
      apply(bodyOf(ask(pod, first), 'status'));
      apply(bodyOf(ask(pod, first), 'pod'));
      apply(bodyOf(ask(pod, { plan: plan(more), revision: 'newer' }), 'pod'));
      const next = (now = T0) => ask(pod, { revision: 'newer', now });
      const images = (): (string | undefined)[] => pod.spec.containers.map(({ image }) => image);
      return { ...world, next, images };
    };
    const back = { images: { main: 'app:1', late: '1' } };

    it('reverts it: the old container keeps running, which is known once the kubelet has observed the pod', () => {
      const { pod, next, images } = followed(back);
      assert.deepEqual(images(), ['app:1', '1']);
      Object.assign(pod.metadata, { generation: 3 });
      Object.assign(pod.status, { observedGeneration: 2 });
      waits(next(T0 + 60_000));
      Object.assign(pod.status, { observedGeneration: 3 });
      assert.equal(next().kind, 'status');
    });

    it('reverts it: ten seconds suffice if the kubelet does not report what it observed', () => {
      const { next } = followed(back);
      const step = next();
      assert.equal(step.kind === 'wait' && step.until, T0 + 10_000);
      assert.equal(next(T0 + 10_000).kind, 'status');
    });

    it('reverts it although the kubelet noticed it: the container restarts', () => {
      const { restart, next } = followed(back);
      restart('main');
      assert.equal(next().kind, 'status');
    });

    it('keeps waiting for what the other update does not touch, and completes what is left', () => {
      const { restart, apply, next, images } = followed({ labels: { fresh: 'y' } });
      assert.match(waits(next(T0 + 60_000)), /container main has not restarted/);
      restart('main');
      apply(bodyOf(next(), 'pod'));
      assert.deepEqual(images(), ['app:2', '2']);
      assert.match(waits(next()), /container late/);
      restart('late');
      assert.equal(next().kind, 'status');
    });
  });

  it('of labels and annotations only leaves the pod ready', () => {
    const { pod, apply } = createWorld([{ name: 'main', image: 'app:1' }]);
    apply(bodyOf(ask(pod, { plan: plan({ labels: { fresh: 'y' }, annotations: { a: '2' } }) }), 'pod'));
    assert.equal(pod.metadata.labels?.fresh, 'y');
    assert.deepEqual(ask(pod), { kind: 'done' });
    assert.equal(pod.status.conditions?.[0]?.lastTransitionTime, '2025-12-31T00:00:00Z');
  });

  it('waits for the grace period between gate and update', () => {
    const { pod, apply } = createWorld([{ name: 'main', image: 'app:1' }]);
    const change = { plan: plan({ images: { main: 'app:2' } }), graceMs: 30_000 };
    apply(bodyOf(ask(pod, change), 'status'));
    assert.deepEqual(ask(pod, { ...change, now: T0 + 1000 }), {
      kind: 'wait',
      why: 'its grace period has not passed',
      until: T0 + 31_000,
    });
    assert.equal(ask(pod, { ...change, now: T0 + 30_999 }).kind, 'wait');
    assert.equal(ask(pod, { ...change, now: T0 + 31_000 }).kind, 'pod');
  });

  it('waits for the grace period from now on if the gate was closed without a time', () => {
    for (const lastTransitionTime of [undefined, null as unknown as string]) {
      const { pod, apply, condition } = createWorld([{ name: 'main', image: 'app:1' }]);
      condition({
        type: gate.inPlace,
        status: 'False',
        ...(lastTransitionTime !== undefined && { lastTransitionTime }),
      });
      const change = { plan: plan({ images: { main: 'app:2' } }), graceMs: 30_000 };
      apply(bodyOf(ask(pod, change), 'status'));
      assert.equal(ask(pod, { ...change, now: T0 + 30_999 }).kind, 'wait');
      assert.equal(ask(pod, { ...change, now: T0 + 31_000 }).kind, 'pod');
    }
  });

  it('waits by its own clock if a machine whose clock is ahead closed the gate', () => {
    const { pod, apply, condition } = createWorld([{ name: 'main', image: 'app:1' }]);
    const change = { plan: plan({ images: { main: 'app:2' } }) };
    condition({ type: 'Ready', status: 'True' });
    apply(bodyOf(ask(pod, { ...change, now: T0 + 600_000 }), 'status'));
    assert.equal(ask(pod, change).kind, 'pod');
    apply(bodyOf(ask(pod, { ...change, graceMs: 30_000 }), 'status'));
    assert.equal(ask(pod, { ...change, graceMs: 30_000, now: T0 + 30_999 }).kind, 'wait');
    assert.equal(ask(pod, { ...change, graceMs: 30_000, now: T0 + 31_000 }).kind, 'pod');
  });

  it('follows the launch priority, each batch after the previous one has started', () => {
    const { pod, apply, restart } = createWorld([
      { name: 'late', image: '1', env: priority(1) },
      { name: 'early', image: '1', env: priority(5) },
      { name: 'last', image: '1' },
    ]);
    const change = { plan: plan({ images: { late: '2', early: '2', last: '2' } }) };
    apply(bodyOf(ask(pod, change), 'status'));
    apply(bodyOf(ask(pod, change), 'pod'));
    const images = (): (string | undefined)[] => pod.spec.containers.map(({ image }) => image);
    assert.deepEqual(images(), ['1', '2', '1']);
    waits(ask(pod));
    restart('early');
    apply(bodyOf(ask(pod), 'pod'));
    assert.deepEqual(images(), ['2', '2', '1']);
    restart('late');
    apply(bodyOf(ask(pod), 'pod'));
    assert.deepEqual(images(), ['2', '2', '2']);
    waits(ask(pod));
    restart('last');
    assert.equal(ask(pod).kind, 'status');
  });

  it('updates sidecars in the list of init containers', () => {
    const { pod, apply, restart } = createWorld([{ name: 'main', image: 'app:1' }], [{ name: 'side', image: 's:1' }]);
    const change = { plan: plan({ images: { side: 's:2' } }) };
    apply(bodyOf(ask(pod, change), 'status'));
    const body = bodyOf(ask(pod, change), 'pod');
    assert.deepEqual((body as { spec: object }).spec, { initContainers: [{ name: 'side', image: 's:2' }] });
    apply(body);
    restart('side');
    assert.equal(ask(pod).kind, 'status');
  });

  it('changes resources with resize, and waits for the kubelet', () => {
    const { pod, apply, condition } = createWorld([
      { name: 'main', image: 'app:1', resources: { requests: { cpu: '50m' } } },
    ]);
    const resources: Record<string, ResourceRequirements> = { main: { requests: { cpu: '80m' } } };
    const change = { plan: plan({ resources }), resources };
    apply(bodyOf(ask(pod, change), 'status'));
    apply(bodyOf(ask(pod, change), 'resize'));
    assert.equal(pod.metadata.labels?.['controller-revision-hash'], 'old', 'it may still be refused');
    apply(bodyOf(ask(pod, change), 'pod'));
    condition({ type: 'PodResizeInProgress', status: 'True' });
    waits(ask(pod, { resources }));
    condition({ type: 'PodResizeInProgress', status: 'False' });
    assert.equal(ask(pod, { resources }).kind, 'status');
    condition({ type: 'PodResizePending', status: 'True', reason: 'Deferred' });
    waits(ask(pod, { resources }));
    condition({ type: 'PodResizePending', status: 'True', reason: 'Infeasible', message: 'no room' });
    assert.deepEqual(ask(pod, { resources }), { kind: 'stuck', why: 'no room' });
  });

  it('does not mistake a kubelet that has seen nothing yet for one that is done', () => {
    const { pod, apply } = createWorld([{ name: 'main', image: 'app:1', resources: { limits: { memory: '64M' } } }]);
    const resources: Record<string, ResourceRequirements> = { main: { limits: { memory: '80M' } } };
    const change = { plan: plan({ resources }), resources };
    const reports = (memory: string, observedGeneration?: number): void => {
      Object.assign(pod.status.containerStatuses?.[0] ?? {}, {
        resources: { limits: { memory }, requests: { memory } },
      });
      Object.assign(pod.status, { observedGeneration });
    };
    Object.assign(pod.metadata, { generation: 4 });
    reports('62500Ki');
    apply(bodyOf(ask(pod, change), 'status'));
    const body = bodyOf(ask(pod, change), 'resize') as { spec: { containers: object[] } };
    const all = { limits: { memory: '80M' }, requests: { memory: '80M' } };
    assert.deepEqual(body.spec.containers, [{ name: 'main', resources: all }], 'the request goes with its limit');
    apply(body);
    apply(bodyOf(ask(pod, change), 'pod'));
    waits(ask(pod, { resources }));
    reports('62500Ki', 3);
    waits(ask(pod, { resources }));
    reports('62500Ki', 4);
    assert.equal(ask(pod, { resources }).kind, 'status', 'the kubelet has observed them');
    reports('78125Ki');
    assert.equal(ask(pod, { resources }).kind, 'status', 'the same amount in another unit');
  });

  it('keeps what a LimitRange added to the pod', () => {
    const given = { requests: { cpu: '50m', memory: '1Gi' }, limits: { memory: '1Gi' } };
    const { pod } = createWorld([{ name: 'main', image: 'app:1', resources: given }]);
    pod.metadata.labels = { 'controller-revision-hash': 'new' };
    assert.equal(ask(pod, { resources: { main: { requests: { cpu: '50m' } } } }).kind, 'done');
    assert.equal(ask(pod, { resources: { main: { limits: { cpu: '50m' } } } }).kind, 'resize');
  });

  it('completes what OpenKruise started, by the ID of the image', () => {
    const { pod } = createWorld([{ name: 'main', image: 'app:2' }]);
    pod.metadata.labels = { 'controller-revision-hash': 'new' };
    const begun = (imageID: string): void => {
      pod.metadata.annotations = {
        [IN_PLACE_STATE]: JSON.stringify({
          revision: 'new',
          updateTimestamp: '2026-01-01T00:00:00Z',
          lastContainerStatuses: { main: { imageID } },
        }),
      };
    };
    begun('sha256:same');
    waits(ask(pod));
    begun('sha256:before');
    assert.equal(ask(pod).kind, 'done');
  });

  it('tolerates an invalid state annotation', () => {
    const { pod } = createWorld([{ name: 'main', image: 'app:2' }]);
    for (const text of ['', 'no json', '[]', 'null', '{"revision":1}', '{"revision":"new"}']) {
      pod.metadata.annotations = { [IN_PLACE_STATE]: text };
      assert.equal(readInPlaceState(pod), undefined);
    }
    assert.equal(ask(pod).kind, 'stuck');
  });
});
