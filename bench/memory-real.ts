import type { Benchmark } from './measure/figure.ts';
import { mib, seconds } from './measure/figure.ts';
import { peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { startRealFleet } from './real/fleet.ts';
import { native } from './real/native.ts';

/** OpenYurt's manager at 3,000 nodes, see docs/explanation/benchmarks.md. */
const PEER_RESIDENT = 196 * 1024 * 1024;

/** Resident memory of the manager's process on a large fleet, after one rollout of it. */
export const memoryReal: Benchmark = {
  name: 'memory-real',
  async run({ quick }) {
    const fleet = await startRealFleet(quick ? 500 : 3_000, native);
    try {
      await fleet.apply('app', { version: 1, maxUnavailable: '150', meanStartMs: 300 });
      await fleet.whenRolledOut('app', 900_000);
      const manager = await fleet.startManager();
      const machine = watchMachine();
      const startedAt = performance.now();
      await fleet.apply('app', { version: 2, maxUnavailable: '150', meanStartMs: 4_000 });
      await fleet.whenRolledOut('app', 900_000);
      const tookMs = performance.now() - startedAt;
      const busy = machine();
      const resident = residentOf(manager.pid);
      const peak = peakResidentOf(manager.pid);
      await manager.stop();
      return [
        {
          name: `memory-real N=${fleet.nodes}`,
          measured: `${mib(resident)} resident after a rollout with k=150 in ${seconds(tookMs)}, ${mib(peak)} at the most; ${busy}`,
          goal: '< 196 MiB at 3,000 nodes (OpenYurt)',
          met: resident < PEER_RESIDENT,
        },
      ];
    } finally {
      await fleet.stop();
    }
  },
};
