import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodCondition } from 'kubernetes-types/core/v1.d.ts';
import { imageFactsOf } from './image-ready.ts';
import { isRequestedByOwner, openImageRequest } from './image-request.ts';

const NOW = '2030-01-01T00:00:00Z';
const image = (status = 'False', reason = 'PullingImage', message = 'controllerrevision: b'): PodCondition => ({
  type: 'PodImageReady',
  status,
  reason,
  message,
  lastTransitionTime: NOW,
});
const podWith = (...conditions: PodCondition[]): Pod => ({ status: { conditions } });
describe('openImageRequest', () => {
  const asked = (condition: PodCondition, terminating = false) => {
    const images = imageFactsOf(podWith(condition));
    return openImageRequest({ terminating, ...(images && { images }) });
  };
  it('is open until the images are present, also after a failure, whose cause it names', () => {
    assert.deepEqual(asked(image()), { revision: 'b', failure: undefined });
    const failed = image('False', 'PullImageFail', 'controllerrevision: b; no such image');
    assert.deepEqual(asked(failed), { revision: 'b', failure: 'no such image' });
    const again = image('False', 'PullingImage', 'controllerrevision: b; deleted by the kubelet: 1');
    const deletions = { count: 1, seenAt: Date.parse(NOW) };
    assert.deepEqual(asked(again), { revision: 'b', failure: undefined, deletions });
    assert.equal(asked(image('True', 'PullImageSuccess')), undefined);
  });
  it('is undefined once the pod terminates', () => {
    assert.equal(asked(image(), true), undefined);
  });
});

describe('isRequestedByOwner', () => {
  const need = (status: string, reason: string, revision = 'b') => ({
    announced: { status, reason, message: `controllerrevision: ${revision}` },
  });
  it('is true only for the announced revision, unless it is halted', () => {
    assert.equal(isRequestedByOwner(need('True', 'NewRevision'), 'b'), true);
    assert.equal(isRequestedByOwner(need('True', 'NewRevision', 'c'), 'b'), false);
    assert.equal(isRequestedByOwner(need('True', 'Halted'), 'b'), false);
    assert.equal(isRequestedByOwner(need('False', 'UpToDate'), 'b'), false);
    assert.equal(isRequestedByOwner({}, 'b'), false);
  });
});
