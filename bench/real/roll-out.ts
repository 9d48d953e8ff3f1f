import type { Manager } from '../../test/conformance/index.ts';
import { type IdleSlots, idleSlots } from '../measure/idle.ts';
import { cpuMsOf, watchMachine } from '../measure/machine.ts';
import { type SlotUse, slotUse } from '../measure/slots.ts';
import { type Calls, callsOf, rolloutWrites, type SlotQuery, slotTimes } from './audit-log.ts';
import type { RealFleet } from './fleet.ts';
import type { Release } from './workload.ts';

const APP = 'app';
const TIMEOUT_MS = 1_800_000;

export interface Step<R extends Release> {
  release: R;
  /** Nodes that may have a slot at a time. */
  k: number;
  slot: SlotQuery['slot'];
  /** Nodes that may try the release before it has proved itself. Default: the failure threshold; Infinity: it need not. */
  firstWave?: number | undefined;
}

export interface RolledOut extends SlotUse {
  tookMs: number;
  idle: IdleSlots;
  calls: Calls;
  /** Of the manager, a node. */
  cpuMs: number;
  /** Nodes that had no available pod for a while. */
  down: number;
  /** How busy the machine was. */
  busy: string;
}

/** Rolls out a release without measuring it. */
export const bringTo = async <R extends Release>(fleet: RealFleet<R>, release: R): Promise<void> => {
  await fleet.apply(APP, release);
  await fleet.whenRolledOut(APP, TIMEOUT_MS);
};

/** Rolls out a release and measures it with the API server's audit log and /proc. */
export const rollOut = async <R extends Release>(
  fleet: RealFleet<R>,
  manager: Manager,
  { release, k, slot, firstWave }: Step<R>,
): Promise<RolledOut> => {
  const { cluster, namespace, nodes } = fleet;
  const machine = watchMachine();
  const cpuBefore = cpuMsOf(manager.pid);
  const startedAt = Date.now();
  await bringTo(fleet, release);
  const busy = machine();
  const cpuMs = (cpuMsOf(manager.pid) - cpuBefore) / nodes;
  const records = await cluster.audit.read();
  const question = { namespace, app: APP, user: manager.user, since: startedAt };
  const all = slotTimes(records, { ...question, slot });
  const downs = slot === 'down' ? all : slotTimes(records, { ...question, slot: 'down' });
  const tookMs = Math.max(...all.filter(({ ours }) => ours).map(({ to }) => to)) - startedAt;
  return {
    ...slotUse(all, k, tookMs, firstWave),
    tookMs,
    idle: idleSlots(all, rolloutWrites(records, question), { k, startedAt }),
    calls: callsOf(records, manager.user, startedAt),
    cpuMs,
    down: downs.length,
    busy,
  };
};
