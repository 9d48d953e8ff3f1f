import type { Clock } from '../../../src/runtime/index.ts';
import type { ApiServer } from '../../../src/sim/index.ts';
import type { Checker } from '../checker/checker.ts';
import type { UserOperation } from '../plan/plan.ts';
import { createDrainController } from './drain-controller.ts';
import type { Workload } from './workload.ts';

export interface PlannedDaemonSetOptions {
  apiServer: ApiServer;
  time: Clock;
  workload: Workload;
  daemonSet: { group: string; name: string };
  checker: Checker;
}

/** Until what is to be made again is looked for again, ms. */
const LOOK_MS = 500;

/** One DaemonSet of a plan with its user. */
export const createPlannedDaemonSet = ({ apiServer, time, workload, daemonSet, checker }: PlannedDaemonSetOptions) => {
  const drainer = workload.set.hook && createDrainController(apiServer, time, workload);
  const remake = (): void =>
    void time.timer(LOOK_MS, () => {
      if (workload.exists()) remake();
      else workload.create();
    });

  return {
    workload,
    daemonSet,
    checker,
    /** Its user's controls are as at first, and nothing is left out of the rollout. */
    recover(): void {
      const { set } = workload;
      workload.pause(false);
      workload.setPartition(0);
      workload.select(undefined);
      workload.setManual(false);
      workload.setLimit(set.limit);
      if (set.model === 'ota') workload.setDeadline(undefined);
      drainer?.become(set.hook?.drainMs);
    },
    carryOut(operation: UserOperation): void {
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
          return drainer?.become(operation.ms);
        case 'resume':
          return checker.actual.target === undefined ? undefined : workload.resume(checker.actual.target);
        case 'recreate-set':
          workload.delete();
          return remake();
      }
    },
  };
};
export type PlannedDaemonSet = ReturnType<typeof createPlannedDaemonSet>;
