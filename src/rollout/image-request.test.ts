import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodCondition } from 'kubernetes-types/core/v1.d.ts';
import { askedRevision } from './image-request.ts';

const need = (message = 'controllerrevision: b', status = 'True', reason = 'NewRevision'): PodCondition => ({
  type: 'PodNeedUpgrade',
  status,
  reason,
  message,
});
const image = (message = 'controllerrevision: b', status = 'False', reason = 'PullingImage'): PodCondition => ({
  type: 'PodImageReady',
  status,
  reason,
  message,
});
const podWith = (...conditions: PodCondition[]): Pod => ({ status: { conditions } });

describe('what a pod asks to be pulled ahead', () => {
  it('is the announced revision, until its images are there', () => {
    assert.deepEqual(askedRevision(podWith(need(), image())), { revision: 'b', failure: undefined });
  });

  it('stands after a failure, whose cause it names', () => {
    const failed = image('controllerrevision: b; no such image', 'False', 'PullImageFail');
    assert.deepEqual(askedRevision(podWith(need(), failed)), { revision: 'b', failure: 'no such image' });
  });

  const nothing: [string, Pod][] = [
    ['no conditions', {}],
    ['nobody asked', podWith(need())],
    ['nothing is announced', podWith(image())],
    ['the pod is up to date', podWith(need('controllerrevision: b', 'False', 'UpToDate'), image())],
    ['the rollout is halted', podWith(need('controllerrevision: b', 'True', 'Halted'), image())],
    ['another revision is announced', podWith(need('controllerrevision: c'), image())],
    ['the images are there', podWith(need(), image('controllerrevision: b', 'True', 'PullImageSuccess'))],
    ['somebody else wrote the condition', podWith(need(), image('controllerrevision: b', 'False', 'SomethingElse'))],
    ['the node’s agent pulls by itself', podWith(need(), { ...image(), lastProbeTime: '2026-01-01T00:00:00Z' })],
    ['no revision is named', podWith(need('all'), image('all'))],
    ['the revision is no hash', podWith(need('controllerrevision: b,x'), image('controllerrevision: b,x'))],
  ];
  for (const [why, pod] of nothing) it(`is nothing when ${why}`, () => assert.equal(askedRevision(pod), undefined));
});
