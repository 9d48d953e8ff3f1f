import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { type NodeInfo, toNodeInfo } from './node.ts';

const withReady = (status: string): Node => ({
  metadata: { name: 'n1' },
  status: {
    conditions: [
      { type: 'MemoryPressure', status: 'True', lastTransitionTime: '2026-03-01T09:00:00Z' },
      { type: 'Ready', status, lastTransitionTime: '2026-03-01T10:00:00Z' },
    ],
  },
});

it('reads name, UID, labels, taints and readiness', () =>
  assert.deepEqual(
    toNodeInfo({
      ...withReady('True'),
      metadata: { name: 'n1', uid: 'u1', labels: { zone: 'north' } },
      spec: {
        unschedulable: true,
        taints: [
          { key: 'edge', effect: 'NoSchedule' },
          { key: 'gpu', value: 'yes', effect: 'NoExecute', timeAdded: '2026-03-01T10:00:00Z' },
        ],
      },
    }),
    {
      name: 'n1',
      uid: 'u1',
      labels: { zone: 'north' },
      taints: [
        { key: 'edge', value: '', effect: 'NoSchedule' },
        { key: 'gpu', value: 'yes', effect: 'NoExecute' },
      ],
      conditions: ['MemoryPressure'],
      ready: true,
      readyChangedAt: Date.UTC(2026, 2, 1, 10),
    } satisfies NodeInfo,
  ));

for (const status of ['False', 'Unknown'])
  it(`is not ready while Ready is ${status}`, () => {
    const view = toNodeInfo(withReady(status));
    assert.equal(view.ready, false);
    assert.equal(view.readyChangedAt, Date.UTC(2026, 2, 1, 10));
  });

it('is not ready before the node has reported', () =>
  assert.deepEqual(toNodeInfo({ metadata: { name: 'n1' } }), {
    name: 'n1',
    uid: '',
    labels: {},
    taints: [],
    ready: false,
    readyChangedAt: 0,
  } satisfies NodeInfo));

it('reads the annotation with the time zone', () => {
  const annotations = { 'edgeset.io/time-zone': 'Asia/Tokyo', other: 'x' };
  assert.equal(toNodeInfo({ metadata: { name: 'n1', annotations } }).timeZone, 'Asia/Tokyo');
});
