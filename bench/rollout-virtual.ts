import { createRandom } from '../src/runtime/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { seconds } from './measure/figure.ts';
import { lognormal } from './measure/lognormal.ts';
import { type SlotUse, slotUse } from './measure/slots.ts';
import { createFleet } from './virtual/fleet.ts';

const MEAN_MS = 6_000;
const SIGMA = 0.2;
const ROUND_TRIP_MS = 10;
const WATCH_LAG_MS = 20;

/** How much more time is allowed than the limit: here it depends on nothing but the product, so a slower one misses it. */
const OVER_LIMIT = 1.015;

/** Ours and the perfect one move together with the chance of the last nodes: the median of several seeds is compared. */
const SEEDS = 15;

interface Run {
  use: SlotUse;
  tookMs: number;
  rolloutWrites: number;
}

const rollOut = async (nodes: number, k: number, seed: number): Promise<Run> => {
  const fleet = createFleet({
    nodes,
    maxUnavailable: String(k),
    downMs: lognormal(createRandom(seed), MEAN_MS, SIGMA),
    roundTripMs: ROUND_TRIP_MS,
    watchLagMs: WATCH_LAG_MS,
  });
  await fleet.start();
  const startedAt = fleet.clock.now();
  fleet.release();
  await fleet.until(() => fleet.downs.length >= nodes);
  const tookMs = fleet.clock.now() - startedAt;
  await fleet.stop();
  const rolloutWrites = fleet.writes.get('update daemonrollouts') ?? 0;
  return { use: slotUse(fleet.downs, k, tookMs), tookMs, rolloutWrites };
};

const measure = async (nodes: number, k: number): Promise<Figure> => {
  const runs: Run[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) runs.push(await rollOut(nodes, k, seed));
  runs.sort((a, b) => a.use.ratio - b.use.ratio);
  const [median, worst] = [runs[Math.floor(SEEDS / 2)], runs.at(-1)];
  if (!median || !worst) throw new Error('there was no run');
  const { ratio, perfect, firstWaveMs } = median.use;
  const overruns = runs.reduce((sum, { use }) => sum + use.overruns, 0);
  return {
    name: `rollout-virtual k=${k}`,
    measured:
      `${ratio.toFixed(3)} of the bound (no scheduler does better than ${perfect.toFixed(3)} here; the first wave is ${seconds(firstWaveMs)} of it; worst of ${SEEDS} seeds ` +
      `${worst.use.ratio.toFixed(3)} where none does better than ${worst.use.perfect.toFixed(3)}), ` +
      `N=${nodes} in ${seconds(median.tookMs)}, ${overruns} overruns, ${(median.rolloutWrites / nodes).toFixed(2)} rollout writes a pod; ` +
      `down ${seconds(MEAN_MS)} lognormal ${SIGMA}, calls ${ROUND_TRIP_MS} ms, watch ${WATCH_LAG_MS} ms`,
    goal: `<= ${OVER_LIMIT} times what no scheduler does better than, 0 overruns`,
    met: ratio <= OVER_LIMIT * perfect && overruns === 0,
  };
};

/** The real native controller and its work queue on virtual time. */
export const rolloutVirtual: Benchmark = {
  name: 'rollout-virtual',
  async run({ quick }) {
    const nodes = quick ? 300 : 1000;
    return [await measure(nodes, 10), await measure(nodes, quick ? 30 : 100)];
  },
};
