import { isAvailable, isNative, nodesOf, policyOf } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext } from '../check.ts';
import { isEligible, type PodState } from '../state/cluster-state.ts';
import type { ProcessView } from '../state/process-view.ts';
import { obeysPolicies, staysOnSettledNodes, staysWithinDownBudget } from './rules.ts';

export interface Reservation {
  node: string;
  podUID: string;
  rollout: number;
  carriedOut?: boolean;
}

export const reservationsIn = (rollout: unknown): readonly Reservation[] =>
  (rollout as { status?: { reservations?: readonly Reservation[] } } | undefined)?.status?.reservations ?? [];

const keyOf = ({ node, podUID, rollout }: Reservation): string => `${node} ${podUID} ${rollout}`;

/** Checks what a process sends against its own view: S2, S3, S4, S9. */
export const createSenderCheck = ({
  report,
  viewOf,
  clockOf,
  settleMs,
}: Pick<CheckContext, 'report' | 'viewOf' | 'clockOf' | 'settleMs'>) => {
  const { check } = report;
  /** By process: the reservations that it has written. */
  const reserved = new Map<string, ReadonlySet<string>>();
  /** Those that the DaemonRollout holds: a successor takes them over as they are. */
  let held: readonly Reservation[] = [];

  const nodeIsAvailable = (
    view: ProcessView,
    node: string,
    { minReadyMs }: { minReadyMs: number },
    at: number,
  ): boolean =>
    view.podsOn(node).some((pod) => pod.owner === view.daemonSet?.metadata?.uid && isAvailable(pod, minReadyMs, at));

  return {
    /** The DaemonRollout was written. */
    onRolloutWritten(rollout: unknown): void {
      held = reservationsIn(rollout);
    },
    /** The DaemonRollout has a slot for this pod. */
    holdsSlotFor: ({ node, uid }: PodState): boolean => held.some((each) => each.node === node && each.podUID === uid),
    /** An update of the pod on a node begins. */
    onUpdate(call: Call, pod: PodState, what: string): void {
      const view = viewOf(call.process);
      check('S3');
      check('S4');
      check('S9');
      const found = staysOnSettledNodes(pod.node, {
        at: clockOf(call.process),
        lagMs: 0,
        settleMs,
        nodeOf: (name) => view.nodes.get(name),
      });
      const policies = view.daemonSet ? [policyOf(view.daemonSet)] : [];
      for (const each of [found, ...obeysPolicies(policies)]) report.finding(each, what);
    },
    /** Slots are written: those for healthy pods stay within the budget. */
    onReserve(call: Call): void {
      const { process } = call;
      const reservations = reservationsIn(call.body);
      const before = reserved.get(process) ?? new Set<string>();
      const known = before.union(new Set(held.map(keyOf)));
      const fresh = reservations.filter((each) => !each.carriedOut && !known.has(keyOf(each)));
      reserved.set(process, new Set(reservations.map(keyOf)));
      const view = viewOf(process);
      const { daemonSet } = view;
      if (fresh.length === 0 || !daemonSet) return;
      check('S2');
      const policy = policyOf(daemonSet);
      const at = clockOf(process);
      // A pod that was created for an update and works is not down, even if it isn't at the target that its sender knows.
      const hasSuccessor = ({ node, podUID, carriedOut }: Reservation): boolean =>
        carriedOut === true &&
        !policy.surging &&
        nodeIsAvailable(view, node, policy, at) &&
        view.podsOn(node).every(({ uid }) => uid !== podUID);
      const reservedNodes = new Set(reservations.flatMap((each) => (hasSuccessor(each) ? [] : [each.node])));
      // An event that arrives at the very moment of the write came after the decision, or shortly before it.
      const readings = [false, true].map((heard) => {
        const taken = new Set<string>();
        let total = 0;
        for (const [name, { ready, since, node }] of view.nodes) {
          if (!isEligible(node, daemonSet)) continue;
          const settled = ready && (since === undefined || (at - since >= settleMs && (heard || at > since)));
          if (settled || !isNative(daemonSet)) total += 1;
          // New pods beside old ones take nothing down.
          const down = !policy.surging && !nodeIsAvailable(view, name, policy, at);
          if (settled && (reservedNodes.has(name) || down)) taken.add(name);
        }
        return { taken, limit: nodesOf(policy.limit, total) };
      });
      for (const { node } of fresh) {
        if (!nodeIsAvailable(view, node, policy, at)) continue;
        report.finding(staysWithinDownBudget(node, readings), `${process} reserves ${node}`);
      }
    },
  };
};
