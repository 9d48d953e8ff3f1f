import type { AuditRecord } from '../test/conformance/index.ts';
import type { Benchmark } from './measure/figure.ts';
import { mib, seconds } from './measure/figure.ts';
import { cpuMsOf, peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { callsOf, podWrites } from './real/audit-log.ts';
import { startRealFleet } from './real/fleet.ts';
import { bringTo } from './real/roll-out.ts';
import { advanced } from './real/workload.ts';

const BURST = 250;
/** Before the first creation, pods that an earlier leader created; at the start, pods that were relabeled meanwhile. */
const LISTS = 2;
const CPU_MS = 4;

/** How many of the calls were under way at the same time, at the most. */
const mostAtOnce = (calls: readonly AuditRecord[]): number => {
  const changes = calls
    .flatMap(({ receivedAt, answeredAt }) => [
      { at: receivedAt, by: 1 },
      { at: answeredAt, by: -1 },
    ])
    .toSorted((a, b) => a.at - b.at || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
};

/** The pods of a new Advanced DaemonSet on many nodes. */
export const advancedCreate: Benchmark = {
  name: 'advanced-create',
  async run({ quick }) {
    const fleet = await startRealFleet(quick ? 500 : 5_000, advanced);
    const { cluster, nodes } = fleet;
    try {
      const manager = await fleet.startManager();
      const before = residentOf(manager.pid);
      const cpuBefore = cpuMsOf(manager.pid);
      const machine = watchMachine();
      const startedAt = Date.now();
      await bringTo(fleet, { mode: 'recreate', budget: 1, meanStartMs: 300, version: 1 });
      const upMs = Date.now() - startedAt;
      const busy = machine();
      const cpuMs = (cpuMsOf(manager.pid) - cpuBefore) / nodes;
      const peak = peakResidentOf(manager.pid);
      const records = await cluster.audit.read();
      const calls = callsOf(records, manager.user, startedAt);
      const creates = records.filter(
        ({ user, verb, resource }) => user === manager.user && verb === 'create' && resource === 'pods',
      );
      const createdMs = Math.max(...creates.map(({ answeredAt }) => answeredAt)) - startedAt;
      const most = mostAtOnce(creates);
      await manager.stop();
      const others = calls.rollouts + calls.statuses + calls.events + calls.otherWrites;
      return [
        {
          name: 'advanced-create',
          measured:
            `${nodes} pods created in ${seconds(createdMs)}, all available after ${seconds(upMs)}; ${(podWrites(calls) / nodes).toFixed(2)} pod writes ` +
            `a pod (and ${others} other writes in all), ${calls.podReads} reads of a pod, ${calls.podLists} lists of pods, at most ${most} creations under way; ${cpuMs.toFixed(1)} ms CPU a pod; ` +
            `${mib(peak)} resident at the most, ${mib(before)} before; ${busy}`,
          goal: `1 pod write, no reads of a pod, <= ${LISTS} lists, <= ${BURST} under way (burstReplicas), <= ${CPU_MS} ms`,
          met:
            podWrites(calls) === nodes &&
            calls.podReads === 0 &&
            calls.podLists <= LISTS &&
            most <= BURST &&
            cpuMs <= CPU_MS,
        },
      ];
    } finally {
      await fleet.stop();
    }
  },
};
