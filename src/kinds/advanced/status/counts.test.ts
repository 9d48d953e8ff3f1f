import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NodeInfo, toPodFacts } from '../../../rollout/index.ts';
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
const node: NodeInfo = { name: 'n', uid: '', labels: {}, taints: [], ready: true, readyChangedAt: 0 };
/** Ready since tomorrow, by the clock of another machine. */
const pod = toPodFacts({
  metadata: { name: 'p', uid: 'u', creationTimestamp: new Date(NOW + DAY).toISOString() },
  spec: { nodeName: 'n', containers: [] },
  status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(NOW + DAY).toISOString() }] },
});

describe('the counts of a node', () => {
  const counts = (over: Partial<NodeInfo> = {}) => {
    assert.ok(view && pod);
    return countNode(view, { ...node, ...over }, [pod], undefined, () => 0, NOW).counts;
  };
  const tainted = (key: string, effect: string) => counts({ ready: false, taints: [{ key, value: '', effect }] });

  it('want no pod on an offline node, which belongs to the rollout nevertheless', () => {
    const { desired, eligible, current, ready } = counts();
    assert.deepEqual({ desired, eligible, current, ready }, { desired: 1, eligible: 1, current: 1, ready: 1 });
    for (const key of ['node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready']) {
      const off = tainted(key, 'NoSchedule');
      assert.deepEqual(off, { ...off, desired: 0, eligible: 1, current: 0, ready: 0, misscheduled: 1 });
      assert.equal(tainted(key, 'NoExecute').desired, 1, 'pods of DaemonSets tolerate it');
    }
    const other = tainted('mine', 'NoSchedule');
    assert.deepEqual(other, { ...other, desired: 0, eligible: 0, misscheduled: 1 });
  });

  it('count a pod as available by our own clock', () => {
    assert.ok(view && pod);
    const at = (readySince: number | undefined) => countNode(view, node, [pod], undefined, () => readySince, NOW);
    assert.equal(at(NOW - 10_000).counts.available, 1);
    assert.equal(at(NOW - 9_000).counts.available, 0);
    assert.equal(at(NOW - 9_000).changesAt, NOW + 1_000);
    assert.equal(at(undefined).changesAt, NOW + 10_000);
  });
});
