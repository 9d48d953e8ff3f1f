import type { RolloutApproval, RolloutApprovalSpec, RolloutPlanSpec } from '../../../src/words/index.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { AuditRecord } from './audit-record.ts';

const PLAN_KEY = 'edgeset.io/rollout-plan';

/** What a DaemonSet's rollout goes by: its plan, a plan that does not exist, or no plan at all. */
export type PlanVersion = RolloutPlanSpec | 'missing' | 'none';

export const isSpec = (version: PlanVersion): version is RolloutPlanSpec => typeof version !== 'string';

export interface PlanHistory {
  /** Call it with each record after `state` has applied it. */
  apply(record: AuditRecord): void;
  /** The versions that somebody may go by who does not know what happened within this time before. */
  knownAt(at: number, lagMs: number): readonly PlanVersion[];
  /** People who decided this about a stage, by the names that the API server knew them by. */
  decidedBy(revision: string, stage: string, decision: 'Approve' | 'Promote'): readonly string[];
}

/**
 * Follows the rollout plan that a DaemonSet names, and people's decisions. The API server answers the delete of a custom resource
 * without the object, so `records` are searched for deletes, which `inOrder` leaves out.
 */
export const followPlan = (
  records: readonly AuditRecord[],
  { namespace, daemonSet, group }: { namespace: string; daemonSet: string; group: string },
  state: ClusterState,
): PlanHistory => {
  const specs = new Map<string, RolloutPlanSpec>();
  const versions: { plan: PlanVersion; until: number }[] = [{ plan: 'none', until: Number.POSITIVE_INFINITY }];
  const decisions: { by: string; spec: RolloutApprovalSpec }[] = [];

  const keyOf = (record: AuditRecord): string | undefined => {
    if (record.group !== 'edgeset.io') return undefined;
    if (record.resource === 'clusterrolloutplans') return `cluster/${record.name}`;
    return record.resource === 'rolloutplans' && record.namespace === namespace ? record.name : undefined;
  };
  const deletes = records
    .filter((record) => record.verb === 'delete' && record.code < 300 && keyOf(record) !== undefined)
    .toSorted((a, b) => b.answeredAt - a.answeredAt);

  const noteVersion = (at: number): void => {
    const name = state.daemonSet?.metadata?.annotations?.[PLAN_KEY];
    const plan = name === undefined ? 'none' : (specs.get(name) ?? 'missing');
    const last = versions.at(-1);
    if (last?.plan === plan) return;
    if (last) last.until = at;
    versions.push({ plan, until: Number.POSITIVE_INFINITY });
  };
  const applyDeletes = (before: number): void => {
    for (let next = deletes.at(-1); next && next.answeredAt <= before; next = deletes.at(-1)) {
      deletes.pop();
      specs.delete(keyOf(next) ?? '');
      noteVersion(next.answeredAt);
    }
  };

  return {
    apply(record) {
      applyDeletes(record.receivedAt);
      const key = keyOf(record);
      if (key !== undefined && record.verb !== 'delete')
        specs.set(key, (record.response as { spec: RolloutPlanSpec }).spec);
      if (record.verb === 'create' && record.resource === 'rolloutapprovals' && record.namespace === namespace) {
        const { spec } = record.response as RolloutApproval;
        // Its spec says what its author decided.
        if (spec.daemonSet.name === daemonSet && spec.daemonSet.apiGroup === group)
          decisions.push({ by: record.user, spec });
      }
      noteVersion(record.answeredAt);
    },
    knownAt(at, lagMs) {
      applyDeletes(at);
      return versions.flatMap(({ plan, until }) => (at - until <= lagMs ? [plan] : []));
    },
    decidedBy: (revision, stage, decision) =>
      decisions.flatMap(({ by, spec }) =>
        spec.revision === revision && spec.stage === stage && (spec.decision ?? 'Approve') === decision ? [by] : [],
      ),
  };
};
