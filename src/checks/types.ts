import type { PlanCheck } from '../words/index.ts';

/** What a check is about. */
export interface CheckSubject {
  /** Of the DaemonSet. */
  namespace: string;
  daemonSet: string;
  /** Values of the label controller-revision-hash; the previous one is empty if there is none. */
  revision: string;
  previousRevision: string;
  stage: string;
  /** The plan's namespace, or the manager's for a ClusterRolloutPlan. */
  secretNamespace: string;
  /** The author of a ClusterRolloutPlan chooses which Prometheus the manager asks. */
  clusterPlan: boolean;
  /** Of the AnalysisRuns of this check. */
  owner: { apiVersion: string; kind: string; name: string; uid: string };
}

/**
 * - Pending: not evaluated yet.
 * - NoResult: could not be evaluated; holds the stage, and is not counted as a failure.
 * - Passing: the last evaluation was as the condition demands.
 * - Failing: it was not, but the limit lets it be.
 * - Failed: more failures than the limit lets be. This is final.
 */
export interface CheckResult {
  state: 'Pending' | 'NoResult' | 'Passing' | 'Failing' | 'Failed';
  /** Evaluations that failed, those of earlier leaders included. */
  failures: number;
  /** When it was last evaluated, epoch ms; 0 for never. */
  at: number;
  /** What was asked and answered, or why there is no result; at most `MAX_MESSAGE` characters. */
  message: string;
}

export interface CheckRunner {
  /**
   * Runs one check until the signal aborts; never rejects. `from`: when the soak began. `failures`: this many an earlier leader
   * has counted. Calls `changed` for every result.
   */
  run(
    check: PlanCheck,
    subject: CheckSubject,
    from: number,
    failures: number,
    changed: (result: CheckResult) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

/** What is wrong, after the name of the field, and how to put it right. */
export interface Problem {
  problem: string;
  remedy: string;
}

export const sayProblem = ({ problem, remedy }: Problem): string => `${problem}: ${remedy}`;

export type Evaluation = { kind: 'holds' | 'fails' | 'none'; message: string };
