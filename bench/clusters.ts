import { MINUTE, type Outages, type Outcome, RINGS, type Version } from './clusters/scenario.ts';
import { type SettingName, settings } from './clusters/settings.ts';
import { simulate } from './clusters/simulate.ts';
import type { Benchmark, Figure } from './measure/figure.ts';

/** How long a good version needs depends on the longest outages, so it differs from seed to seed. */
const SEEDS = { good: 20, bad: 10, quick: 2 };

type Measure = 'taken' | 'lastRing';

interface Case {
  name: string;
  version: Version;
  minReadyMs: number;
  /** Default mixed. */
  outages?: Outages;
  measure: Measure;
  /** The limits that are promised, at p95: clusters taken, or hours to the last ring. */
  limits: Partial<Record<SettingName, number>>;
}

const SHORT_MS = MINUTE;
/** As long as the late version works before it cuts the link. */
const LONG_MS = 10 * MINUTE;
const good: Version = { kind: 'good' };
const soon: Version = { kind: 'cuts', fromMs: 0, toMs: 2 * MINUTE };
const late: Version = { kind: 'cuts', fromMs: 7 * MINUTE, toMs: LONG_MS };
const [CANARY] = RINGS;
const onlyCanary = { reach: CANARY, 'reach-5m': CANARY };

const cases: readonly Case[] = [
  { name: 'good', version: good, minReadyMs: SHORT_MS, measure: 'lastRing', limits: { reach: 4, 'reach-5m': 4 } },
  {
    name: 'good-even',
    version: good,
    minReadyMs: SHORT_MS,
    outages: 'even',
    measure: 'lastRing',
    limits: { reach: 4, 'reach-5m': 4 },
  },
  {
    name: 'good-slow',
    version: good,
    minReadyMs: LONG_MS,
    measure: 'lastRing',
    limits: { reach: 12, 'reach-5m': 12 },
  },
  { name: 'halts', version: { kind: 'halts' }, minReadyMs: SHORT_MS, measure: 'taken', limits: onlyCanary },
  { name: 'cuts', version: soon, minReadyMs: SHORT_MS, measure: 'taken', limits: onlyCanary },
  // A window that is shorter than the update lets clusters go as if the version had nothing to do with it.
  { name: 'late-slow', version: late, minReadyMs: LONG_MS, measure: 'taken', limits: { reach: CANARY } },
  // Its clusters have reported success by then: nothing stops it.
  { name: 'late', version: late, minReadyMs: SHORT_MS, measure: 'taken', limits: {} },
];

/** What this share of the values doesn't exceed. */
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.POSITIVE_INFINITY;

const show = (value: number, digits: number): string =>
  value === Number.POSITIVE_INFINITY ? 'never' : value.toFixed(digits);

const describe = (measure: Measure, outcomes: readonly Outcome[]): string => {
  const of = (key: keyof Outcome, digits = 0): string => {
    const values = outcomes.map((outcome) => outcome[key]);
    return `${show(quantile(values, 0.5), digits)} (p95 ${show(quantile(values, 0.95), digits)})`;
  };
  const what =
    measure === 'taken'
      ? `takes ${of('taken')} clusters, cuts off ${of('cut')}`
      : `hours to the last ring ${of('lastRing', 1)}, to nine of ten clusters ${of('most', 1)}`;
  return `${what}; stripped ${of('stripped')}`;
};

const judge = (measure: Measure, limit: number | undefined, outcomes: readonly Outcome[]) => {
  if (limit === undefined) return { goal: 'no promise', met: undefined };
  const unit = measure === 'taken' ? 'clusters' : 'hours to the last ring';
  const p95 = quantile(
    outcomes.map((outcome) => outcome[measure]),
    0.95,
  );
  return { goal: `p95 <= ${limit} ${unit}`, met: p95 <= limit };
};

/**
 * A new version on its way to a thousand clusters, a tenth of them offline, by the rules of Open Cluster Management: how many a bad one
 * takes and how long a good one needs, with and without `edgeset reach`.
 */
export const clusters: Benchmark = {
  name: 'clusters',
  async *run({ quick }): AsyncGenerator<Figure> {
    for (const { name, version, minReadyMs, outages = 'mixed', measure, limits } of cases)
      for (const [setting, value] of Object.entries(settings)) {
        const seeds = quick ? SEEDS.quick : version.kind === 'good' ? SEEDS.good : SEEDS.bad;
        const outcomes = Array.from({ length: seeds }, (_, index) =>
          simulate({ seed: index + 1, setting: value, version, minReadyMs, outages }),
        );
        const limit = limits[setting as SettingName];
        yield {
          name: `${name} ${setting}`,
          measured: describe(measure, outcomes),
          ...judge(measure, limit, outcomes),
        };
      }
  },
};
