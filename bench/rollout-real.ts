import type { Manager } from '../test/conformance/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { mib, seconds } from './measure/figure.ts';
import { formatIdle } from './measure/idle.ts';
import { peakResidentOf, residentOf } from './measure/machine.ts';
import { podWrites } from './real/audit-log.ts';
import { SIGMA } from './real/down-times.ts';
import { type RealFleet, startRealFleet } from './real/fleet.ts';
import { leastCpu } from './real/least-cpu.ts';
import { bringTo, rollOut } from './real/roll-out.ts';
import { type NativeRelease, native } from './real/workload.ts';

/** Measured with OpenYurt's manager under the same conditions, see docs/explanation/benchmarks.md. */
const peerOf = (k: number): string => (k <= 10 ? '1.30, 73 overruns' : '1.58');
/** Time over the bound: few slots leave little empty at the end, many leave more. */
const rolloutGoal = (k: number): number => (k <= 10 ? 1.02 : 1.1);
const cpuGoal = (k: number): number => (k <= 10 ? 5 : 2.3);
const PEER_RESIDENT = 119 * 1024 * 1024;

interface Step {
  k: number;
  meanStartMs: number;
  version: number;
}

const measure = async (fleet: RealFleet<NativeRelease>, manager: Manager, step: Step): Promise<Figure[]> => {
  const { nodes } = fleet;
  const { k, meanStartMs, version } = step;
  const release = { version, maxUnavailable: String(k), meanStartMs };
  const rolledOut = await rollOut(fleet, manager, { release, k, slot: 'down' });
  const { ratio, perfect, firstWaveMs, meanMs, most, overruns, unplanned, tookMs, idle, calls, cpuMs, busy } =
    rolledOut;
  const each = (count: number): string => (count / nodes).toFixed(2);
  return [
    {
      name: `rollout-real k=${k}`,
      measured:
        `${ratio.toFixed(3)} of the bound (no scheduler does better than ${perfect.toFixed(3)} here; the first wave is ${seconds(firstWaveMs)} of it), N=${nodes} in ${seconds(tookMs)}, ` +
        `at most ${most} down, ${overruns} overruns, ${unplanned} became unavailable by themselves; down ${seconds(meanMs)} lognormal ${SIGMA}; ${busy}`,
      goal: `<= ${rolloutGoal(k).toFixed(2)}, 0 overruns; OpenYurt ${peerOf(k)}`,
      met: ratio <= rolloutGoal(k) && overruns === 0,
    },
    {
      name: `idle-real k=${k}`,
      measured: `${formatIdle(idle, { k, take: 'delete' })}; ${busy}`,
      goal: '-',
      met: undefined,
    },
    {
      name: `writes-real k=${k}`,
      measured:
        `${each(podWrites(calls))} pod writes a pod (and ${each(calls.rollouts)} rollout objects, ${each(calls.events)} Events, ` +
        `${each(calls.statuses + calls.otherWrites)} others), ${each(calls.reads)} reads`,
      goal: '1 pod write; OpenYurt 1.03',
      met: podWrites(calls) === nodes,
    },
    {
      name: `cpu-real k=${k}`,
      measured: `${cpuMs.toFixed(1)} ms CPU a pod; ${busy}`,
      goal: `<= ${cpuGoal(k)} ms; OpenYurt 3.6-10.9 ms`,
      met: cpuMs <= cpuGoal(k),
    },
  ];
};

/** A bare client reads and asks as much as the manager: on this machine, no program of Node takes less CPU. */
const measureLeast = async (
  fleet: RealFleet<NativeRelease>,
  manager: Manager,
  { k, ...step }: Step,
): Promise<Figure> => {
  const release = { ...step, maxUnavailable: String(k) };
  // So many have a budget of their own, and the rollout is not at its end.
  const { bareMs, managerMs, pods, busy } = await leastCpu(fleet, manager, { release, nodes: fleet.nodes / 2 });
  return {
    name: `least-cpu k=${k}`,
    measured:
      `a bare client of Node that parses the same watches and sends one request a pod: ${bareMs.toFixed(1)} ms CPU a pod, ` +
      `the manager beside it ${managerMs.toFixed(1)} ms; ${pods} pods; ${busy}`,
    goal: '-',
    met: undefined,
  };
};

/** The manager's process on a real control plane, judged by the API server's audit log. */
export const rolloutReal: Benchmark = {
  name: 'rollout-real',
  async *run({ quick }) {
    const fleet = await startRealFleet(quick ? 300 : 1000, native);
    try {
      await bringTo(fleet, { version: 1, maxUnavailable: '10', meanStartMs: 300 });
      const manager = await fleet.startManager();
      // Down times are as long as four minutes per rollout allow: shorter ones weigh the manager's own time more.
      yield* await measure(fleet, manager, { k: quick ? 30 : 100, meanStartMs: 4_500, version: 2 });
      yield* await measure(fleet, manager, { k: 10, meanStartMs: 1_700, version: 3 });
      const resident = residentOf(manager.pid);
      yield {
        name: `memory-real N=${fleet.nodes}`,
        measured: `${mib(resident)} resident after two rollouts, ${mib(peakResidentOf(manager.pid))} at the most`,
        goal: '< 119 MiB at 1,000 nodes (OpenYurt)',
        met: resident < PEER_RESIDENT,
      };
      yield await measureLeast(fleet, manager, { k: 10, meanStartMs: 1_700, version: 4 });
      await bringTo(fleet, { version: 5, maxUnavailable: '100%', meanStartMs: 300 });
      yield await measureLeast(fleet, manager, { k: quick ? 30 : 100, meanStartMs: 4_500, version: 6 });
      await manager.stop();
    } finally {
      await fleet.stop();
    }
  },
};
