import { isBusy } from '../../invariants/index.ts';
import type { Knowledge } from '../stages/knowledge.ts';
import { type ClusterState, nodesToServe } from '../state/cluster-state.ts';
import type { PlanState } from '../state/follow-plan.ts';

/** What the caller of a write could know of the plan, by the audit log. `lagMs`: it may not know what happened within this time before. */
export const logKnowledge = (plan: PlanState, state: ClusterState, at: number, lagMs: number): Knowledge => {
  const plans = plan.versionsSince(at - lagMs);
  const node: Knowledge['node'] = (name) => plan.nodeSince(name, at - lagMs);
  return {
    plans,
    isSettled: (name) => plans.length === 1 && (name === undefined || node(name).length === 1),
    // A busy server carries a request out after one that arrived later, and then by the status of the next rollout.
    statuses: plan.statusesSince(at),
    times: [at, at - lagMs],
    node,
    knowsBusy(name, spec) {
      const marks = plan.marksSince(name, at - lagMs);
      return marks.length > 0 && marks.every((each) => isBusy(spec, each));
    },
    knowsOnline: ({ ready, since }) => ready && at - since > lagMs,
    mayBeOnline: () => nodesToServe(state).filter(({ ready, since }) => ready || at - since <= lagMs),
    offsetMs: 0,
    slackMs: { begin: 0, end: lagMs, unwell: plans.length === 1 ? lagMs : Number.POSITIVE_INFINITY },
  };
};
