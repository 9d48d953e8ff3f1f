import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock } from '../../../test/support/index.ts';
import { pods } from '../../kube/index.ts';
import type { NodeUpdate } from '../../rollout/index.ts';
import { createTestApi } from '../testing/api.ts';
import { createPodControl, FENCE_ANNOTATION } from './pod-control.ts';

const { signal } = new AbortController();
const ref = { namespace: 'edge', name: 'app-1' };

const prepare = () => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  const make = () => api.objects.create(pods, { metadata: ref, spec: { nodeName: 'n1', containers: [] } } as Pod);
  const { metadata } = make();
  const update: NodeUpdate = {
    podUid: metadata?.uid ?? '',
    podName: 'app-1',
    podResourceVersion: metadata?.resourceVersion ?? '',
    rollout: 1,
    at: clock.now(),
    state: 'reserved',
  };
  return { api, update, make, podControl: createPodControl(api.client, 'edge', 'm1', clock) };
};

describe('a delete', () => {
  it('names the UID and the version that were decided on', async () => {
    const { api, update, podControl } = prepare();
    const outcome = await podControl.delete(update, signal);
    assert.equal(outcome.kind === 'done' && outcome.pod?.terminating, true);
    assert.deepEqual(api.calls[0]?.body, { uid: update.podUid, resourceVersion: update.podResourceVersion });
  });

  it('does not delete a pod that has changed, and returns it as it is now', async () => {
    const { api, update, podControl } = prepare();
    api.objects.patch(pods, ref, { metadata: { labels: { new: 'yes' } } });
    const outcome = await podControl.delete(update, signal);
    assert.ok(outcome.kind === 'changed' && outcome.pod.resourceVersion !== update.podResourceVersion);
    assert.equal(api.objects.all(pods)[0]?.metadata?.deletionTimestamp, undefined);
  });

  it('does not delete another pod of the same name', async () => {
    const { api, update, podControl, make } = prepare();
    api.objects.remove(pods, ref);
    make();
    assert.deepEqual(await podControl.delete(update, signal), { kind: 'gone' });
    assert.equal(api.objects.all(pods)[0]?.metadata?.deletionTimestamp, undefined);
  });

  it('of a pod that is gone is no error', async () => {
    const { api, update, podControl } = prepare();
    api.objects.remove(pods, ref);
    assert.deepEqual(await podControl.delete(update, signal), { kind: 'gone' });
  });

  it('is refused or has an unknown outcome, and never one for the other', async () => {
    const { api, update, podControl } = prepare();
    const outcomes = async () => (await podControl.delete(update, signal)).kind;
    api.fault('delete', 'pods', { kind: 'refuse', code: 'TooManyRequests', status: 429 });
    assert.equal(await outcomes(), 'refused');
    api.fault('delete', 'pods', { kind: 'lose', happened: false });
    assert.equal(await outcomes(), 'unsure');
    api.objects.patch(pods, ref, { metadata: { labels: { new: 'yes' } } });
    api.fault('get', 'pods', { kind: 'lose', happened: false });
    assert.equal(await outcomes(), 'unsure');
    assert.deepEqual(api.unfired(), []);
  });

  it('that is aborted has an unknown outcome', async () => {
    const { api, update, podControl } = prepare();
    const giveUp = new AbortController();
    api.fault('delete', 'pods', { kind: 'hold' });
    const outcome = podControl.delete(update, giveUp.signal);
    giveUp.abort(new Error('stopped'));
    assert.deepEqual(await outcome, { kind: 'unsure', message: 'stopped' });
  });
});

describe('a fence', () => {
  it('makes every delete fail that was decided before', async () => {
    const { update, podControl, api } = prepare();
    const fenced = await podControl.fence(update, signal);
    assert.equal(fenced.kind, 'done');
    assert.match(api.objects.all(pods)[0]?.metadata?.annotations?.[FENCE_ANNOTATION] ?? '', /^m1\/\d+$/);
    assert.equal((await podControl.delete(update, signal)).kind, 'changed');
  });

  it('changes the pod each time', async () => {
    const { update, podControl, api } = prepare();
    await podControl.fence(update, signal);
    const before = api.objects.version;
    const later = createPodControl(api.client, 'edge', 'm2', { now: () => 5 });
    await later.fence(update, signal);
    assert.ok(api.objects.version > before);
  });

  it('does not touch another pod of the same name', async () => {
    const { api, update, podControl, make } = prepare();
    api.objects.remove(pods, ref);
    make();
    assert.deepEqual(await podControl.fence(update, signal), { kind: 'gone' });
    assert.equal(api.objects.all(pods)[0]?.metadata?.annotations, undefined);
  });
});

it('a resize is refused, and the pod not taken for gone, where the API server has no such subresource', async () => {
  const { api, update, podControl } = prepare();
  const resize = () => podControl.patch(update, {}, { type: 'strategic', subresource: 'resize' }, signal);
  api.fault('patch', 'pods', { kind: 'refuse', code: 'NotFound', status: 404 });
  const outcome = await resize();
  assert.deepEqual(outcome.kind === 'refused' && outcome.reason, 'NotFound');
  api.fault('patch', 'pods', { kind: 'refuse', code: 'NotFound', status: 404 });
  api.objects.remove(pods, ref);
  assert.deepEqual(await resize(), { kind: 'gone' });
});
