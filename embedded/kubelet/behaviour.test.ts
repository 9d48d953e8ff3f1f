import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredNode, StoredPod } from '../resources.ts';
import { podSimulation } from './behaviour.ts';
import { imageId } from './containers.ts';

const delays = { startMs: 100, stopMs: 50, dieMs: 10, backOffMs: 5 };
const meta = (annotations: Record<string, string>) => ({
  metadata: { name: 'x', namespace: 'default', uid: 'u', resourceVersion: '1', annotations },
});
const pod = (image: string, annotations: Record<string, string> = {}): StoredPod => ({
  ...meta(annotations),
  spec: { containers: [{ name: 'app', image }] },
});
const node = (annotations: Record<string, string>): StoredNode => meta(annotations);

describe('the behaviour of a pod', () => {
  it('is ready by default', () => {
    assert.deepEqual(podSimulation(pod('app:v2'), undefined, delays), {
      behaviour: 'ready',
      resize: 'granted',
      content: '',
      ...delays,
    });
  });
  it('follows the tag of its image', () => {
    assert.equal(podSimulation(pod('app:v2--crash-loop'), undefined, delays).behaviour, 'crash-loop');
    assert.equal(podSimulation(pod('app:v2--no-such-thing'), undefined, delays).behaviour, 'ready');
  });
  it('follows the tag of any of its images, sidecars too', () => {
    const images = (side: string, main: string): StoredPod => ({
      ...meta({}),
      spec: {
        initContainers: [
          { name: 'once', image: 'x:1--failed' },
          { name: 'side', image: side, restartPolicy: 'Always' },
        ],
        containers: [{ name: 'app', image: main }],
      },
    });
    assert.equal(podSimulation(images('s:1', 'app:1'), undefined, delays).behaviour, 'ready', 'what has run has ended');
    assert.equal(podSimulation(images('s:1--never-ready', 'app:1'), undefined, delays).behaviour, 'never-ready');
    assert.equal(podSimulation(images('s:1', 'app:1--not-pullable'), undefined, delays).behaviour, 'not-pullable');
  });
  it('takes the resize result from the node, or else from the pod', () => {
    const own = pod('app', { 'sim.edgeset.io/resize': 'deferred' });
    assert.equal(podSimulation(own, undefined, delays).resize, 'deferred');
    assert.equal(podSimulation(own, node({ 'sim.edgeset.io/resize': 'infeasible' }), delays).resize, 'infeasible');
    assert.equal(podSimulation(pod('app', { 'sim.edgeset.io/resize': 'maybe' }), undefined, delays).resize, 'granted');
  });
  it("prefers the pod's annotation over the image tag", () => {
    const found = pod('app:v2--crash-loop', { 'sim.edgeset.io/behaviour': 'never-ready' });
    assert.equal(podSimulation(found, undefined, delays).behaviour, 'never-ready');
  });
  it("prefers the node's annotation over the pod's", () => {
    const found = pod('app:v2--crash-loop', { 'sim.edgeset.io/behaviour': 'never-ready' });
    assert.equal(podSimulation(found, node({ 'edgeset.io/sim': 'not-pullable' }), delays).behaviour, 'not-pullable');
    const both = node({ 'edgeset.io/sim': 'offline', 'sim.edgeset.io/behaviour': 'ready' });
    assert.equal(podSimulation(found, both, delays).behaviour, 'ready');
    assert.equal(podSimulation(found, node({ 'edgeset.io/sim': 'offline' }), delays).behaviour, 'never-ready');
  });
  it("takes delays from the pod, and the node's take precedence", () => {
    const own = pod('app', { 'sim.edgeset.io/start-ms': '7', 'sim.edgeset.io/die-ms': 'soon' });
    assert.deepEqual(podSimulation(own, undefined, delays), {
      behaviour: 'ready',
      resize: 'granted',
      content: '',
      ...delays,
      startMs: 7,
    });
    assert.equal(podSimulation(own, node({ 'sim.edgeset.io/start-ms': '9' }), delays).startMs, 9);
  });
  it('takes from the node what names of images mean there', () => {
    assert.equal(podSimulation(pod('app:v2'), node({ 'sim.edgeset.io/content': 'new' }), delays).content, 'new');
    assert.equal(imageId('app:v2', ''), imageId('app:v2'));
    assert.notEqual(imageId('app:v2', 'new'), imageId('app:v2'));
    assert.equal(imageId('app:v3.is-v2', 'new'), imageId('app:v2', 'new'));
  });
  it('is 20 times slower if slow, except for its own delays', () => {
    const slow = pod('app:v1--slow', { 'sim.edgeset.io/stop-ms': '3' });
    const { startMs, stopMs } = podSimulation(slow, undefined, delays);
    assert.deepEqual([startMs, stopMs], [2000, 3]);
  });
});
