import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMeter, type PodSight } from './meter.ts';

const SETTLE_MS = 10_000;

const world = (nodes: number, share = 0.1) => {
  let now = 0;
  const meter = createMeter({ share, settleMs: SETTLE_MS, now: () => now });
  const pod = (node: string, change: Partial<PodSight> = {}): PodSight => ({
    uid: `uid-${node}`,
    name: `pod-${node}`,
    node,
    image: 'app:1',
    up: true,
    deleting: false,
    ...change,
  });
  const names = Array.from({ length: nodes }, (_, index) => `n${index}`);
  for (const name of names) {
    meter.node(name, true);
    meter.pod(pod(name));
  }
  return {
    meter,
    pod,
    pass: (ms: number) => {
      now += ms;
      meter.look();
    },
  };
};

test('as many down as the budget allows is no breach, one more is', () => {
  const { meter, pod } = world(20);
  meter.pod(pod('n1', { up: false, deleting: true }));
  meter.pod(pod('n2', { up: false }));
  assert.deepEqual(meter.breaches(), []);
  assert.deepEqual(meter.peak(), { down: 2, limit: 2 });
  meter.podGone('uid-n3');
  assert.deepEqual(meter.breaches(), ['3 online nodes were down at once (n1, n2, n3), 2 may be']);
});

test('a budget that rounds to nothing is one', () => {
  const { meter, pod } = world(3);
  meter.pod(pod('n0', { up: false }));
  assert.deepEqual(meter.breaches(), []);
  meter.pod(pod('n1', { up: false }));
  assert.equal(meter.breaches().length, 1);
});

test('the first start of pods is nobody’s downtime', () => {
  const { meter, pod } = world(3);
  for (const name of ['m0', 'm1', 'm2']) {
    meter.node(name, true);
    meter.pod(pod(name, { up: false }));
  }
  assert.deepEqual(meter.breaches(), []);
});

test('offline nodes do not count, and a node that came back counts once it has settled', () => {
  const { meter, pod, pass } = world(3);
  meter.node('n0', false);
  meter.pod(pod('n0', { up: false }));
  meter.pod(pod('n1', { up: false }));
  assert.equal(meter.peak().down, 1);
  meter.node('n0', true);
  pass(SETTLE_MS - 1);
  assert.deepEqual(meter.breaches(), []);
  pass(1);
  assert.equal(meter.breaches().length, 1);
});

test('a pod that is told to end on an offline node is a breach, on an online one it is a take', () => {
  const { meter, pod } = world(3);
  meter.pod(pod('n0', { up: false, deleting: true }));
  assert.deepEqual(meter.breaches(), []);
  meter.podGone('uid-n0');
  assert.deepEqual(meter.takes(), [{ node: 'n0', pod: 'pod-n0', uid: 'uid-n0' }]);
  meter.node('n1', false);
  meter.pod(pod('n1', { up: false, deleting: true }));
  assert.deepEqual(meter.breaches(), ['pod pod-n1 was told to end although its node n1 is offline']);
});
