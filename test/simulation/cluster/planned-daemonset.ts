import type { ApiServer, EmbeddedCluster } from '../../../embedded/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { Checker } from '../../judge/checker.ts';
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
  garbageCollector: Pick<EmbeddedCluster['controllers']['garbageCollector'], 'pace'>;
}

/** How often to check whether a deleted DaemonSet is gone, ms. */
const POLL_MS = 500;

/** How long a native DaemonSet has the pods, ms: enough to adopt them. */
const NATIVE_MS = 3_000;

type HandOver = Extract<UserOperation, { do: 'hand-over' }>;

/** One DaemonSet of a plan: executes what its user does to it. */
export const createPlannedDaemonSet = (options: PlannedDaemonSetOptions) => {
  const { apiServer, time, workload, checker, planner, garbageCollector } = options;
  const { twin } = workload;
  const drainController = workload.set.hook && createDrainController(apiServer, time, workload);
  /** It is to be created again. */
  let isAway = false;

  /** Polls until the condition holds. */
  const when = (condition: () => boolean, work: () => void): void =>
    void time.timer(POLL_MS, () => (condition() ? work() : when(condition, work)));
  const recreate = (): void => {
    isAway = true;
    when(
      () => !workload.exists(),
      () => {
        isAway = false;
        workload.create();
      },
    );
  };
  const handOver = ({ first, paceMs }: HandOver, onEffect: () => void): void => {
    const create = (): void => {
      isAway = false;
      workload.create();
    };
    const deleteNative = (): void => {
      garbageCollector.pace(paceMs);
      twin.orphan();
      onEffect();
      when(
        () => !twin.exists(),
        () => garbageCollector.pace(0),
      );
    };
    const takeBack = (): void => {
      if (first === 'apply') create();
      time.timer(POLL_MS, () => {
        deleteNative();
        if (first === 'delete') time.timer(POLL_MS, create);
      });
    };
    when(
      () => workload.exists() && !isAway && !twin.exists(),
      () => {
        isAway = true;
        workload.orphan();
        when(
          () => !workload.exists(),
          () => {
            twin.create();
            time.timer(NATIVE_MS, takeBack);
          },
        );
      },
    );
  };

  return {
    workload,
    checker,
    planner,
    handOver,
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
      garbageCollector.pace(0);
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
          if (isAway) return;
          workload.delete();
          return recreate();
        case 'hand-over':
          return handOver(operation, () => undefined);
      }
    },
  };
};
export type PlannedDaemonSet = ReturnType<typeof createPlannedDaemonSet>;
