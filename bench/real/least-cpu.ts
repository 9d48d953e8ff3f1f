import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { MANAGER_FLAGS } from '../../bin/flags.ts';
import type { Manager } from '../../test/conformance/index.ts';
import { eventually } from '../../test/support/index.ts';
import { cpuMsOf, watchMachine } from '../measure/machine.ts';
import type { RealFleet } from './fleet.ts';
import type { Release } from './workload.ts';

const APP = 'app';
const TIMEOUT_MS = 600_000;
const INITIAL_EVENTS_MS = 3_000;

export interface LeastCpu {
  /** CPU of a Node that reads the manager's watches and sends one request a pod, ms a pod. */
  bareMs: number;
  /** CPU of the manager beside it, ms a pod. */
  managerMs: number;
  pods: number;
  /** How busy the machine was. */
  busy: string;
}

/** Rolls out a release to this many nodes, with a bare client beside the manager. */
export const leastCpu = async <R extends Release>(
  { cluster, namespace, apply, read }: RealFleet<R>,
  manager: Manager,
  { release, nodes }: { release: R; nodes: number },
): Promise<LeastCpu> => {
  const program = join(import.meta.dirname, 'bare-client.ts');
  const args = [...MANAGER_FLAGS, program, cluster.kubeconfig, namespace, `app=${APP}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const ended = exit.then(([code]) => {
    throw new Error(`the bare client ended with ${code}`);
  });
  ended.catch(() => undefined);
  try {
    await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
    // Each watch begins with what there is.
    await pause(INITIAL_EVENTS_MS);
    const { pid = 0 } = child;
    const machine = watchMachine();
    const before = { bare: cpuMsOf(pid), manager: cpuMsOf(manager.pid) };
    const { generation: last } = await read(APP);
    await apply(APP, release);
    let pods = 0;
    const updated = async (): Promise<boolean> => {
      const { status } = await read(APP);
      pods = status.observedGeneration === last + 1 ? (status.updatedNumberScheduled ?? 0) : 0;
      return pods >= nodes;
    };
    await Promise.race([
      eventually(`${nodes} nodes are updated`, updated, { withinMs: TIMEOUT_MS, everyMs: 250 }),
      ended,
    ]);
    return {
      bareMs: (cpuMsOf(pid) - before.bare) / pods,
      managerMs: (cpuMsOf(manager.pid) - before.manager) / pods,
      pods,
      busy: machine(),
    };
  } finally {
    child.kill();
    await exit;
  }
};
