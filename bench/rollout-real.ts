import type { Manager } from '../test/conformance/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { mib, seconds } from './measure/figure.ts';
import { cpuMsOf, peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { slotUse } from './measure/slots.ts';
import { callsOf, downTimes } from './real/account.ts';
import { SIGMA } from './real/down-times.ts';
import { type RealFleet, startRealFleet } from './real/fleet.ts';
import { rolloutGoal } from './rollout-virtual.ts';

/** Measured with OpenYurt's manager under the same conditions, see docs/benchmarks.md. */
const peerOf = (k: number): string => (k <= 10 ? '1.30, 73 overruns' : '1.58');
const PEER_CPU_MS = 10.9;
const PEER_RESIDENT = 119 * 1024 * 1024;
const APP = 'app';

interface Step {
  k: number;
  meanStartMs: number;
  version: number;
}

const rollOut = async (fleet: RealFleet, manager: Manager, step: Step): Promise<Figure[]> => {
  const { cluster, namespace, nodes } = fleet;
  const { k, meanStartMs, version } = step;
  const machine = watchMachine();
  const cpuBefore = cpuMsOf(manager.pid);
  const startedAt = Date.now();
  await fleet.apply(APP, { version, maxUnavailable: String(k), meanStartMs });
  await fleet.whenRolledOut(APP, 1_800_000);
  const busy = machine();
  const cpu = (cpuMsOf(manager.pid) - cpuBefore) / nodes;
  const records = await cluster.audit.read();
  const downs = downTimes(records, { namespace, app: APP, user: manager.user, since: startedAt });
  const calls = callsOf(records, manager.user, startedAt);
  const ours = downs.filter((down) => down.ours);
  const tookMs = Math.max(...ours.map(({ to }) => to)) - startedAt;
  const { ratio, perfect, meanDownMs, mostDown, overruns, strays } = slotUse(downs, k, tookMs);
  const each = (count: number): string => (count / nodes).toFixed(2);
  return [
    {
      name: `rollout-real k=${k}`,
      measured:
        `${ratio.toFixed(3)} of the bound (no scheduler does better than ${perfect.toFixed(3)} here), N=${nodes} in ${seconds(tookMs)}, ` +
        `at most ${mostDown} down, ${overruns} overruns, ${strays} fell away by themselves; down ${seconds(meanDownMs)} lognormal ${SIGMA}; ${busy}`,
      goal: `<= ${rolloutGoal(k)}, 0 overruns; OpenYurt ${peerOf(k)}`,
      met: ratio <= rolloutGoal(k) && overruns === 0,
    },
    {
      name: `cost-real k=${k}`,
      measured:
        `${each(calls.deletes)} pod writes a pod (and ${each(calls.rollouts)} rollout objects, ${each(calls.events)} Events, ` +
        `${each(calls.otherWrites)} others), ${each(calls.reads)} reads, ${cpu.toFixed(1)} ms CPU; ${busy}`,
      goal: `1 pod write, <= ${PEER_CPU_MS} ms; OpenYurt 1.03 writes, 3.6-10.9 ms`,
      met: calls.deletes === nodes && cpu <= PEER_CPU_MS,
    },
  ];
};

/** The manager's process on a real control plane, judged by the API server's audit log. */
export const rolloutReal: Benchmark = {
  name: 'rollout-real',
  async run({ quick }) {
    const fleet = await startRealFleet(quick ? 300 : 1000);
    try {
      await fleet.apply(APP, { version: 1, maxUnavailable: '10', meanStartMs: 300 });
      await fleet.whenRolledOut(APP, 600_000);
      const manager = await fleet.startManager();
      // Down times are as long as four minutes a rollout allow: the shorter, the more the time to decide and act shows.
      const many = await rollOut(fleet, manager, { k: quick ? 30 : 100, meanStartMs: 4_500, version: 2 });
      const few = await rollOut(fleet, manager, { k: 10, meanStartMs: 1_700, version: 3 });
      const resident = residentOf(manager.pid);
      const memory: Figure = {
        name: `memory-real N=${fleet.nodes}`,
        measured: `${mib(resident)} resident after two rollouts, ${mib(peakResidentOf(manager.pid))} at the most`,
        goal: '< 119 MiB at 1,000 nodes (OpenYurt)',
        met: resident < PEER_RESIDENT,
      };
      await manager.stop();
      return [...few, ...many, memory];
    } finally {
      await fleet.stop();
    }
  },
};
