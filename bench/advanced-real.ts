import type { Manager } from '../test/conformance/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { mib, seconds } from './measure/figure.ts';
import { formatIdle } from './measure/idle.ts';
import { peakResidentOf, residentOf } from './measure/machine.ts';
import { podWrites } from './real/audit-log.ts';
import { SIGMA } from './real/down-times.ts';
import { giveFewSeats } from './real/few-seats.ts';
import { type RealFleet, startRealFleet } from './real/fleet.ts';
import { bringTo, type RolledOut, rollOut } from './real/roll-out.ts';
import { type AdvancedRelease, advanced, type Mode } from './real/workload.ts';

/** The goals, and what OpenKruise's manager was measured at under the same conditions: see docs/explanation/benchmarks.md. */
const ratioGoal = (k: number): number => (k <= 10 ? 1.03 : 1.12);
const IN_PLACE = { nodes: 100, k: 10, meanStartMs: 1_700, goal: 1.13, peer: '1.145 on one such machine' } as const;
const peerRatio = (k: number): string => (k <= 10 ? '1.14' : '2.4-2.8');
const writes: Readonly<Record<Mode, { most: number; peer: string }>> = {
  recreate: { most: 2, peer: '3.3-6.2' },
  'in place': { most: 3, peer: '4.9' },
  // Before the new pod is made the old one is claimed: Kubernetes binds a creation to nothing.
  surge: { most: 3, peer: '3.3-6.2' },
};
/** The write that takes a slot, and the manager's others within an update. */
const phases: Readonly<Record<Mode, { take: string; within: string }>> = {
  recreate: { take: 'delete', within: 'its create' },
  'in place': { take: 'patch of the gate', within: 'the patches of its pod and gate' },
  surge: { take: 'claim and create', within: 'the delete of its old pod' },
};
const CPU_MS = 4;
/** Of the pods this many may have to be looked at again, because the kubelet wrote to them while we did. */
const CONFLICTS = 0.02;
const RESIDENT_MIB = 110;

interface Step {
  mode: Mode;
  k: number;
  version: number;
  meanStartMs: number;
  /** Default: the failure threshold. */
  firstWave?: string;
}

const timeOf = ({ mode, k }: Step, nodes: number, rolledOut: RolledOut): Figure => {
  const { ratio, perfect, firstWaveMs, tookMs, most, overruns, unplanned, down, meanMs, busy } = rolledOut;
  const isSurge = mode === 'surge';
  const held = isSurge
    ? `at most ${most} nodes with two pods, ${down} without an available one`
    : `at most ${most} nodes down`;
  return {
    name: `advanced ${mode} k=${k}`,
    measured:
      `${ratio.toFixed(3)} of N/k times what a pod took and ${seconds(firstWaveMs)} for the first wave (no scheduler does better than ${perfect.toFixed(3)} here), ` +
      `N=${nodes} in ${seconds(tookMs)}, ${held}, ${overruns} overruns, ${unplanned} fell away by themselves; ` +
      `a pod took ${seconds(meanMs)} lognormal ${SIGMA}; ${busy}`,
    goal: `<= ${ratioGoal(k).toFixed(2)}, 0 overruns; OpenKruise ${peerRatio(k)}`,
    met: ratio <= ratioGoal(k) && overruns === 0 && (!isSurge || down === 0),
  };
};

const idleOf = ({ mode, k }: Step, { idle, busy }: RolledOut): Figure => ({
  name: `advanced idle k=${k}`,
  measured: `${mode}: ${formatIdle(idle, { k, ...phases[mode] })}; ${busy}`,
  goal: '-',
  met: undefined,
});

const costOf = ({ mode, k }: Step, nodes: number, { calls, cpuMs, busy }: RolledOut): Figure[] => {
  const each = (count: number): string => (count / nodes).toFixed(2);
  const { most, peer } = writes[mode];
  return [
    {
      name: `advanced writes k=${k}`,
      measured:
        `${mode}: ${each(podWrites(calls))} pod writes a pod (and ${each(calls.rollouts)} rollout objects, ` +
        `${each(calls.statuses)} status, ${each(calls.events)} Events, ${each(calls.otherWrites)} others), ` +
        `${each(calls.podReads)} reads of pods (${calls.reads} of anything by the whole rollout)`,
      goal: `${most} pod writes, no reads of pods; OpenKruise ${peer} writes, 2.0-2.6 reads`,
      met: podWrites(calls) <= (most + CONFLICTS) * nodes && calls.podReads <= CONFLICTS * nodes,
    },
    {
      name: `advanced CPU k=${k}`,
      measured: `${mode}: ${cpuMs.toFixed(1)} ms CPU a pod; ${busy}`,
      goal: `<= ${CPU_MS} ms; OpenKruise 10-60 ms`,
      met: cpuMs <= CPU_MS,
    },
  ];
};

const measure = async (fleet: RealFleet<AdvancedRelease>, manager: Manager, step: Step): Promise<Figure[]> => {
  const { mode, k, version, meanStartMs } = step;
  const release = { mode, budget: k, version, meanStartMs };
  const rolledOut = await rollOut(fleet, manager, { release, k, slot: mode === 'surge' ? 'doubled' : 'down' });
  return [timeOf(step, fleet.nodes, rolledOut), idleOf(step, rolledOut), ...costOf(step, fleet.nodes, rolledOut)];
};

/** The same where the API server is too busy for what the manager asks, and says so. */
const measureRefused = async (
  fleet: RealFleet<AdvancedRelease>,
  manager: Manager,
  { k, mode, ...step }: Step,
): Promise<Figure> => {
  const giveBack = await giveFewSeats(fleet.cluster.plane.api, manager.user);
  const rolledOut = await rollOut(fleet, manager, { release: { ...step, mode, budget: k }, k, slot: 'down' });
  await giveBack();
  const { ratio, tookMs, most, overruns, calls, busy } = rolledOut;
  return {
    name: `advanced 429 k=${k}`,
    measured:
      `${mode}, three requests at a time, all others refused with 429: ${ratio.toFixed(3)} of N/k times what a pod took, in ${seconds(tookMs)}, ` +
      `at most ${most} nodes down, ${overruns} overruns; ${calls.refused} requests refused, ${podWrites(calls)} pod writes; ${busy}`,
    goal: '0 overruns',
    met: overruns === 0,
  };
};

/** In place with the numbers of a comparison to OpenKruise, which has no first wave: without it as well. */
async function* inPlaceOfFew(): AsyncGenerator<Figure> {
  const { nodes, goal, peer, ...paced } = IN_PLACE;
  const fleet = await startRealFleet(nodes, advanced);
  try {
    const manager = await fleet.startManager();
    const prepare = { mode: 'in place', budget: '100%', firstWave: '100%' } as const;
    // Pods that are changed from one mean to another get another delay, so the mean is set first.
    await bringTo(fleet, { ...prepare, meanStartMs: 300, version: 1 });
    await bringTo(fleet, { ...prepare, meanStartMs: paced.meanStartMs, version: 2 });
    const steps: readonly Step[] = [
      { ...paced, mode: 'in place', version: 3 },
      { ...paced, mode: 'in place', version: 4, firstWave: '100%' },
    ];
    for (const { k, firstWave, ...step } of steps) {
      const more = firstWave !== undefined && { firstWave };
      const rolledOut = await rollOut(fleet, manager, {
        release: { ...step, ...more, budget: k },
        k,
        slot: 'down',
        ...(more && { firstWave: Number.POSITIVE_INFINITY }),
      });
      const wave = more ? ', without a first wave' : '';
      const { ratio, overruns } = rolledOut;
      const { name, ...time } = timeOf({ ...step, k }, nodes, rolledOut);
      const bounds = { goal: `<= ${goal}, 0 overruns; OpenKruise ${peer}`, met: ratio <= goal && overruns === 0 };
      yield { ...time, ...bounds, name: `${name} N=${nodes}${wave}` };
      yield idleOf({ ...step, k }, rolledOut);
    }
    await manager.stop();
  } finally {
    await fleet.stop();
  }
}

/** Rollouts of an Advanced DaemonSet by the manager's process on a real control plane, judged by the audit log. */
export const advancedReal: Benchmark = {
  name: 'advanced-real',
  async *run({ quick }) {
    const fleet = await startRealFleet(quick ? 100 : 1000, advanced);
    try {
      const manager = await fleet.startManager();
      const prepare = { budget: '100%', meanStartMs: 300 };
      await bringTo(fleet, { ...prepare, mode: 'recreate', version: 1 });
      const [many, few] = quick ? [10, 5] : [100, 10];
      const slow = { k: many, meanStartMs: 4_500 };
      yield* await measure(fleet, manager, { ...slow, mode: 'recreate', version: 2 });
      yield* await measure(fleet, manager, { mode: 'recreate', k: few, meanStartMs: 1_700, version: 3 });
      yield* await measure(fleet, manager, { ...slow, mode: 'surge', version: 4 });
      // Pods have the gate from their creation on.
      await bringTo(fleet, { ...prepare, mode: 'in place', version: 5 });
      yield* await measure(fleet, manager, { ...slow, mode: 'in place', version: 6 });
      yield await measureRefused(fleet, manager, { ...slow, mode: 'recreate', version: 7 });
      const resident = residentOf(manager.pid);
      yield {
        name: `advanced memory N=${fleet.nodes}`,
        measured: `${mib(resident)} resident after seven rollouts, ${mib(peakResidentOf(manager.pid))} at the most`,
        goal: `<= ${RESIDENT_MIB} MiB at 1,000 nodes; OpenKruise 158 MB`,
        met: resident <= RESIDENT_MIB * 1024 * 1024,
      };
      await manager.stop();
    } finally {
      await fleet.stop();
    }
    yield* inPlaceOfFew();
  },
};
