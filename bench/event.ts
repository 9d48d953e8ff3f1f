import { createRandom } from '../src/runtime/index.ts';
import type { RolloutPlanSpec } from '../src/words/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { cpuMs, watchMachine } from './measure/machine.ts';
import { median } from './measure/median.ts';
import { createFleet, type Fleet } from './virtual/fleet.ts';

const GOAL = 1.5;
/** Pods a round. */
const PODS = 2_000;
/** It goes down, comes up, and changes in something that concerns no rollout. */
const EVENTS_A_POD = 3;
const WARM_UP = 2;
const ROUNDS = 9;

/**
 * A pod's readiness changes: watch event, projection, cache, ledger, work queue, decision, status. One at a time, so that
 * each pays for its own pass.
 */
const flip = async (fleet: Fleet, chance: () => number, pods: number, perSecond: number): Promise<void> => {
  for (let count = 0; count < pods; count += 1) {
    const name = fleet.names[Math.floor(chance() * fleet.names.length)] ?? '';
    for (const ready of [false, true, true]) {
      fleet.setReady(name, ready);
      await fleet.clock.advance(1000 / perSecond);
    }
  }
};

interface Subject {
  /** Microseconds of work an event. */
  round(): Promise<number>;
  stop(): Promise<void>;
}

/** A rollout of the whole fleet that is under way. */
const underWay = async (nodes: number, maxUnavailable: string, plan?: RolloutPlanSpec): Promise<Subject> => {
  const fleet = createFleet({
    nodes,
    maxUnavailable,
    // No node recovers, and so none would prove the revision.
    firstWave: '100%',
    downMs: () => 1e9,
    roundTripMs: 0,
    watchLagMs: 0,
    ...(plan && { plan }),
  });
  await fleet.start();
  fleet.release();
  // The budget is used up and no node recovers: the following events meet a rollout in progress.
  const [rollout] = [...fleet.controller.snapshot()];
  const end = fleet.clock.now() + 60_000;
  await fleet.until(() => fleet.clock.now() >= end);
  const inFlight = rollout?.ledger.tally.inFlight ?? 0;
  if (inFlight === 0) throw new Error('no rollout is under way');
  if (plan && rollout?.ledger.stages.current?.index !== 0) throw new Error('the first stage is not under way');
  const chance = createRandom(3);
  return {
    async round() {
      const before = cpuMs();
      // Each node under update brings about one event a second; the status, written once a second, is as long as they are many.
      await flip(fleet, chance, PODS, inFlight);
      return ((cpuMs() - before) * 1000) / (EVENTS_A_POD * PODS);
    },
    stop: () => fleet.stop(),
  };
};

/**
 * Of each, the median of its rounds. All take turns: compiled code, heap and machine change more from the first minute to the second
 * than the sizes do.
 */
const compare = async (starts: readonly (() => Promise<Subject>)[]): Promise<number[]> => {
  const subjects: Subject[] = [];
  for (const start of starts) subjects.push(await start());
  const micros: number[][] = subjects.map(() => []);
  for (let turn = 0; turn < WARM_UP + ROUNDS; turn += 1)
    for (const [index, subject] of subjects.entries()) {
      const spent = await subject.round();
      if (turn >= WARM_UP) micros[index]?.push(spent);
    }
  for (const subject of subjects) await subject.stop();
  return micros.map(median);
};

const measure = async (sizes: readonly number[], maxUnavailable: string): Promise<Figure> => {
  const machine = watchMachine();
  const micros = await compare(sizes.map((size) => () => underWay(size, maxUnavailable)));
  const least = Math.min(...micros);
  const flatness = Math.max(...micros) / least;
  const steps = sizes.map((size, index) => `${size / 1000}k ${micros[index]?.toFixed(1)} us`);
  return {
    name: `event budget ${maxUnavailable}`,
    measured: `${steps.join(', ')}: ${flatness.toFixed(2)} times, CPU of the whole controller, a pass and a watch event each, statuses included; ${machine()}`,
    goal: `<= ${GOAL} times`,
    met: flatness <= GOAL,
  };
};

const STAGES = 20;
const zoneIs = (...digits: number[]) => ({
  matchExpressions: [
    {
      key: 'topology.kubernetes.io/zone',
      operator: 'In' as const,
      values: digits.map((digit) => `north-${digit}`),
    },
  ],
});

/** The first stage, half of the fleet, is under way: it has room for the whole budget. */
const staged: RolloutPlanSpec = {
  stages: Array.from({ length: STAGES }, (_, index) => ({
    name: `stage-${index}`,
    nodes:
      index === 0
        ? { selector: zoneIs(0, 1, 2, 3, 4) }
        : { selector: { ...zoneIs(5, 6, 7, 8, 9), matchLabels: { 'example.com/site': `site-${500 + index * 10}` } } },
    promote: { soak: '1h' },
  })),
};

const measureStages = async (nodes: number, maxUnavailable: string): Promise<Figure> => {
  const machine = watchMachine();
  const plans = [undefined, staged];
  const [none = 0, some = 0] = await compare(plans.map((plan) => () => underWay(nodes, maxUnavailable, plan)));
  return {
    name: `event with ${STAGES} stages`,
    measured: `${nodes / 1000}k nodes: ${some.toFixed(1)} us, ${(some / none).toFixed(2)} times the ${none.toFixed(1)} us without a plan; ${machine()}`,
    goal: `<= ${GOAL} times`,
    met: some <= GOAL * none,
  };
};

/** Work per event as the fleet grows, and with a rollout plan. */
export const event: Benchmark = {
  name: 'event',
  async run({ quick }) {
    const sizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000];
    const most = sizes.at(-1) ?? 0;
    return [await measure(sizes, '100'), await measure(sizes, '10%'), await measureStages(most, '100')];
  },
};
