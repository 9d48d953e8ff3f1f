import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Benchmark, mib, seconds } from './measure/figure.ts';
import { peakResidentOf, watchMachine } from './measure/machine.ts';
import { drawPlots, type Plot } from './measure/plot.ts';
import { type Cost, costOf, type Shape } from './virtual/cost.ts';

const PICTURE = path.join(import.meta.dirname, '../docs/images/scale.svg');
const ACT_MS = 5_000;
/** The largest fleet that the goal is about. */
const ACT_NODES = 10_000;

interface Factor {
  name: keyof Shape;
  title: string;
  shape: Shape;
  values: readonly (number | string)[];
}

const textOf = (value: number | string): string => value.toLocaleString('en');

const factorsOf = (quick: boolean): Factor[] => {
  const fleet: Shape = { nodes: quick ? 1_000 : 10_000, daemonSets: 1, budget: '10%', stages: 0 };
  const nodes = textOf(fleet.nodes);
  return [
    { name: 'nodes', title: 'Nodes', shape: fleet, values: quick ? [300, 1_000, 3_000] : [1_000, 10_000, 100_000] },
    {
      name: 'daemonSets',
      title: 'DaemonSets, on 100 nodes',
      shape: { ...fleet, nodes: 100 },
      values: quick ? [3, 10, 30] : [10, 100, 1_000],
    },
    { name: 'budget', title: `Budget, of ${nodes} nodes`, shape: fleet, values: ['1%', '10%', '50%'] },
    { name: 'stages', title: `Stages, with ${nodes} nodes`, shape: fleet, values: [0, 5, 20] },
  ];
};

const describe = ({ reconcileMs, podMs, heapBytes, syncMs, actMs }: Cost): string =>
  `${reconcileMs.toFixed(2)} ms CPU a reconcile, ${podMs.toFixed(2)} ms CPU an updated pod, ${mib(heapBytes)} live heap, ` +
  `${seconds(syncMs)} from start to full caches, ${seconds(actMs)} from lease to first deletes`;

/** How the cost of the native controller grows. */
export const scale: Benchmark = {
  name: 'scale',
  async *run({ quick }) {
    const machine = watchMachine();
    const known = new Map<string, Cost>();
    const measure = async (shape: Shape): Promise<Cost> => {
      const key = JSON.stringify(shape);
      const cost = known.get(key) ?? (await costOf(shape));
      known.set(key, cost);
      return cost;
    };
    // What the first one compiles, the others have.
    await costOf({ nodes: quick ? 1_000 : 10_000, daemonSets: 1, budget: '10%', stages: 5 });
    const plots: Plot[] = [];
    for (const { name, title, shape, values } of factorsOf(quick)) {
      const costs: Cost[] = [];
      for (const value of values) {
        const cost = await measure({ ...shape, [name]: value });
        costs.push(cost);
        const hasGoal = name === 'nodes' && Number(value) <= ACT_NODES;
        yield {
          name: `scale ${name}=${textOf(value)}`,
          measured: describe(cost),
          goal: hasGoal ? `a new leader acts within ${seconds(ACT_MS)}` : '-',
          met: hasGoal ? cost.actMs <= ACT_MS : undefined,
        };
      }
      plots.push({
        title,
        // Without stages, all nodes are one.
        xs: values.map((value) => ({ at: Number.parseInt(String(value), 10) || 1, text: textOf(value) })),
        lines: [
          costs.map(({ reconcileMs }) => reconcileMs),
          costs.map(({ podMs }) => podMs),
          costs.map(({ heapBytes }) => heapBytes),
          costs.map(({ actMs }) => actMs),
        ],
      });
    }
    const names = ['CPU of a reconcile', 'CPU of an updated pod', 'live heap', 'from lease to deletes'];
    const title =
      'How the cost of the manager grows with nodes, DaemonSets, budget and stages, as multiples of the leftmost value';
    if (!quick) writeFileSync(PICTURE, drawPlots(plots, names, title));
    yield {
      name: 'scale',
      measured: `${mib(peakResidentOf('self'))} resident at most, with the API server in memory; ${quick ? 'no picture' : 'docs/images/scale.svg'}; ${machine()}`,
      goal: '-',
      met: undefined,
    };
  },
};
