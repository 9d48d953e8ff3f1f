import { setTimeout as pause } from 'node:timers/promises';
import { type Benchmark, type Figure, megabytes, seconds } from './measure/figure.ts';
import { peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { startEmbeddedFleet } from './real/embedded-fleet.ts';
import { startRealFleet } from './real/fleet.ts';
import { native } from './real/workload.ts';

const APP = 'app';
const TIMEOUT_MS = 900_000;
/** What the end of the rollout sets off has ended by then. */
const REST_MS = 5_000;

interface Size {
  nodes: number;
  /** Most resident memory, bytes. */
  goal: number;
  cluster: 'real' | 'embedded';
}

const SIZES: readonly Size[] = [
  { nodes: 1_000, goal: 95e6, cluster: 'real' },
  { nodes: 5_000, goal: 130e6, cluster: 'embedded' },
  { nodes: 20_000, goal: 200e6, cluster: 'embedded' },
];

const measure = async ({ nodes, goal, cluster }: Size): Promise<Figure> => {
  const fleet = await (cluster === 'real' ? startRealFleet(nodes, native) : startEmbeddedFleet(nodes, native));
  try {
    const release = { maxUnavailable: '10%', meanStartMs: 300 };
    await fleet.apply(APP, { ...release, version: 1 });
    await fleet.whenRolledOut(APP, TIMEOUT_MS);
    const machine = watchMachine();
    const startedAt = performance.now();
    const manager = await fleet.startManager();
    const readyAt = performance.now();
    const peakAtStart = peakResidentOf(manager.pid);
    await fleet.apply(APP, { ...release, version: 2 });
    await fleet.whenRolledOut(APP, TIMEOUT_MS);
    const doneAt = performance.now();
    await pause(REST_MS);
    const resident = residentOf(manager.pid);
    const peak = peakResidentOf(manager.pid);
    await manager.stop();
    return {
      name: `memory-real N=${nodes}`,
      measured:
        `at most ${megabytes(peak)} resident, ${megabytes(peakAtStart)} until its caches were full ${seconds(readyAt - startedAt)} after its start, ` +
        `${megabytes(resident)} after a rollout to 10 % at a time in ${seconds(doneAt - readyAt)}; ${cluster} cluster; ${machine()}`,
      goal: `<= ${megabytes(goal)}`,
      met: peak <= goal,
    };
  } finally {
    await fleet.stop();
  }
};

/** Resident memory of the manager's process with a pod on each node: while it fills its caches, in a rollout, and after it. */
export const memoryReal: Benchmark = {
  name: 'memory-real',
  async *run({ quick }) {
    for (const size of SIZES) yield await measure(quick ? { ...size, nodes: size.nodes / 10 } : size);
  },
};
