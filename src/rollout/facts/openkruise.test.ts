import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { IN_PLACE_STATE } from '../../words/index.ts';
import type { InPlaceState } from './openkruise.ts';
import { toPodFacts } from './pod.ts';

const mark = { imageID: 'sha256:1', containerID: 'containerd://1', startedAt: '2026-01-01T00:00:00Z' };

/** A pod whose container `main` is updated in place; `mark` is its snapshot before the update. */
const podOf = (
  status: Partial<ContainerStatus>,
  more: Partial<InPlaceState> = {},
  observedGeneration?: number,
): Pod => {
  const state: InPlaceState = {
    revision: 'new',
    updateTimestamp: '2026-01-01T00:00:00Z',
    lastContainerStatuses: { main: mark },
    nextContainerImages: {},
    ...more,
  };
  const main: ContainerStatus = {
    name: 'main',
    image: 'app:1',
    imageID: 'sha256:1',
    containerID: mark.containerID,
    ready: false,
    restartCount: 3,
    ...status,
  };
  const seen = observedGeneration === undefined ? {} : { observedGeneration };
  return {
    metadata: {
      name: 'app-1',
      generation: 2,
      labels: { 'controller-revision-hash': 'new' },
      annotations: { [IN_PLACE_STATE]: JSON.stringify(state) },
    },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:2' }] },
    status: { containerStatuses: [main], ...seen },
  };
};

const troubleOf = (pod: Pod): string | undefined => toPodFacts(pod)?.trouble;
const waiting = (reason: string, message = ''): Partial<ContainerStatus> => ({
  state: { waiting: { reason, message } },
});
const crashing = waiting('CrashLoopBackOff');

describe('the trouble of a pod that is updated in place', () => {
  it('is ignored while it belongs to the container before the change', () => {
    assert.equal(troubleOf(podOf(crashing)), undefined);
    assert.equal(troubleOf(podOf({ ...crashing, containerID: 'containerd://2' })), 'crash-loop');
  });

  it('is ignored while the kubelet has not seen the change', () => {
    const other = { ...crashing, containerID: 'containerd://2' };
    assert.equal(troubleOf(podOf(other, {}, 1)), undefined);
    assert.equal(troubleOf(podOf(other, {}, 2)), 'crash-loop');
  });

  it('is ignored while the image is the old one, however often it has crashed since', () => {
    const again = { ...crashing, containerID: 'containerd://2' };
    const from = (image: string) => ({ lastContainerStatuses: { main: { ...mark, image } } });
    assert.equal(troubleOf(podOf(again, from('app:1'))), undefined);
    assert.equal(troubleOf(podOf({ ...again, image: 'app:2' }, from('app:1'))), 'crash-loop');
    assert.equal(troubleOf(podOf({ ...again, image: 'app:2' }, from('app:2'))), 'crash-loop', 'the same image again');
  });

  it('is recognized by the image that cannot be pulled', () => {
    const pulling = (image: string): Pod =>
      podOf(waiting('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: not found`));
    assert.equal(troubleOf(pulling('app:1')), undefined);
    assert.equal(troubleOf(pulling('app:2')), 'image-pull');
    assert.equal(troubleOf(podOf(waiting('InvalidImageName'))), 'image-pull', 'the message names no other image');
  });

  it('is recognized by the image even if no container ever started', () => {
    const none = { imageID: '', containerID: '', startedAt: '' };
    const pulling = (image: string): Pod =>
      podOf(
        { imageID: '', containerID: '', ...waiting('ImagePullBackOff', `Back-off pulling image "${image}"`) },
        { lastContainerStatuses: { main: none } },
      );
    assert.equal(troubleOf(pulling('app:1')), undefined);
    assert.equal(troubleOf(pulling('app:2')), 'image-pull');
  });

  it('ignores the restart that the change itself causes', () => {
    const run = (containerID: string): Pod => {
      const pod = podOf({
        containerID: 'containerd://4',
        state: { running: { startedAt: '2026-01-01T00:00:20Z' } },
        lastState: {
          terminated: {
            containerID,
            exitCode: 0,
            reason: 'Completed',
            startedAt: '2026-01-01T00:00:00Z',
            finishedAt: '2026-01-01T00:00:15Z',
          },
        },
      });
      const unready = { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:10Z' };
      return { ...pod, status: { ...pod.status, conditions: [unready] } };
    };
    assert.equal(troubleOf(run(mark.containerID)), undefined, 'the change terminated it');
    assert.equal(troubleOf(run('containerd://3')), 'crash-loop', 'it terminated by itself after the change');
  });

  it('includes other containers, but not those that are still to be changed', () => {
    assert.equal(troubleOf(podOf(crashing, { lastContainerStatuses: {} })), 'crash-loop');
    assert.equal(
      troubleOf(podOf(crashing, { lastContainerStatuses: {}, nextContainerImages: { main: 'app:2' } })),
      undefined,
    );
  });
});
