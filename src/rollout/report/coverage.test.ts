import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import { benchAt, daemonSetName, type Workbench } from '../testing/workbench.ts';
import { isEverywhere } from './coverage.ts';
import { statusOf } from './status.ts';

const statusAt = (bench: Workbench, previous?: DaemonRolloutStatus): DaemonRolloutStatus => {
  const decision = bench.decide();
  return statusOf({
    ledger: bench.ledger,
    decision,
    generation: 1,
    daemonSetGeneration: 1,
    policyHash: '',
    daemonSet: daemonSetName,
    previous,
    now: bench.now(),
  });
};

const condition = ({ conditions }: DaemonRolloutStatus) => {
  const { status, reason, message } = conditions?.find(({ type }) => type === 'AllNodesUpdated') ?? {};
  return { status, reason, message };
};

describe('AllNodesUpdated', () => {
  it('is True only once the last node has the target, offline ones included', () => {
    const bench = benchAt(3);
    assert.equal(condition(statusAt(bench)).status, 'False');
    bench.offline('n0');
    bench.update('b', 'n1', 'n2');
    const complete = statusAt(bench);
    assert.equal(complete.conditions?.find(({ type }) => type === 'Complete')?.status, 'True');
    assert.deepEqual(condition(complete), {
      status: 'False',
      reason: 'OfflineNodesOutdated',
      message: '2 of 3 nodes have set-b, offline nodes included.',
    });
    assert.equal(isEverywhere(bench.ledger, bench.decide().summary), false);
    bench.online('n0');
    bench.update('b', 'n0');
    const all = statusAt(bench, complete);
    assert.deepEqual(condition(all), {
      status: 'True',
      reason: 'AllNodesUpdated',
      message: '3 of 3 nodes have set-b, offline nodes included.',
    });
    assert.equal(isEverywhere(bench.ledger, bench.decide().summary), true);
  });

  it('stays True when a node with the target goes offline', () => {
    const bench = benchAt(2);
    bench.update('b', 'n0', 'n1');
    const all = statusAt(bench);
    bench.advance(3_600_000);
    bench.offline('n0');
    const later = statusAt(bench, all);
    assert.equal(condition(later).status, 'True');
  });
});

describe('the stragglers', () => {
  it('are offline nodes without the target, those that have been away for longest first', () => {
    const bench = benchAt(5);
    bench.offline('n3');
    const first = bench.now();
    bench.advance(60_000);
    bench.offline('n1');
    bench.update('b', 'n0');
    bench.advance(3_600_000);
    bench.offline('n0');
    assert.deepEqual(statusAt(bench).stragglers, [
      { node: 'n3', lastSeen: new Date(first).toISOString().replace('.000Z', 'Z') },
      { node: 'n1', lastSeen: new Date(first + 60_000).toISOString().replace('.000Z', 'Z') },
    ]);
  });

  it('are at most ten of a large fleet', () => {
    const bench = benchAt(1_500);
    for (let index = 0; index < 1_500; index += 1) {
      bench.offline(`n${index}`);
      bench.advance(1_000);
    }
    assert.deepEqual(
      statusAt(bench).stragglers?.map(({ node }) => node),
      Array.from({ length: 10 }, (_, index) => `n${index}`),
    );
  });
});
