import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toNodeInfo } from '../facts/node.ts';
import { percent } from '../policy/int-or-percent.ts';
import { explain } from '../report/explain.ts';
import { promoted, ring, stagedBench, waits } from '../testing/staged.ts';
import { benchAt, planOf } from '../testing/workbench.ts';
import { busyBy } from './busy.ts';

const plan = planOf({
  skipNodes: {
    selector: { matchLabels: { 'kured.dev/reboot': 'now' } },
    taints: ['example.com/job'],
    conditions: ['MaintenanceInProgress'],
  },
});
type Node = Parameters<typeof toNodeInfo>[0];
const by = (node: Node): string | undefined => busyBy(plan, toNodeInfo(node));

describe('a node is busy', () => {
  const cases: [string, Node, string | undefined][] = [
    ['by a label', { metadata: { labels: { 'kured.dev/reboot': 'now' } } }, 'labels that the selector matches'],
    [
      'by a taint of any effect',
      { spec: { taints: [{ key: 'example.com/job', effect: 'PreferNoSchedule' }] } },
      'the taint example.com/job',
    ],
    [
      'by a condition',
      { status: { conditions: [{ type: 'MaintenanceInProgress', status: 'True' }] } },
      'the condition MaintenanceInProgress',
    ],
    [
      'not by a condition that is False',
      { status: { conditions: [{ type: 'MaintenanceInProgress', status: 'False' }] } },
      undefined,
    ],
    [
      'not by anything else',
      {
        metadata: { labels: { 'kured.dev/reboot': 'later' } },
        spec: { taints: [{ key: 'other', effect: 'NoSchedule' }] },
      },
      undefined,
    ],
  ];
  for (const [name, node, why] of cases) it(name, () => assert.equal(by(node), why));

  it('never without a plan that says so', () => {
    assert.equal(busyBy(planOf({}), toNodeInfo({ metadata: { labels: { 'kured.dev/reboot': 'now' } } })), undefined);
  });
});

describe('a busy node', () => {
  it('begins no update, is held, and follows once it is free', () => {
    const bench = benchAt(2, { maxUnavailable: percent(100) });
    bench.node('n0', { busy: 'a taint' });
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    assert.equal(bench.phase('n0'), 'held/busy');
    const record = bench.ledger.get('n0');
    assert.ok(record);
    assert.match(
      explain(record, bench.ledger.policy, bench.decide().summary, bench.now()).what,
      /skips it while it is busy \(skipNodes\): it has a taint/,
    );
    bench.update('b', 'n1');
    assert.ok(record.node);
    const { busy: _busy, ...free } = record.node;
    bench.ledger.setNode(free, bench.now());
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });

  it('releases the slot that it had, and ends an update that has begun', () => {
    const bench = benchAt(2, { maxUnavailable: percent(100) });
    bench.reserve('n0');
    bench.deletePod('n1');
    bench.node('n0', { busy: 'a taint' });
    bench.node('n1', { busy: 'a taint' });
    assert.deepEqual(bench.nodesOf('release'), ['n0']);
    bench.start('n1', 'b');
    assert.equal(bench.phase('n1'), 'updated/current');
  });

  it('blocks no stage, and is in no sample', () => {
    const bench = stagedBench([ring('lab'), ring('shop', {}, { count: 1 })], ['lab', 'lab', 'shop', 'shop']);
    bench.node('n1', { stages: 1, busy: 'a taint' });
    bench.node('n2', { stages: 2, busy: 'a taint' });
    bench.followStages();
    bench.update('b', 'n0');
    bench.followStages();
    assert.deepEqual(promoted(bench), ['lab Gates']);
    assert.deepEqual(bench.nodesOf('reserve'), ['n3'], 'the sample has the free one');
    assert.equal(waits(bench), 'shop Coverage');
  });
});
