import type { CheckResult, CheckRunner } from '../../checks/index.ts';
import { checksFrom, type Ledger } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { PlanCheck } from '../../words/index.ts';
import type { DaemonSetRef, DaemonSetView } from '../kind.ts';

export interface StageChecksOptions {
  runner: CheckRunner;
  /** Where the Secrets of cluster plans are. */
  ownNamespace: string;
  daemonSet: DaemonSetRef;
  ledger: Ledger;
  view: () => DaemonSetView;
  clock: Clock;
  /** A result has changed the ledger. */
  changed: () => void;
}

interface Running {
  abort: AbortController;
  /** It has reported a result. */
  reported: boolean;
}

/** Runs the checks of the open stage while it soaks, and notes in the ledger what they say. */
export const createStageChecks = (options: StageChecksOptions) => {
  const { runner, ownNamespace, daemonSet, ledger, view, clock, changed } = options;
  const running = new Map<string, Running>();

  const start = (key: string, stage: string, check: PlanCheck, from: number): void => {
    const { state, policy } = ledger;
    const entry: Running = { abort: new AbortController(), reported: false };
    const { signal } = entry.abort;
    const note = (result: CheckResult): void => {
      if (signal.aborted) return;
      entry.reported = true;
      const known = ledger.state.stages.find(({ name }) => name === stage)?.checks ?? {};
      ledger.patchStage(stage, { checks: { ...known, [check.name]: result } }, clock.now());
      changed();
    };
    const { namespace, name } = view();
    const { apiVersion, kind, uid } = daemonSet;
    const cluster = policy.rolloutPlan?.cluster ?? false;
    const subject = {
      namespace,
      daemonSet: name,
      revision: state.target?.hash ?? '',
      previousRevision: state.lastComplete?.hash ?? '',
      stage,
      secretNamespace: cluster ? ownNamespace : namespace,
      clusterPlan: cluster,
      owner: { apiVersion, kind, name, uid },
    };
    const failures = state.stages.find((each) => each.name === stage)?.checks[check.name]?.failures ?? 0;
    running.set(key, entry);
    void runner.run(check, subject, from, failures, note, signal);
  };

  const stop = (key: string): void => {
    running.get(key)?.abort.abort();
    running.delete(key);
  };

  return {
    /** Starts what is due and ends what is not, after each decision. */
    follow(): void {
      const { current } = ledger.stages;
      const stageState = current?.state;
      const from = current && stageState && checksFrom(current.stage, stageState, ledger.planTime(clock.now()));
      const wanted = new Set<string>();
      if (current && stageState && from !== undefined && !ledger.state.halted)
        for (const check of current.stage.checks) {
          // A plan of the namespace and one of the cluster with the same checks have their Secrets in different places.
          const { rolloutPlan } = ledger.policy;
          const key = JSON.stringify([ledger.state.rollout, rolloutPlan, current.stage.name, from, check]);
          wanted.add(key);
          // Somebody resumed the rollout: the check begins again.
          if (running.get(key)?.reported && !stageState.checks[check.name]) stop(key);
          if (!running.has(key)) start(key, current.stage.name, check, from);
        }
      for (const key of running.keys()) if (!wanted.has(key)) stop(key);
    },
    stop(): void {
      for (const key of running.keys()) stop(key);
    },
  };
};
