import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toPodFacts } from '../../rollout/index.ts';
import { toAdvancedView } from '../advanced-view.ts';
import { countNode } from './counts.ts';

const NOW = 1_000_000;
const DAY = 86_400_000;

const view = toAdvancedView({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'DaemonSet',
  metadata: { name: 'app', namespace: 'default' },
  spec: { minReadySeconds: 10, selector: { matchLabels: { a: 'b' } }, template: { spec: { containers: [] } } },
});
const node = { name: 'n', labels: {}, taints: [], ready: true, readyChangedAt: 0 };
/** Ready since tomorrow, by the clock of another machine. */
const pod = toPodFacts({
  metadata: { name: 'p', uid: 'u', creationTimestamp: new Date(NOW + DAY).toISOString() },
  spec: { nodeName: 'n', containers: [] },
  status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(NOW + DAY).toISOString() }] },
});

describe('the counts of a node', () => {
  it('count a pod as available by our own clock', () => {
    assert.ok(view && pod);
    const at = (readySince: number | undefined) => countNode(view, node, [pod], undefined, () => readySince, NOW);
    assert.equal(at(NOW - 10_000).counts.available, 1);
    assert.equal(at(NOW - 9_000).counts.available, 0);
    assert.equal(at(NOW - 9_000).changesAt, NOW + 1_000);
    assert.equal(at(undefined).changesAt, NOW + 10_000);
  });
});
