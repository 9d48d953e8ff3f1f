import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { approve, ring, stagedBench } from '../testing/staged.ts';
import type { Workbench } from '../testing/workbench.ts';
import { stagesOf } from './stages.ts';

const awaited = (bench: Workbench): (string | undefined)[] =>
  stagesOf(bench.ledger, bench.decide().summary).map(({ awaits }) => awaits?.reason);

/** The lab runs the target and awaits an approval. */
const waiting = (...rings: string[]): Workbench => {
  const bench = stagedBench([ring('lab', { approval: { required: true } })], rings);
  bench.followStages();
  bench.update('b', 'n0');
  bench.followStages();
  return bench;
};

describe('the stages of a status', () => {
  it('show what the open one awaits while online nodes are behind it', () => {
    const bench = waiting('lab', 'shop');
    assert.deepEqual(awaited(bench), ['Approval', undefined]);
    approve(bench, 'lab');
    bench.followStages();
    assert.deepEqual(awaited(bench), [undefined, 'Coverage']);
    bench.update('b', 'n1');
    assert.equal(bench.decide().summary.complete, true);
    assert.deepEqual(awaited(bench), [undefined, undefined]);
  });

  it('show it also while all online nodes run the target, for those that are away', () => {
    const bench = waiting('lab', 'shop');
    bench.offline('n1');
    assert.equal(bench.decide().summary.complete, true);
    assert.deepEqual(awaited(bench), ['Approval', undefined]);
  });

  it('show nothing once no node is behind the open one', () => {
    const bench = waiting('lab', 'lab');
    bench.offline('n1');
    assert.equal(bench.decide().summary.complete, true);
    assert.deepEqual(awaited(bench), [undefined]);
  });
});
