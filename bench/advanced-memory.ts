import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../test/cluster/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { mib, percent } from './measure/figure.ts';
import { peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { startRealFleet } from './real/fleet.ts';
import { bringTo } from './real/roll-out.ts';
import { advanced } from './real/workload.ts';

const MIB = 1024 * 1024;
const GOAL_MIB = 110;
/** What a collection more or less makes of a process at rest. */
const NOISE_MIB = 5;
/** One of this many foreign pods has the labels that the DaemonSet selects: the watch brings it, and it is passed over. */
const SELECTED_ONE_IN = 20;
const AT_ONCE = 32;
const REST_MS = 5_000;

const foreignPod = (index: number, owner: object): object => ({
  metadata: {
    name: `foreign-${index}`,
    labels: { app: index % SELECTED_ONE_IN === 0 ? 'app' : 'foreign' },
    ownerReferences: [owner],
  },
  spec: {
    // Never scheduled: the machine only has to store it.
    schedulerName: 'none',
    containers: [
      {
        name: 'foreign',
        image: 'foreign:v1',
        env: Array.from({ length: 20 }, (_, at) => ({ name: `SETTING_${at}`, value: `value ${at} of pod ${index}` })),
      },
    ],
  },
});

/** Pods of another owner, which exists: otherwise the garbage collector would delete them. */
const addForeignPods = async (api: Api, namespace: string, count: number): Promise<void> => {
  const map = await api.post<{ metadata: { uid: string } }>(`/api/v1/namespaces/${namespace}/configmaps`, {
    metadata: { name: 'owner' },
  });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: map.metadata.uid, controller: true };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await api.post(`/api/v1/namespaces/${namespace}/pods`, foreignPod(next++, owner));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
};

/** Resident memory of the manager with an Advanced DaemonSet, and then with many pods of other owners. */
export const advancedMemory: Benchmark = {
  name: 'advanced-memory',
  async run({ quick }) {
    const fleet = await startRealFleet(quick ? 100 : 1000, advanced);
    const { cluster, namespace, nodes } = fleet;
    const foreign = quick ? 2_000 : 20_000;
    try {
      const first = await fleet.startManager();
      const machine = watchMachine();
      await bringTo(fleet, { mode: 'recreate', budget: '100%', meanStartMs: 300, version: 1 });
      await bringTo(fleet, { mode: 'recreate', budget: nodes / 10, meanStartMs: 2_000, version: 2 });
      await pause(REST_MS);
      const resident = residentOf(first.pid);
      const peak = peakResidentOf(first.pid);
      const alone: Figure = {
        name: `advanced-memory N=${nodes}`,
        measured: `${mib(resident)} resident after a rollout to ${percent(0.1)} of the nodes at a time, ${mib(peak)} at the most; ${machine()}`,
        goal: `<= ${GOAL_MIB} MiB at 1,000 nodes; OpenKruise 158 MB`,
        met: resident <= GOAL_MIB * MIB,
      };
      await addForeignPods(cluster.plane.api, namespace, foreign);
      await pause(REST_MS);
      const withForeign = residentOf(first.pid);
      await first.stop();
      const second = await fleet.startManager();
      await pause(REST_MS);
      const fresh = residentOf(second.pid);
      const freshPeak = peakResidentOf(second.pid);
      await second.stop();
      return [
        alone,
        {
          name: 'advanced-foreign',
          measured:
            `${foreign} pods of other owners in the namespace, one of ${SELECTED_ONE_IN} with labels that the DaemonSet selects: ${mib(withForeign)} ` +
            `after ${mib(resident)} before; a manager started with them ${mib(fresh)}, ${mib(freshPeak)} at most`,
          goal: `no growth (<= ${NOISE_MIB} MiB); OpenKruise 158 to 414 MB`,
          met: withForeign - resident <= NOISE_MIB * MIB && fresh <= resident + NOISE_MIB * MIB,
        },
      ];
    } finally {
      await fleet.stop();
    }
  },
};
