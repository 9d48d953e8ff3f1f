import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonRolloutStatus, PlanStage } from '../../words/index.ts';
import { restore } from '../fleet/persist.ts';
import { count } from '../policy/int-or-percent.ts';
import { approve, ring, SECOND, stagedBench } from '../testing/staged.ts';
import { daemonSetName, type Workbench } from '../testing/workbench.ts';
import { explain } from './explain.ts';
import { statusOf } from './status.ts';

const rings = [ring('lab', { approval: { required: true } }), ring('shop', { approval: { required: true } })];

/** One node of the lab, three of the shop, one of no ring. The lab runs the target and awaits an approval. */
const fleet = (stages: PlanStage[] = rings): Workbench => {
  const bench = stagedBench(stages, ['lab', 'shop', 'shop', 'shop', 'none']);
  bench.followStages();
  bench.update('b', 'n0');
  bench.followStages();
  return bench;
};

/** Somebody deletes the pods of these nodes, and the new ones are of the target. */
const recreate = (bench: Workbench, nodes: readonly string[], facts: Parameters<Workbench['start']>[2] = {}): void => {
  for (const node of nodes) {
    bench.removePod(node);
    bench.start(node, 'b', facts);
  }
};

const write = (bench: Workbench, previous?: DaemonRolloutStatus): DaemonRolloutStatus =>
  statusOf({
    ledger: bench.ledger,
    decision: bench.decide(),
    generation: 1,
    daemonSetGeneration: 1,
    policyHash: '',
    daemonSet: daemonSetName,
    previous,
    now: bench.now(),
  });

/** By stage; a stage without the number is left out. */
const exposedIn = ({ stages = [] }: DaemonRolloutStatus): Record<string, number> =>
  Object.fromEntries(
    stages.flatMap(({ name, nodes: { exposed } }) => (exposed === undefined ? [] : [[name, exposed]])),
  );

const counted = (bench: Workbench): Record<string, number> => exposedIn(write(bench));

const explained = (bench: Workbench, node: string) =>
  explain(bench.ledger.get(node)!, bench.ledger.policy, bench.decide().summary, bench.now());

describe('nodes that are exposed to the target', () => {
  it('are those of closed stages that have a pod of it: recreated, joined, failing or offline', () => {
    const bench = fleet();
    assert.deepEqual(counted(bench), {});
    recreate(bench, ['n1']);
    assert.deepEqual(counted(bench), { shop: 1 });
    recreate(bench, ['n2'], { ready: false, trouble: 'crash-loop' });
    bench.node('n5');
    bench.start('n5', 'b');
    assert.deepEqual(counted(bench), { shop: 2, rest: 1 });
    bench.offline('n1');
    assert.deepEqual(counted(bench), { shop: 2, rest: 1 });
    bench.change('n2', { terminating: true });
    assert.deepEqual(counted(bench), { shop: 1, rest: 1 });
    bench.node('n1', { eligible: false });
    assert.deepEqual(counted(bench), { rest: 1 });
  });

  it('are updated nodes once their stage opens, and the number stays on record', () => {
    const bench = fleet();
    recreate(bench, ['n1', 'n4']);
    const before = write(bench);
    approve(bench, 'lab');
    bench.followStages();
    const after = write(bench, before);
    assert.deepEqual(exposedIn(after), { shop: 0, rest: 1 });
    assert.equal(after.stages?.find(({ name }) => name === 'shop')?.nodes.updated, 1);
    // Another process reads what was written, and knows that people were told.
    bench.removePod('n4');
    const { state, updates, forgiven } = restore(after);
    bench.ledger.restore(state, updates, forgiven, bench.now());
    assert.deepEqual(exposedIn(write(bench, after)), { shop: 0, rest: 0 });
    assert.deepEqual(exposedIn(write(bench, { ...after, rollout: 1 })), {}, 'not that of an older rollout');
  });

  it('are only those that a stage keeps back: no partition, selector, window or other DaemonSet exposes', () => {
    const bench = fleet();
    approve(bench, 'lab');
    approve(bench, 'shop');
    bench.followStages();
    bench.ledger.setWaitsFor('n1', 'driver', bench.now());
    bench.node('n2', { selected: false });
    bench.policy({ partition: count(5) });
    recreate(bench, ['n1', 'n2', 'n3']);
    assert.deepEqual(counted(bench), {});
  });

  it('are none on the way back to the last complete revision, nor once every online node runs the target', () => {
    const bench = fleet();
    bench.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, bench.now());
    recreate(bench, ['n1', 'n2', 'n3', 'n4']);
    assert.deepEqual(counted(bench), { shop: 3, rest: 1 });
    bench.ledger.patchState({ lastComplete: { name: 'set-b', hash: 'b' } }, bench.now());
    assert.deepEqual(counted(bench), {}, 'complete');
    bench.target('c');
    bench.followStages();
    recreate(bench, ['n1']);
    assert.deepEqual(counted(bench), {}, 'that pod is of b');
    bench.target('b');
    assert.equal(bench.ledger.state.rollback, true);
    assert.deepEqual(counted(bench), {}, 'a rollback');
  });

  it('are none during the first rollout of a new DaemonSet', () => {
    const bench = fleet();
    recreate(bench, ['n1']);
    const target = { name: 'set-b', hash: 'b', number: 1 };
    bench.restore({}, { state: { ...bench.ledger.state, target, startedAt: undefined } });
    assert.deepEqual(counted(bench), {});
  });

  it('are also those that an edit of the plan puts into a closed stage after their update', () => {
    const bench = fleet();
    bench.node('n0', { stages: 0b10 });
    assert.deepEqual(counted(bench), { shop: 1 });
  });

  it('count where owners decide', () => {
    const bench = fleet();
    bench.policy({ strategy: 'ota' });
    recreate(bench, ['n1']);
    assert.deepEqual(counted(bench), { shop: 1 });
  });

  it('are told of by explain, whatever their phase', () => {
    const bench = fleet();
    recreate(bench, ['n1']);
    recreate(bench, ['n2'], { ready: false, trouble: 'crash-loop' });
    const [works, fails] = ['n1', 'n2'].map((node) => explained(bench, node));
    assert.match(
      works?.what ?? '',
      /^n1 runs the target revision\. Its stage shop is closed, but its pod was recreated/,
    );
    assert.match(works?.remedy ?? '', /^A rollback takes the target from it\./);
    assert.match(fails?.what ?? '', /keeps crashing\. Its stage shop is closed/);
    assert.match(fails?.remedy ?? '', /^Roll back, /);
    assert.deepEqual(
      fails?.commands?.map(({ verb }) => verb),
      ['undo', 'resume'],
    );
    assert.doesNotMatch(explained(bench, 'n0').what, /closed/);
  });

  it('count for the breaker of the open stage, and towards the first wave', () => {
    const bench = fleet([{ ...ring('lab', { approval: { required: true } }), failureThreshold: 2 }]);
    bench.policy({ failureThreshold: count(10), firstWave: count(1), progressDeadlineMs: 60 * SECOND });
    recreate(bench, ['n1'], { ready: false, trouble: 'crash-loop' });
    const { breaker, firstWave } = bench.decide().summary;
    assert.deepEqual([breaker.failures, breaker.threshold, breaker.open], [1, 2, false]);
    assert.deepEqual([firstWave?.onTrial, firstWave?.proven], [1, 1]);
    recreate(bench, ['n4'], { ready: false });
    bench.advance(61 * SECOND);
    assert.equal(bench.phase('n4'), 'failed/deadline');
    assert.equal(bench.decide().summary.breaker.open, true);
    assert.deepEqual(bench.steps().filter(({ type }) => type === 'halt').length, 1);
    assert.deepEqual(counted(bench), { rest: 2 });
  });
});
