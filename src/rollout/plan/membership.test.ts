import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlanStage } from '../../words/index.ts';
import { failOver, promoted, replan, ring, rolloutPlan, SECOND, stagedBench } from '../testing/staged.ts';
import { planOf, type Workbench } from '../testing/workbench.ts';
import { matchingStages, sampleCode } from './membership.ts';

describe('matchingStages', () => {
  const plan = planOf({
    stages: [
      ring('lab'),
      { name: 'edge', nodes: { selector: { matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] } } },
    ],
  });
  for (const [labels, bits] of [
    [{ ring: 'lab' }, 0b111],
    [{ ring: 'lab', gpu: 'yes' }, 0b101],
    [{ ring: 'shop', gpu: 'yes' }, 0b100],
    [{}, 0b110],
  ] as const)
    it(`of ${JSON.stringify(labels)} are ${bits.toString(2)}`, () => assert.equal(matchingStages(plan, labels), bits));
});

describe('sampleCode', () => {
  it('is of one length, and depends on the revision and the node', () => {
    const codes = [sampleCode('a', 'n1'), sampleCode('b', 'n1'), sampleCode('a', 'n2'), sampleCode('', 'n1')];
    assert.equal(new Set(codes).size, codes.length);
    for (const code of codes) assert.equal(code.length, 8);
    assert.equal(sampleCode('a', 'n1'), codes[0]);
  });
});

describe('a sample', () => {
  const rings = Array.from({ length: 10 }, () => 'shop');
  const canary = (count: number | string): PlanStage => ({ name: 'canary', nodes: { count } });

  for (const [count, size] of [
    [3, 3],
    ['25%', 3],
    ['1%', 1],
    ['100%', 10],
    [50, 10],
    [0, 0],
  ] as const)
    it(`of ${count} of 10 nodes has ${size}`, () => {
      const bench = stagedBench([canary(count)], rings);
      const [opened] = bench.steps();
      bench.followStages();
      assert.equal(opened?.type === 'open-stage' ? (opened.sample?.length ?? 0) / 8 : -1, size);
      if (size > 0) assert.equal(bench.nodesOf('reserve').length, size);
    });

  it('has online nodes, the same ones for the same revision, and others for another one', () => {
    const chosen = (revision: string, ...offline: string[]): string[] => {
      const bench = stagedBench([canary(3)], rings);
      bench.offline(...offline);
      bench.target(revision);
      bench.followStages();
      return bench.nodesOf('reserve').toSorted();
    };
    const first = chosen('b');
    assert.deepEqual(chosen('b'), first);
    assert.ok(['c', 'd', 'e'].some((revision) => chosen(revision).join() !== first.join()));
    const [away = ''] = first;
    const others = chosen('b', away);
    assert.equal(others.length, 3);
    assert.ok(!others.includes(away));
  });

  it('stays the same when nodes return, are added, and when another process leads', () => {
    const bench = stagedBench([canary('30%')], rings);
    bench.offline('n0', 'n1', 'n2');
    bench.followStages();
    const { sample } = bench.ledger.state.stages[0] ?? {};
    const chosen = bench.nodesOf('reserve');
    bench.online('n0', 'n1', 'n2');
    bench.node('n10', { stages: 1 });
    bench.pod('n10', 'a');
    failOver(bench);
    bench.advance(60 * SECOND);
    assert.deepEqual(bench.followStages(), []);
    assert.equal(bench.ledger.state.stages[0]?.sample, sample);
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), chosen.toSorted());
  });

  it('waits while none of the nodes is online, and leaves deleted nodes out', () => {
    const bench = stagedBench([canary(2)], ['shop', 'shop', 'shop']);
    bench.offline('n0', 'n1', 'n2');
    assert.deepEqual(bench.followStages(), []);
    bench.online('n0');
    assert.deepEqual(bench.followStages(), ['open-stage canary']);
    bench.removePod('n0');
    bench.ledger.removeNode('n0', bench.now());
    assert.deepEqual(bench.followStages(), ['promote canary Empty', 'open-stage rest']);
  });
});

describe('an edit of the plan', () => {
  const two = [ring('lab'), ring('canary')];
  const rings = ['lab', 'canary', 'shop'];

  const inCanary = (): Workbench => {
    const bench = stagedBench(two, rings);
    bench.followStages();
    bench.update('b', 'n0');
    bench.followStages();
    return bench;
  };

  it('leaves stages passed', () => {
    const bench = inCanary();
    replan(bench, { stages: [ring('lab', { soak: '1h', approval: { required: true } }), ring('canary')] }, rings);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    replan(bench, { stages: [ring('new'), ...two] }, ['lab', 'new', 'shop']);
    assert.deepEqual(bench.followStages(), ['open-stage new']);
    assert.deepEqual(promoted(bench), ['lab Gates']);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
  });

  it('puts nodes into a stage that is open', () => {
    const bench = inCanary();
    replan(bench, { stages: [{ name: 'lab' }, ring('canary')] }, rings);
    assert.deepEqual(bench.followStages(), ['promote canary Empty']);
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n1', 'n2']);
  });

  it('that removes the plan holds the rollout, and loses nothing that was passed, whoever leads', () => {
    const bench = inCanary();
    bench.policy({ rolloutPlan, plan: undefined });
    bench.hold({ kind: 'invalid', errors: [] });
    assert.deepEqual(bench.nodesOf('reserve'), []);
    failOver(bench);
    bench.hold(undefined);
    replan(bench, { stages: two }, rings);
    assert.deepEqual(promoted(bench), ['lab Gates']);
    assert.deepEqual(bench.followStages(), []);
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
  });

  it('that removes a stage for a while loses nothing, whoever leads', () => {
    const bench = inCanary();
    replan(bench, { stages: [ring('canary')] }, rings);
    failOver(bench);
    replan(bench, { stages: two }, rings);
    assert.deepEqual(promoted(bench), ['lab Gates']);
  });
});
