import type { Clock } from '../../src/runtime/index.ts';
import type { ApiServer } from '../../src/sim/index.ts';
import type { Checker } from './checker/checker.ts';
import { createDrainer } from './drainer.ts';
import type { SetDeed } from './plan.ts';
import type { Workload } from './workload.ts';

export interface TenantOptions {
  apiServer: ApiServer;
  time: Clock;
  workload: Workload;
  daemonSet: { group: string; name: string };
  checker: Checker;
}

/** Until what is to be made again is looked for again, ms. */
const LOOK_MS = 500;

/** One DaemonSet of a plan with its user. */
export const createTenant = ({ apiServer, time, workload, daemonSet, checker }: TenantOptions) => {
  const drainer = workload.set.hook && createDrainer(apiServer, time, workload);
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
    mend(): void {
      const { set } = workload;
      workload.pause(false);
      workload.setPartition(0);
      workload.select(undefined);
      workload.setManual(false);
      workload.setLimit(set.limit);
      if (set.model === 'ota') workload.setDeadline(undefined);
      drainer?.become(set.hook?.drainMs);
    },
    carryOut(deed: SetDeed): void {
      switch (deed.do) {
        case 'release':
          return workload.release(deed.image);
        case 'budget':
          return workload.setLimit(deed.limit);
        case 'strategy':
          return workload.setStrategy(deed.strategy);
        case 'pause':
          return workload.pause(deed.paused);
        case 'partition':
          return workload.setPartition(deed.nodes);
        case 'select':
          return workload.select(deed.wave);
        case 'manual':
          return workload.setManual(deed.manual);
        case 'predownload':
          return workload.setPredownload(deed.mode);
        case 'hook':
          return workload.setHook(deed.on);
        case 'drainer':
          return drainer?.become(deed.ms);
        case 'resume':
          return checker.truth.target === undefined ? undefined : workload.resume(checker.truth.target);
        case 'recreate-set':
          workload.delete();
          return remake();
      }
    },
  };
};
export type Tenant = ReturnType<typeof createTenant>;
