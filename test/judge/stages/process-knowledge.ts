import type { Node } from 'kubernetes-types/core/v1.d.ts';
import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { type AnyDaemonSet, isBusy, type MarkedNode } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext } from '../check.ts';
import { conditionsOf, generationKey, isEligible } from '../state/cluster-state.ts';
import { isSpec, type PlanState } from '../state/follow-plan.ts';
import { tolerances } from '../tolerances.ts';
import type { Knowledge } from './knowledge.ts';

export const markedNode = ({ metadata, spec, ...node }: Node): MarkedNode => ({
  name: metadata?.name ?? '',
  labels: metadata?.labels ?? {},
  taints: spec?.taints ?? [],
  conditions: conditionsOf(node),
});

/** What a process of the simulation knows of the rollout plan, by what it has received. */
export const createProcessKnowledge = ({ actual, now, viewOf, clockOf, settleMs }: CheckContext, plan: PlanState) => {
  /** The times that a process may go by where the plan is concerned: its clock, corrected by the API server's Date. */
  const timesOf = (process: string): readonly number[] => {
    const own = clockOf(process);
    const apart = Math.abs(own - now());
    const isOwn = apart < tolerances.uncorrectedClock.ms + 2 * tolerances.wholeSecond.ms;
    const isCorrected = apart > tolerances.uncorrectedClock.ms - 2 * tolerances.wholeSecond.ms;
    return [...(isOwn ? [own] : []), ...(isCorrected ? [now(), now() - 2 * tolerances.wholeSecond.ms] : [])];
  };
  /**
   * The plans that a process may go by in what it sent then: the present one, those that it replaced a moment ago, the one that
   * the process knows, and the one that it knew when it decided.
   */
  const plansOf = ({ process, at }: Pick<Call, 'process' | 'at'>): readonly RolloutPlanSpec[] => {
    const decidedAt = clockOf(process) - (now() - at) - tolerances.decided.ms;
    return [
      ...plan.versionsSince(now() - tolerances.planChange.ms).filter(isSpec),
      ...viewOf(process).plansSince(decidedAt),
    ];
  };
  /** Nobody has edited the plan lately, or moved nodes to other stages and groups. */
  const isSettled = (): boolean => now() - plan.changedAt() >= tolerances.planChange.ms;
  /** The status is about the target of this version of the DaemonSet, which is the present one. */
  const isAbout = (version: AnyDaemonSet | undefined): boolean =>
    version !== undefined &&
    actual.daemonSet !== undefined &&
    generationKey(version) === generationKey(actual.daemonSet) &&
    actual.target !== undefined &&
    plan.status?.target?.hash === actual.target;

  return {
    timesOf,
    plansOf,
    isSettled,
    isAbout,
    /** What the sender of a call knows, at the time of its sending or of its arrival. */
    of(call: Call): Knowledge {
      const { process } = call;
      const view = viewOf(process);
      const sentAt = clockOf(process) - (now() - call.at);
      const specs = plansOf(call);
      const times = timesOf(process);
      const slackMs = times.length > 1 ? 2 * tolerances.decision.ms : tolerances.sameClock.ms;
      return {
        plans: specs.length > 0 ? specs : ['missing'],
        isSettled,
        statuses: [isAbout(view.daemonSet) ? plan.status : undefined],
        times: times.flatMap((at) => [at, at - tolerances.decision.ms]),
        node(name) {
          const known = view.nodes.get(name)?.node;
          if (!known) return [];
          const { labels = {}, annotations = {} } = known.metadata ?? {};
          const present = actual.nodes.get(name);
          return [...(present ? [{ name, labels: present.labels, annotations }] : []), { name, labels, annotations }];
        },
        knowsBusy(name, spec) {
          const known = view.nodes.get(name);
          if (!known) return false;
          const { node, earlier } = known;
          const isNews = earlier !== undefined && earlier.until > sentAt - tolerances.decision.ms;
          const asKnown = [node, ...(isNews ? [earlier.node] : [])].map(markedNode);
          return [...plan.marksSince(name, now()), ...asKnown].every((each) => isBusy(spec, each));
        },
        knowsOnline({ name, ready }) {
          const known = view.nodes.get(name);
          if (!ready || !known?.ready) return false;
          return known.since === undefined || sentAt - known.since > settleMs + tolerances.decision.ms;
        },
        mayBeOnline: () =>
          [...view.nodes].flatMap(([name, { ready, since, node }]) =>
            isEligible(node, view.daemonSet) &&
            (ready || (since !== undefined && clockOf(process) - since < tolerances.decision.ms))
              ? [{ name, labels: node.metadata?.labels ?? {} }]
              : [],
          ),
        offsetMs: (times[0] ?? 0) - now(),
        slackMs: { begin: slackMs, end: slackMs, unwell: 0 },
      };
    },
  };
};
export type ProcessKnowledge = ReturnType<typeof createProcessKnowledge>;
