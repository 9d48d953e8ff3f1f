import assert from 'node:assert/strict';
import { it } from 'node:test';
import { slopeOf } from './slope.ts';

it('finds the slope of points on a line exactly', () => {
  assert.deepEqual(
    slopeOf([
      [10, 7],
      [20, 12],
      [40, 22],
    ]),
    { slope: 0.5, error: 0 },
  );
});

it('says how far off the slope of scattered points may be', () => {
  const { slope, error } = slopeOf([
    [0, 1],
    [1, -1],
    [2, -1],
    [3, 1],
  ]);
  assert.equal(slope, 0);
  // The residues are 1: their variance with two degrees of freedom is 2, and the spread of x is 5.
  assert.ok(Math.abs(error - 2 * Math.sqrt(2 / 5)) < 1e-12, String(error));
});
