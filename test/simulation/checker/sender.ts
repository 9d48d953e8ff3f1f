import type { Call } from '../network/call.ts';
import { isEligible, type PodState } from './cluster-state.ts';
import type { ProcessView } from './process-view.ts';
import type { Report } from './report.ts';
import { nodesOf, termsOf } from './terms.ts';

export interface SenderOptions {
  report: Report;
  /** What a process has been told. */
  viewOf: (process: string) => ProcessView;
  /** A process's own time. */
  clockOf: (process: string) => number;
  settleMs: number;
}

interface Reservation {
  node: string;
  kind?: string;
  podUID: string;
  rollout: number;
  carriedOut?: boolean;
}

const worksFor = (pod: PodState, forMs: number, at: number): boolean =>
  !pod.terminating && pod.readySince !== undefined && at - pod.readySince >= forMs;

const keyOf = ({ node, podUID, rollout }: Reservation): string => `${node} ${podUID} ${rollout}`;

/** Judges what a process sends by what it has been told: S2, S3, S4, S9. */
export const createSenderCheck = ({ report, viewOf, clockOf, settleMs }: SenderOptions) => {
  const { violation, check } = report;
  /** Slots that a process has written, by what they are for. */
  const reserved = new Map<string, ReadonlySet<string>>();
  /** Those that the DaemonRollout holds: a successor takes them over as they are. */
  let held: ReadonlySet<string> = new Set();

  const isAvailable = (view: ProcessView, node: string, minReadyMs: number, surging: boolean, at: number): boolean => {
    const pods = view.podsOn(node);
    if (surging) return pods.some((pod) => worksFor(pod, minReadyMs, at));
    const [pod, ...others] = pods;
    return pod !== undefined && others.length === 0 && worksFor(pod, minReadyMs, at);
  };

  return {
    /** The DaemonRollout was written. */
    written({ status }: { status?: unknown }): void {
      held = new Set((status as { reservations?: readonly Reservation[] } | undefined)?.reservations?.map(keyOf));
    },
    /** An update of the pod on a node begins. */
    act(call: Call, pod: PodState, what: string): void {
      const view = viewOf(call.process);
      const at = clockOf(call.process);
      const seen = view.nodes.get(pod.node);
      check('S4');
      if (!seen?.ready) violation('S4', `${what}, which it was told is offline`);
      check('S3');
      if (seen?.since !== undefined && at >= seen.since && at - seen.since < settleMs)
        violation('S3', `${what}, which has been back for ${Math.round(at - seen.since)} ms`);
      check('S9');
      if (!view.daemonSet) return;
      const { paused, limit, observed } = termsOf(view.daemonSet);
      if (paused) violation('S9', `${what} while paused`);
      if (/^0%?$/.test(String(limit))) violation('S9', `${what} with a budget of zero`);
      if (!observed) violation('S9', `${what} before the generation was observed`);
    },
    /** Slots are written: those for healthy pods are within the budget. */
    reserve(call: Call): void {
      const { process } = call;
      const body = call.body as { status?: { reservations?: readonly Reservation[] } } | undefined;
      const reservations = body?.status?.reservations ?? [];
      const before = reserved.get(process) ?? new Set<string>();
      const fresh = reservations.filter(
        (each) => !each.carriedOut && !before.has(keyOf(each)) && !held.has(keyOf(each)),
      );
      reserved.set(process, new Set(reservations.map(keyOf)));
      const view = viewOf(process);
      if (fresh.length === 0 || !view.daemonSet) return;
      check('S2');
      const { limit, surging, minReadyMs } = termsOf(view.daemonSet);
      const at = clockOf(process);
      const slots = new Set(reservations.map(({ node }) => node));
      const taken = new Set<string>();
      let total = 0;
      for (const [name, { ready, since, node }] of view.nodes) {
        if (!isEligible(node, view.daemonSet)) continue;
        // What is heard at the very moment when slots leave came after they were decided on: the act is decided on anew.
        const settled = ready && (since === undefined || (at > since && at - since >= settleMs));
        if (settled || view.daemonSet.apiVersion !== 'apps/v1') total += 1;
        // New pods beside old ones take nothing down.
        const down = !surging && !isAvailable(view, name, minReadyMs, surging, at);
        if (settled && (slots.has(name) || down)) taken.add(name);
      }
      const most = nodesOf(limit, total);
      for (const { node } of fresh) {
        if (!isAvailable(view, node, minReadyMs, surging, at)) continue;
        const others = [...taken].filter((name) => name !== node);
        if (others.length >= most)
          violation('S2', `${process} reserves ${node}, a healthy one, beside ${others.join(', ')}, budget ${most}`);
      }
    },
  };
};
