import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count, type IntOrPercent, percent } from '../policy/int-or-percent.ts';
import { policyWith } from '../testing/workbench.ts';
import { breakerOf } from './breaker.ts';
import { newTally } from './tally.ts';

interface Case {
  threshold?: IntOrPercent;
  updatesStarted?: number;
  budget?: number;
  online?: number;
  lost?: number;
  suspects?: number;
}

const breaker = ({
  threshold = percent(10),
  updatesStarted = 0,
  budget = 10,
  online = 0,
  lost = 0,
  suspects = 0,
}: Case) =>
  breakerOf(
    policyWith({ failureThreshold: threshold }),
    { ...newTally(), onlineFailures: online, lostFailures: lost, suspects },
    updatesStarted,
    budget,
  );

describe('the threshold', () => {
  for (const [threshold, updatesStarted, expected] of [
    [percent(10), 0, 3],
    [percent(10), 30, 3],
    [percent(10), 31, 4],
    [percent(10), 500, 50],
    [count(1), 500, 1],
    [count(7), 0, 7],
    [percent(100), 2, 3],
  ] as const)
    it(`is ${expected} for ${threshold.value} (${threshold.kind}) after ${updatesStarted} updates`, () =>
      assert.equal(breaker({ threshold, updatesStarted }).threshold, expected));
});

describe('the breaker', () => {
  const cases: [string, Case, open: boolean, mustHalt: boolean][] = [
    ['rests below the threshold', { online: 1, lost: 1 }, false, false],
    ['opens for suspects without halting', { suspects: 3 }, true, false],
    ['opens for suspects and failures together', { suspects: 1, online: 1, lost: 1 }, true, false],
    ['halts once failures alone reach the threshold', { online: 2, lost: 1 }, true, true],
    ['halts for lost nodes alone', { lost: 3 }, true, true],
    ['halts once failed nodes hold every slot', { online: 2, budget: 2 }, false, true],
    ['does not halt for a lost node, which holds no slot', { lost: 1, budget: 1 }, false, false],
    ['does not halt for want of a budget', { online: 1, budget: 0 }, false, false],
    ['obeys a threshold of one', { threshold: count(1), suspects: 1 }, true, false],
  ];
  for (const [name, input, open, mustHalt] of cases)
    it(name, () => {
      const { open: opened, mustHalt: halts } = breaker(input);
      assert.deepEqual({ open: opened, mustHalt: halts }, { open, mustHalt });
    });
});
