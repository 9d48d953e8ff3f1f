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
 * Which clusters get the work now. `groups`: the names of the clusters of each decision group, sorted. `existing`: by name, the
 * clusters whose work is of the present version.
 */
export const decideRollout = (
  { soakMs, deadlineMs, maxFailures }: Strategy,
  groups: readonly (readonly string[])[],
  existing: ReadonlyMap<string, ClusterStatus>,
  now: number,
): Decision => {
  const decision: Decision = { rollout: [], timeOut: [], removed: [], breach: false };
  const waitFor = (status: ClusterStatus, until: number): void => {
    decision.rollout.push(status);
    const ms = until - now;
    if (ms > 0 && ms < (decision.recheckAfter ?? Number.POSITIVE_INFINITY)) decision.recheckAfter = ms;
  };
  let selected = 0;
  const timedOut = new Set<string>();
  // Of all groups before any is looked at: a cluster of the last group that progresses keeps the first one from being passed.
  for (const group of groups)
    for (const cluster of group) {
      const present = existing.get(cluster);
      if (!present) continue;
      selected += 1;
      const { status, since = now } = present;
      if (status === 'Succeeded') {
        if (now < since + soakMs) waitFor(present, since + soakMs);
      } else if (status === 'Progressing' || status === 'Failed') {
        if (now < since + deadlineMs) waitFor(present, since + deadlineMs);
        else {
          timedOut.add(cluster);
          decision.timeOut.push({ ...present, status: 'TimeOut' });
        }
      }
    }
  if (selected < existing.size) {
    const names = new Set(groups.flat());
    decision.removed = [...existing.values()].filter(({ cluster }) => !names.has(cluster));
  }
  let failures = 0;
  for (const group of groups) {
    let failed = 0;
    for (const cluster of group) {
      const status = existing.get(cluster)?.status ?? 'ToApply';
      // As if it had no work: no deadline ends it.
      if (status === 'ToApply') decision.rollout.push({ cluster, status });
      else if (status === 'TimeOut' || status === 'Failed' || timedOut.has(cluster)) failed += 1;
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
