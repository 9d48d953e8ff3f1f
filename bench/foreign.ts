import type { Benchmark } from './measure/figure.ts';
import { mib } from './measure/figure.ts';
import { residentOf } from './measure/machine.ts';
import { startRealFleet } from './real/fleet.ts';
import { allowInspection, managerHeap } from './real/manager-heap.ts';
import { native } from './real/workload.ts';

const PODS = 2_000;
/** Cached as projections they would take about 1.5 MiB, as whole objects about 15. */
const GOAL_BYTES = 0.75 * 1024 * 1024;

/** Pods of DaemonSets that did not opt in, in the same namespace: what they cost the manager's process. */
export const foreign: Benchmark = {
  name: 'foreign',
  async run({ quick }) {
    const nodes = quick ? 100 : 200;
    const fleet = await startRealFleet(nodes, native);
    try {
      await fleet.apply('app', { version: 1, maxUnavailable: '10', meanStartMs: 100 });
      await fleet.whenRolledOut('app', 300_000);
      allowInspection();
      const manager = await fleet.startManager();
      const residentBefore = residentOf(manager.pid);
      const add = async (names: readonly string[]): Promise<void> => {
        for (const name of names) await fleet.apply(name, { version: 1, maxUnavailable: undefined, meanStartMs: 100 });
        for (const name of names) await fleet.whenRolledOut(name, 300_000);
      };
      // The first measurement loads the inspector, the first foreign DaemonSet the code that skips it.
      await managerHeap(manager);
      await add(['first']);
      const before = await managerHeap(manager);
      await add(Array.from({ length: PODS / nodes }, (_, index) => `foreign-${index}`));
      const grown = (await managerHeap(manager)) - before;
      const resident = residentOf(manager.pid);
      await manager.stop();
      return [
        {
          name: 'foreign',
          measured:
            `${PODS} foreign pods and their changes raise the manager's live heap of ${mib(before)} by ${mib(grown)} ` +
            `(resident ${mib(residentBefore)} before, ${mib(resident)} after)`,
          goal: `<= ${mib(GOAL_BYTES)}`,
          met: grown <= GOAL_BYTES,
        },
      ];
    } finally {
      await fleet.stop();
    }
  },
};
