import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '../decision/decide.ts';
import { benchAt, type Workbench } from '../testing/workbench.ts';
import { milestonesOf } from './milestones.ts';

const reached = ({ ledger, now }: Workbench): string[] =>
  Object.keys(milestonesOf(ledger, decide(ledger, undefined, now()).summary, now()) ?? {});

describe('the milestones of a rollout', () => {
  it('are its first wave, and half of the nodes that are online', () => {
    const bench = benchAt(8, { maxUnavailable: { kind: 'percent', value: 100 } });
    const updated = (...nodes: string[]): string[] => {
      bench.update('b', ...nodes);
      bench.advance(60_000);
      return reached(bench);
    };
    bench.offline('n7');
    assert.deepEqual(updated('n0', 'n1'), []);
    assert.deepEqual(updated('n2'), ['firstWaveUpdatedAt']);
    assert.deepEqual(updated('n3'), ['firstWaveUpdatedAt', 'halfUpdatedAt']);
    assert.deepEqual(updated('n4', 'n5', 'n6'), ['firstWaveUpdatedAt', 'halfUpdatedAt'], 'one is offline');
  });

  it('are reached once', () => {
    const bench = benchAt(2, { maxUnavailable: { kind: 'percent', value: 100 } });
    bench.update('b', 'n0');
    bench.advance(60_000);
    assert.deepEqual(reached(bench), ['halfUpdatedAt'], 'no first wave that is smaller than the budget');
    bench.ledger.patchState({ halfUpdatedAt: 1 }, bench.now());
    assert.deepEqual(reached(bench), []);
  });
});
