import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAvailability, type PodState } from './availability.ts';

const SETTLE_MS = 10_000;

const fleet = (nodes: number, share = 0.1) => {
  let now = 0;
  const availability = createAvailability({ share, settleMs: SETTLE_MS, now: () => now });
  const pod = (node: string, change: Partial<PodState> = {}): PodState => ({
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
    availability.setNode(name, true);
    availability.setPod(pod(name));
  }
  return {
    availability,
    pod,
    advance: (ms: number) => {
      now += ms;
      availability.update();
    },
  };
};

test('a node more than the budget allows is a violation', () => {
  const { availability, pod } = fleet(20);
  availability.setPod(pod('n1', { up: false, deleting: true }));
  availability.setPod(pod('n2', { up: false }));
  assert.deepEqual(availability.violations(), []);
  assert.deepEqual(availability.peak(), { down: 2, limit: 2 });
  availability.removePod('uid-n3');
  assert.deepEqual(availability.violations(), ['3 online nodes were down at once (n1, n2, n3), the limit is 2']);
});

test('a budget that rounds to 0 is 1', () => {
  const { availability, pod } = fleet(3);
  availability.setPod(pod('n0', { up: false }));
  assert.deepEqual(availability.violations(), []);
  availability.setPod(pod('n1', { up: false }));
  assert.equal(availability.violations().length, 1);
});

test('a node is not down before the first start of its pod', () => {
  const { availability, pod } = fleet(3);
  for (const name of ['m0', 'm1', 'm2']) {
    availability.setNode(name, true);
    availability.setPod(pod(name, { up: false }));
  }
  assert.deepEqual(availability.violations(), []);
});

test('offline nodes do not count, and a returned node counts after the settle time', () => {
  const { availability, pod, advance } = fleet(3);
  availability.setNode('n0', false);
  availability.setPod(pod('n0', { up: false }));
  availability.setPod(pod('n1', { up: false }));
  assert.equal(availability.peak().down, 1);
  availability.setNode('n0', true);
  advance(SETTLE_MS - 1);
  assert.deepEqual(availability.violations(), []);
  advance(1);
  assert.equal(availability.violations().length, 1);
});

test('a deletion on an offline node is a violation, on an online node it is not', () => {
  const { availability, pod } = fleet(3);
  availability.setPod(pod('n0', { up: false, deleting: true }));
  assert.deepEqual(availability.violations(), []);
  availability.removePod('uid-n0');
  assert.deepEqual(availability.deletions(), [{ node: 'n0', pod: 'pod-n0', uid: 'uid-n0' }]);
  availability.setNode('n1', false);
  availability.setPod(pod('n1', { up: false, deleting: true }));
  assert.deepEqual(availability.violations(), ['pod pod-n1 was deleted although its node n1 is offline']);
});
