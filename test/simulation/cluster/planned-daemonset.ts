import type { Clock } from '../../../src/runtime/index.ts';
import type { ApiServer } from '../../../src/sim/index.ts';
import type { Checker } from '../checker/checker.ts';
import type { UserOperation } from '../plan/plan.ts';
import { createDrainController } from './drain-controller.ts';
import type { Planner } from './planner.ts';
import type { Workload } from './workload.ts';

export interface PlannedDaemonSetOptions {
  apiServer: ApiServer;
  time: Clock;
  workload: Workload;
  checker: Checker;
  /** Undefined: it names no rollout plan. */
  planner: Planner | undefined;
}

/** How often to check whether a deleted DaemonSet is gone, ms. */
const POLL_MS = 500;

/** One DaemonSet of a plan: executes what its user does to it. */
export const createPlannedDaemonSet = ({ apiServer, time, workload, checker, planner }: PlannedDaemonSetOptions) => {
  const drainController = workload.set.hook && createDrainController(apiServer, time, workload);
  const recreate = (): void =>
    void time.timer(POLL_MS, () => {
      if (workload.exists()) recreate();
      else workload.create();
    });

  return {
    workload,
    checker,
    planner,
    /** Resets the user's controls, so that the rollout reaches every node. */
    recover(): void {
      const { set } = workload;
      workload.pause(false);
      workload.setPartition(0);
      workload.select(undefined);
      workload.setManual(false);
      workload.setLimit(set.limit);
      planner?.recover();
      if (set.model === 'ota') workload.setDeadline(undefined);
      drainController?.setDrainTime(set.hook?.drainMs);
    },
    execute(operation: UserOperation): void {
      switch (operation.do) {
        case 'release':
          return workload.release(operation.image);
        case 'budget':
          return workload.setLimit(operation.limit);
        case 'strategy':
          return workload.setStrategy(operation.strategy);
        case 'pause':
          return workload.pause(operation.paused);
        case 'partition':
          return workload.setPartition(operation.nodes);
        case 'select':
          return workload.select(operation.wave);
        case 'manual':
          return workload.setManual(operation.manual);
        case 'predownload':
          return workload.setPredownload(operation.mode);
        case 'hook':
          return workload.setHook(operation.on);
        case 'drainer':
          return drainController?.setDrainTime(operation.ms);
        case 'plan':
          return planner?.edit(operation.spec);
        case 'decide':
          return planner?.decide(operation);
        case 'resume':
          return checker.actual.target === undefined ? undefined : workload.resume(checker.actual.target);
        case 'recreate-set':
          workload.delete();
          return recreate();
      }
    },
  };
};
export type PlannedDaemonSet = ReturnType<typeof createPlannedDaemonSet>;
