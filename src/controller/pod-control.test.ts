import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock } from '../../test/support/index.ts';
import { pods } from '../kube/index.ts';
import type { NodeUpdate } from '../rollout/index.ts';
import { createPodControl, FENCE_ANNOTATION } from './pod-control.ts';
import { createTestApi } from './testing/api.ts';

const { signal } = new AbortController();
const ref = { namespace: 'edge', name: 'app-1' };

const prepare = () => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  const make = () => api.objects.create(pods, { metadata: ref, spec: { nodeName: 'n1', containers: [] } } as Pod);
  const { metadata } = make();
  const act: NodeUpdate = {
    podUid: metadata?.uid ?? '',
    podName: 'app-1',
    podResourceVersion: metadata?.resourceVersion ?? '',
    rollout: 1,
    at: clock.now(),
    stage: 'reserved',
  };
  return { api, act, make, acts: createPodControl(api.client, 'edge', 'm1', clock) };
};

describe('a delete', () => {
  it('names the UID and the version that were decided on', async () => {
    const { api, act, acts } = prepare();
    const outcome = await acts.delete(act, signal);
    assert.equal(outcome.kind === 'done' && outcome.pod?.terminating, true);
    assert.deepEqual(api.calls[0]?.body, { uid: act.podUid, resourceVersion: act.podResourceVersion });
  });

  it('does not delete a pod that has changed, and returns it as it is now', async () => {
    const { api, act, acts } = prepare();
    api.objects.patch(pods, ref, { metadata: { labels: { new: 'yes' } } });
    const outcome = await acts.delete(act, signal);
    assert.ok(outcome.kind === 'changed' && outcome.pod.resourceVersion !== act.podResourceVersion);
    assert.equal(api.objects.all(pods)[0]?.metadata?.deletionTimestamp, undefined);
  });

  it('does not delete another pod of the same name', async () => {
    const { api, act, acts, make } = prepare();
    api.objects.remove(pods, ref);
    make();
    assert.deepEqual(await acts.delete(act, signal), { kind: 'gone' });
    assert.equal(api.objects.all(pods)[0]?.metadata?.deletionTimestamp, undefined);
  });

  it('of a pod that is gone is no error', async () => {
    const { api, act, acts } = prepare();
    api.objects.remove(pods, ref);
    assert.deepEqual(await acts.delete(act, signal), { kind: 'gone' });
  });

  it('is refused or has an unknown outcome, and never one for the other', async () => {
    const { api, act, acts } = prepare();
    const outcomes = async () => (await acts.delete(act, signal)).kind;
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
    const { api, act, acts } = prepare();
    const giveUp = new AbortController();
    api.fault('delete', 'pods', { kind: 'hold' });
    const outcome = acts.delete(act, giveUp.signal);
    giveUp.abort(new Error('stopped'));
    assert.deepEqual(await outcome, { kind: 'unsure', message: 'stopped' });
  });
});

describe('a fence', () => {
  it('makes every delete fail that was decided before', async () => {
    const { act, acts, api } = prepare();
    const fenced = await acts.fence(act, signal);
    assert.equal(fenced.kind, 'done');
    assert.match(api.objects.all(pods)[0]?.metadata?.annotations?.[FENCE_ANNOTATION] ?? '', /^m1\//);
    assert.equal((await acts.delete(act, signal)).kind, 'changed');
  });

  it('changes the pod each time', async () => {
    const { act, acts, api } = prepare();
    await acts.fence(act, signal);
    const before = api.objects.version;
    const later = createPodControl(api.client, 'edge', 'm2', { now: () => 5 });
    await later.fence(act, signal);
    assert.ok(api.objects.version > before);
  });

  it('does not touch another pod of the same name', async () => {
    const { api, act, acts, make } = prepare();
    api.objects.remove(pods, ref);
    make();
    assert.deepEqual(await acts.fence(act, signal), { kind: 'gone' });
    assert.equal(api.objects.all(pods)[0]?.metadata?.annotations, undefined);
  });
});
