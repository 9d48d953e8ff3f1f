import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutPlanSpec } from '../../words/index.ts';
import { count, percent } from '../policy/int-or-percent.ts';
import { benchAt, planOf, type Workbench } from '../testing/workbench.ts';
import { matchingStages } from './membership.ts';
import { groupsOf, scopeLimit } from './scopes.ts';

const SITE = 'example.com/site';

/** Nodes that run `a`, with these labels; the target is `b`, and the DaemonSet's own budget is no limit. */
const benchWith = (spec: RolloutPlanSpec, labels: readonly Record<string, string>[]): Workbench => {
  const plan = planOf(spec);
  const bench = benchAt(labels.length, { maxUnavailable: percent(100), plan });
  for (const [index, each] of labels.entries())
    bench.node(`n${index}`, { stages: matchingStages(plan, each), groups: groupsOf(plan, each) });
  return bench;
};

const sites = (...names: (string | undefined)[]): Record<string, string>[] =>
  names.map((name) => (name === undefined ? {} : { [SITE]: name }));

const perSite = (value: number | string): RolloutPlanSpec => ({ maxUnavailablePer: [{ topologyKey: SITE, value }] });

/** The sites whose nodes get a slot now. */
const reserved = (bench: Workbench, labels: readonly Record<string, string>[]): string[] =>
  bench
    .nodesOf('reserve')
    .map((name) => labels[Number(name.slice(1))]?.[SITE] ?? 'none')
    .toSorted((a, b) => (a < b ? -1 : 1));

describe('scopeLimit', () => {
  for (const [limit, online, expected] of [
    [count(2), 10, 2],
    [count(0), 10, 0],
    [percent(0), 10, 0],
    [percent(1), 10, 1],
    [percent(25), 10, 3],
    [percent(50), 0, 1],
    [percent(100), 7, 7],
  ] as const)
    it(`of ${limit.value}${limit.kind === 'percent' ? '%' : ''} of ${online} is ${expected}`, () =>
      assert.equal(scopeLimit({ limit, online }), expected));
});

describe('the limit of a group', () => {
  it('holds for each group, and nodes without the label are one group', () => {
    const labels = sites('s1', 's1', 's2', 's2', undefined, undefined, undefined);
    assert.deepEqual(reserved(benchWith(perSite(1), labels), labels), ['none', 's1', 's2']);
    assert.deepEqual(reserved(benchWith(perSite(2), labels), labels), ['none', 'none', 's1', 's1', 's2', 's2']);
  });

  it('is a share of the online nodes of the group', () => {
    const labels = sites('s1', 's1', 's1', 's1');
    const bench = benchWith(perSite('50%'), labels);
    assert.equal(bench.nodesOf('reserve').length, 2);
    bench.offline('n0', 'n1');
    assert.equal(bench.nodesOf('reserve').length, 1);
  });

  it('counts reservations, nodes that are down, and nodes that an update took down', () => {
    const labels = sites('s1', 's1', 's2');
    const bench = benchWith(perSite(1), labels);
    bench.reserve('n0');
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
    bench.deletePod('n0');
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
    bench.start('n0', 'b', { ready: false });
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
    bench.change('n0', { ready: true, readyChangedAt: bench.now() });
    assert.deepEqual(bench.nodesOf('reserve').toSorted(), ['n1', 'n2']);
    bench.change('n0', { ready: false, readyChangedAt: bench.now() });
    assert.deepEqual(bench.nodesOf('reserve'), ['n2']);
  });

  it('counts surges, and an offline node holds no slot', () => {
    const labels = sites('s1', 's1');
    const bench = benchWith(perSite(1), labels);
    bench.policy({ maxSurge: count(2), maxUnavailable: count(0) });
    assert.equal(bench.nodesOf('reserve').length, 1);
    bench.surge('n0');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.offline('n0');
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
  });

  it('of zero updates nothing there', () => {
    const labels = sites('s1', undefined);
    assert.deepEqual(reserved(benchWith(perSite(0), labels), labels), []);
  });

  it('of every key holds at once', () => {
    const labels = [
      { [SITE]: 's1', rack: 'r1' },
      { [SITE]: 's2', rack: 'r1' },
      { [SITE]: 's2', rack: 'r2' },
    ];
    const bench = benchWith(
      {
        maxUnavailablePer: [
          { topologyKey: SITE, value: 1 },
          { topologyKey: 'rack', value: 1 },
        ],
      },
      labels,
    );
    const chosen = bench.nodesOf('reserve');
    assert.ok(!(chosen.includes('n0') && chosen.includes('n1')) && !(chosen.includes('n1') && chosen.includes('n2')));
    assert.ok(chosen.length > 0);
  });

  it('holds after the policy and the plan have changed', () => {
    const labels = sites('s1', 's1', 's1', 's2', 's2');
    const bench = benchWith(perSite(2), labels);
    bench.policy({ paused: true });
    bench.policy({ paused: false });
    assert.deepEqual(reserved(bench, labels), ['s1', 's1', 's2', 's2']);
    bench.policy({ plan: planOf(perSite(1)) });
    assert.deepEqual(reserved(bench, labels), ['s1', 's2']);
    bench.reserve('n0');
    assert.deepEqual(reserved(bench, labels), ['s2']);
    bench.policy({ plan: planOf({}) });
    assert.equal(bench.nodesOf('reserve').length, 4);
  });
});

describe('maxUnavailable of a stage', () => {
  const spec = (maxUnavailable: number | string): RolloutPlanSpec => ({
    stages: [{ name: 'lab', nodes: { selector: { matchLabels: { ring: 'lab' } } }, maxUnavailable }],
  });
  for (const [value, expected] of [
    [2, 2],
    ['1%', 1],
    ['50%', 3],
    [0, 0],
  ] as const)
    it(`of ${value} updates ${expected} of 5 nodes at a time`, () => {
      const bench = benchWith(
        spec(value),
        Array.from({ length: 5 }, () => ({ ring: 'lab' })),
      );
      bench.followStages();
      assert.equal(bench.nodesOf('reserve').length, expected);
    });
});
