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
const told = (...conditions: PodCondition[]) => {
  const { state, revision, cause, byAgent } = imageFactsOf(podWith(...conditions)) ?? {};
  return state && [state, revision, cause, byAgent];
};

describe('imageFactsOf', () => {
  it('reads state, revision and cause', () => {
    assert.deepEqual(told(image()), ['requested', 'b', '', false]);
    assert.deepEqual(told({ ...image(), lastProbeTime: NOW }), ['pulling', 'b', '', true]);
    assert.deepEqual(told(image('True', 'PullImageSuccess')), ['present', 'b', '', false]);
    const failed = image('False', 'PullImageFail', 'controllerrevision: b; no such image');
    assert.deepEqual(told(failed), ['failed', 'b', 'no such image', false]);
  });

  it('takes the time of the last report', () => {
    const later = '2030-01-01T00:01:00Z';
    assert.equal(imageFactsOf(podWith(image()))?.at, Date.parse(NOW));
    assert.equal(imageFactsOf(podWith({ ...image(), lastProbeTime: later }))?.at, Date.parse(later));
  });

  const nothing: [string, PodCondition[]][] = [
    ['without a condition', []],
    ['of another kind', [{ ...image(), type: 'PodNeedUpgrade' }]],
    ['without a revision', [image('False', 'PullingImage', 'soon')]],
    ['of what cannot be the hash of a revision', [image('False', 'PullingImage', 'controllerrevision: a,b')]],
    ['for a reason that nobody knows', [image('False', 'Waiting')]],
    ['in a status that nobody knows', [image('Unknown')]],
  ];
  for (const [what, conditions] of nothing)
    it(`is undefined ${what}`, () => assert.equal(told(...conditions), undefined));
});

describe('openImageRequest', () => {
  const asked = (condition: PodCondition, terminating = false) => {
    const images = imageFactsOf(podWith(condition));
    return openImageRequest({ terminating, ...(images && { images }) });
  };
  it('is open until the images are present, also after a failure, whose cause it names', () => {
    assert.deepEqual(asked(image()), { revision: 'b', failure: undefined });
    const failed = image('False', 'PullImageFail', 'controllerrevision: b; no such image');
    assert.deepEqual(asked(failed), { revision: 'b', failure: 'no such image' });
    assert.equal(asked(image('True', 'PullImageSuccess')), undefined);
  });
  it('is undefined while its agent pulls, or once the pod terminates', () => {
    assert.equal(asked({ ...image(), lastProbeTime: NOW }), undefined);
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
