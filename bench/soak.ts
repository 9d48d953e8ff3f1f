import { MANAGER_FLAGS } from '../bin/flags.ts';
import { createRandom } from '../src/runtime/index.ts';
import { type Benchmark, type Figure, megabytes, mib } from './measure/figure.ts';
import { lognormal } from './measure/lognormal.ts';
import { liveHeap, residentOf } from './measure/machine.ts';
import { median } from './measure/median.ts';
import { slopeOf } from './measure/slope.ts';
import { createFleet, type Fleet } from './virtual/fleet.ts';

/**
 * For each rollout, and for each hour at rest: an object with one field takes as much. Fewer bytes are nothing that a rollout
 * leaves behind, but what V8 itself does now and then.
 */
const GOAL_BYTES = 32;
/** V8 continues compiling after hundreds of equal rounds, and keeps lists of what depends on compiled code. */
const INTERPRETED = [
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--no-flush-bytecode',
  '--no-lazy-feedback-allocation',
] as const;
/** What is bounded has reached its bound by then: the history of 20 rollouts, the compiled bytecode. */
const WARM_UP = 60;
const SAMPLE_EVERY = 2;
/** Rollouts whose median counts. */
const WINDOW = 20;
/** What a collection more or less makes of the resident memory, bytes. */
const NOISE = 5e6;
const MOST_SAMPLES = 500;
/** Longer than a watch lasts: in every pause, each cache is listed again, after what the rollout has changed in it. */
const PAUSE_MS = 50 * 60_000;
const HEARTBEAT_MS = 300_000;
const HEARTBEATS_AN_HOUR = 12;

/** What it is called with, and the live heap then. The memory of the samples themselves is outside of the heap. */
const createSamples = () => {
  const values = new Float64Array(2 * MOST_SAMPLES);
  let count = 0;
  return {
    add(x: number): void {
      values.set([x, liveHeap()], 2 * count);
      count += 1;
    },
    points: () => Array.from({ length: count }, (_, at) => [values[2 * at] ?? 0, values[2 * at + 1] ?? 0] as const),
  };
};
type Samples = ReturnType<typeof createSamples>;

const judge = (name: string, unit: string, samples: Samples, warmUp: number): Figure => {
  const points = samples.points().filter(([x]) => x >= warmUp);
  const { slope, error } = slopeOf(points);
  const [first, last] = [points[0], points.at(-1)];
  return {
    name,
    measured:
      `live heap grows by ${Math.round(slope) + 0} bytes for each ${unit} (within ${error.toFixed(0)}, 95 %) to ${mib(last?.[1] ?? 0)}, ` +
      `${points.length} samples from ${unit} ${first?.[0]} to ${last?.[0]}`,
    goal: `<= ${GOAL_BYTES} bytes at the upper end of that`,
    met: slope + error <= GOAL_BYTES,
  };
};

const startFleet = async (quick: boolean): Promise<Fleet> => {
  const fleet = createFleet({
    nodes: quick ? 20 : 100,
    maxUnavailable: '10%',
    downMs: lognormal(createRandom(1), 6_000, 0.2),
    roundTripMs: 10,
    watchLagMs: 20,
    copies: true,
  });
  await fleet.start();
  return fleet;
};

/** One rollout after the other. Calls `after` with the number of each. */
const rollOut = async (fleet: Fleet, quick: boolean, after: (rollout: number) => void): Promise<void> => {
  for (let rollout = 1; rollout <= (quick ? 120 : 500); rollout += 1) {
    fleet.release();
    await fleet.complete();
    await fleet.clock.advance(PAUSE_MS);
    fleet.downs.length = 0;
    after(rollout);
  }
};

/** Whether the native controller leaves anything behind: in rollouts one after the other, and at rest. */
export const soak: Benchmark = {
  name: 'soak',
  flags: INTERPRETED,
  async *run({ quick }) {
    const fleet = await startFleet(quick);
    // The first collection costs memory itself.
    liveHeap();
    const samples = createSamples();
    await rollOut(fleet, quick, (rollout) => {
      if (rollout % SAMPLE_EVERY === 0) samples.add(rollout);
    });
    yield judge('soak rollouts', 'rollout', samples, WARM_UP);

    const rest = createSamples();
    for (let hour = 0; hour <= (quick ? 6 : 24); hour += 1) {
      rest.add(hour);
      for (let beat = 0; beat < HEARTBEATS_AN_HOUR; beat += 1) {
        fleet.heartbeat();
        await fleet.clock.advance(HEARTBEAT_MS);
      }
    }
    yield judge('soak at rest', 'hour', rest, 1);
    await fleet.stop();
  },
};

/** The same rollouts with compiled code and the manager's flags: whether what the process takes grows. */
export const soakResident: Benchmark = {
  name: 'soak-resident',
  flags: MANAGER_FLAGS,
  async run({ quick }) {
    const fleet = await startFleet(quick);
    const residents: number[] = [];
    await rollOut(fleet, quick, () => residents.push(residentOf('self')));
    await fleet.stop();
    const early = median(residents.slice(WARM_UP - WINDOW, WARM_UP));
    const late = median(residents.slice(-WINDOW));
    return [
      {
        name: 'soak-resident',
        measured:
          `${megabytes(early)} resident around rollout ${WARM_UP}, ${megabytes(late)} around rollout ${residents.length}, ` +
          `with the API server in memory`,
        goal: `grows by <= ${megabytes(NOISE)}`,
        met: late - early <= NOISE,
      },
    ];
  },
};
