import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { breakerOf } from '../fleet/breaker.ts';
import { newTally } from '../fleet/tally.ts';
import { count, type IntOrPercent, percent } from '../policy/int-or-percent.ts';
import { waveAfter } from './first-wave.ts';

const NODES = 1_000;
const RUNS = 20;

/** Uniform numbers from 0 to 1, the same for the same seed. */
const randomOf = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

/** A rollout as slots alone: an update, or its failure, takes 2 to 5 s, and the manager no time. */
const rollOut = (
  budget: number,
  failing: number,
  failureThreshold: IntOrPercent,
  firstWave: 'default' | '100%',
  seed: number,
) => {
  const random = randomOf(seed);
  const tally = newTally();
  /** The next to end is the last. */
  const underWay: { at: number; fails: boolean }[] = [];
  let now = 0;
  let started = 0;
  let proven = 0;
  for (;;) {
    const failed = tally.onlineFailures;
    const { threshold, open } = breakerOf({ failureThreshold }, tally, started, budget);
    const limit = firstWave === '100%' ? budget : Math.min(budget, waveAfter(threshold, proven));
    const hasRoom = started < NODES && failed + underWay.length < limit;
    if (hasRoom && !open) {
      const at = now + 2_000 + 3_000 * random();
      underWay.splice(underWay.findLastIndex((other) => other.at > at) + 1, 0, { at, fails: random() < failing });
      started += 1;
      continue;
    }
    const next = underWay.pop();
    if (!next) return { broken: failed, seconds: now / 1_000 };
    now = next.at;
    if (next.fails) tally.onlineFailures += 1;
    else proven += 1;
  }
};

const average = (values: readonly number[]): number => Math.round(values.reduce((a, b) => a + b, 0) / values.length);

const row = (share: number): string => {
  const budget = (NODES * share) / 100;
  const cells = (failing: number, threshold: IntOrPercent, what: 'broken' | 'seconds'): number[] =>
    (['default', '100%'] as const).map((firstWave) =>
      average(Array.from({ length: RUNS }, (_, seed) => rollOut(budget, failing, threshold, firstWave, seed)[what])),
    );
  const usual = percent(10);
  const broken = [
    cells(1, usual, 'broken'),
    cells(0.5, usual, 'broken'),
    cells(0.1, usual, 'broken'),
    cells(0.1, count(3), 'broken'),
  ];
  const seconds = cells(0, usual, 'seconds').join(' s / ');
  return `| ${share} % | ${broken.map((each) => each.join(' / ')).join(' | ')} | ${seconds} s |`;
};

describe('the page about the first wave', () => {
  it('has the figures of a simulation of slots alone', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../../docs/explanation/first-wave.md'), 'utf8');
    const documented = page.split('\n').filter((line) => /^\| \d+ % \|/.test(line));
    assert.deepEqual(documented, [1, 5, 10, 25, 50].map(row));
  });
});
