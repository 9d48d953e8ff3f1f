// The rules of Open Cluster Management, re-stated: its RolloutHandler for `ProgressivePerGroup` without mandatory groups (sdk-go
// v1.2.0, pkg/apis/cluster/v1alpha1/rollout.go), and what its work controller makes of a ManifestWork's conditions (ocm v1.2.0,
// pkg/work/hub). test/cluster/multicluster/rollout-rules.test.ts asks the real ones the same questions.

export type Status = 'ToApply' | 'Progressing' | 'Succeeded' | 'Failed' | 'TimeOut' | 'Skip';

export interface ClusterStatus {
  cluster: string;
  status: Status;
  /** Since when, epoch ms. Default: now. */
  since?: number | undefined;
}

export interface Strategy {
  /** `minSuccessTime`: for how long each cluster must have succeeded before the next group. */
  soakMs: number;
  /** `progressDeadline`; Infinity: none. */
  deadlineMs: number;
  /** Of each group: a number, or a percentage. */
  maxFailures: number | `${number}%`;
}

export interface Decision {
  /** Those with the status ToApply get the work now; the others are what the rollout waits for. */
  rollout: ClusterStatus[];
  timeOut: ClusterStatus[];
  /** Have the work, and are in no group. */
  removed: ClusterStatus[];
  /** More clusters of a group failed than may. */
  breach: boolean;
  /** When time alone changes the decision, ms from now. */
  recheckAfter?: number;
}

const failuresAllowed = (maxFailures: Strategy['maxFailures'], size: number): number => {
  const most = typeof maxFailures === 'number' ? maxFailures : Math.ceil((Number.parseFloat(maxFailures) / 100) * size);
  return most > 0 && most <= size ? most : 0;
};

/**
 * Which clusters get the work now. `groups`: the names of the clusters of each decision group, sorted. `existing`: the clusters
 * whose work is of the present version.
 */
export const decideRollout = (
  { soakMs, deadlineMs, maxFailures }: Strategy,
  groups: readonly (readonly string[])[],
  existing: Iterable<ClusterStatus>,
  now: number,
): Decision => {
  const selected = new Set(groups.flat());
  const decision: Decision = { rollout: [], timeOut: [], removed: [], breach: false };
  const waitFor = (status: ClusterStatus, until: number): void => {
    decision.rollout.push(status);
    const ms = until - now;
    if (ms > 0 && ms < (decision.recheckAfter ?? Number.POSITIVE_INFINITY)) decision.recheckAfter = ms;
  };
  const known = new Map<string, Status>();
  for (const each of existing) {
    const { cluster, status, since = now } = each;
    if (!selected.has(cluster)) decision.removed.push(each);
    // Decided on with its group, as if it had no work: no deadline ends it.
    else if (status !== 'ToApply') {
      known.set(cluster, status);
      if (status === 'Succeeded') {
        if (now < since + soakMs) waitFor(each, since + soakMs);
      } else if (status === 'Progressing' || status === 'Failed') {
        if (now < since + deadlineMs) waitFor(each, since + deadlineMs);
        else {
          known.set(cluster, 'TimeOut');
          decision.timeOut.push({ ...each, status: 'TimeOut' });
        }
      }
    }
  }
  let failures = 0;
  for (const group of groups) {
    let failed = 0;
    for (const cluster of group) {
      const status = known.get(cluster);
      if (status === undefined) decision.rollout.push({ cluster, status: 'ToApply' });
      else if (status === 'TimeOut' || status === 'Failed') failed += 1;
    }
    failures += failed;
    decision.breach = failed > failuresAllowed(maxFailures, group.length);
    // A cluster that timed out is not in `rollout`, and yet subtracted: it outweighs one that the group still waits for.
    if (decision.rollout.length - failures > 0 || decision.breach) break;
  }
  return decision;
};

export interface Condition {
  status: 'True' | 'False' | 'Unknown';
  observedGeneration: number;
  /** Its last transition, epoch ms. */
  since: number;
}

/** What the agent reports of a ManifestWork. */
export interface WorkConditions {
  applied?: Condition | undefined;
  progressing?: Condition | undefined;
  degraded?: Condition | undefined;
}

/** The status of the cluster whose ManifestWork has this generation and these conditions. */
export const statusOf = (
  generation: number,
  { applied, progressing, degraded }: WorkConditions,
): Omit<ClusterStatus, 'cluster'> => {
  const isObserved = (condition: Condition): boolean => condition.observedGeneration === generation;
  if (!applied || !isObserved(applied) || applied.status !== 'True') return { status: 'ToApply' };
  if (!progressing || !isObserved(progressing)) return { status: 'ToApply' };
  if (degraded && !isObserved(degraded)) return { status: 'ToApply' };
  if (progressing.status === 'False') return { status: 'Succeeded', since: progressing.since };
  if (progressing.status === 'True' && degraded?.status === 'True') return { status: 'Failed', since: degraded.since };
  return { status: 'Progressing', since: progressing.since };
};
