import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../call.ts';
import { createActsJudge } from './acts.ts';
import { createConsentJudge } from './consent.ts';
import { createReport } from './report.ts';
import { createSentJudge } from './sent.ts';
import { nodeOf, type TruePod } from './truth.ts';
import type { View } from './view.ts';

export interface CheckerOptions {
  daemonSet: { group: string; name: string };
  /** True time, epoch ms. */
  now: () => number;
  /** What a process has been told. */
  viewOf: (process: string) => View;
  /** A process's own time. */
  clockOf: (process: string) => number;
  settleMs: number;
}

/** What came to pass, for the report. */
export interface Account {
  acts: number;
  lastWriteAt: number;
}

/**
 * A creation that was on its way for longer is not an act any more: Kubernetes has no precondition to refuse it by. What it
 * makes is one pod too many, which whoever leads takes away.
 */
const LATE_MS = 5_000;

const HASH = 'controller-revision-hash';

/** Agents are judged by what their owners decided; they know nothing of a rollout. */
const isAgent = ({ process }: Call): boolean => process.startsWith('agent-');

const hashIn = (body: unknown): string | undefined => (body as Pod | undefined)?.metadata?.labels?.[HASH];

/** The gate is shut, for the time in which containers start anew. */
const shutsGate = (body: unknown): boolean =>
  (body as Pod | undefined)?.status?.conditions?.some(
    ({ type, status }) => type === 'InPlaceUpdateReady' && status === 'False',
  ) ?? false;

/**
 * Holds a run of managers against spec/invariants, from the cluster's own state and from what each process had been told.
 * It shares no rule with the code that it judges.
 */
export const createChecker = ({ daemonSet, now, viewOf, clockOf, settleMs }: CheckerOptions) => {
  const report = createReport(now);
  const acts = createActsJudge({ report, daemonSet, now, viewOf, clockOf, settleMs });
  const sent = createSentJudge({ report, viewOf, clockOf, settleMs });
  const { truth } = acts;
  const consent = createConsentJudge({ report, truth, now, clockOf });
  const account: Account = { acts: 0, lastWriteAt: 0 };

  /** What a write to a pod is to a rollout; undefined: none of its business. */
  const kindOf = (call: Call, pod: TruePod): 'delete' | 'in-place' | 'retire' | undefined => {
    if (call.verb === 'delete') {
      // A pod that has ended, or that no node wants, is taken away in any case.
      if (pod.ended || pod.terminating || !truth.nodes.get(pod.node)?.eligible) return undefined;
      const beside = truth
        .podsOn(pod.node)
        .some(({ uid, terminating, ended }) => uid !== pod.uid && !terminating && !ended);
      return beside ? 'retire' : 'delete';
    }
    const hash = hashIn(call.body);
    return shutsGate(call.body) || (hash !== undefined && hash !== pod.hash) ? 'in-place' : undefined;
  };
  const podNamed = (name: string | undefined): TruePod | undefined =>
    truth.pods.values().find((pod) => pod.name === name);

  const begin = (call: Call, pod: TruePod, kind: 'delete' | 'in-place' | 'surge', what: string): (() => void) => {
    const agreed = consent.byManager(call, pod, what);
    const carriedOut = acts.begin(call, pod, kind, what);
    return () => {
      agreed?.();
      carriedOut();
    };
  };

  const writeToPod = (call: Call): (() => void) | undefined => {
    const pod = podNamed(call.ref?.name);
    if (!pod) return undefined;
    if (isAgent(call)) return consent.byAgent(call, pod);
    const what = `${call.process} ${call.verb}s ${pod.name} on ${pod.node}`;
    const kind = kindOf(call, pod);
    if (call.verb === 'delete') {
      report.check('S5');
      const { preconditions } = (call.options ?? {}) as { preconditions?: { uid?: string } };
      if (preconditions?.uid === undefined) report.breach('S5', `${what} without preconditions`);
    }
    if (kind === 'retire') return acts.retire(pod, what);
    return kind && begin(call, pod, kind, what);
  };

  /** A pod is created: beside another one, or where there is none. */
  const createPod = (call: Call): (() => void) | undefined => {
    if (now() - call.at > LATE_MS) return undefined;
    const node = nodeOf(call.body as Pod);
    const old = truth.podsOn(node).find(({ terminating, ended }) => !terminating && !ended);
    return old && begin(call, old, 'surge', `${call.process} creates a pod beside ${old.name} on ${node}`);
  };

  return {
    truth,
    breaches: report.breaches,
    checked: report.checked,
    account,
    consent,
    /** To be called with every commit. */
    commit(change: Change): void {
      // What came to be by time alone came before this.
      acts.look();
      acts.commit(change);
      consent.commit(change);
      if (change.resource.plural === 'daemonrollouts') sent.written({ status: change.object.status });
    },
    /** A process sends a call. */
    leaves(call: Call): void {
      const plural = call.resource?.plural;
      if (isAgent(call)) return;
      acts.leaves(call);
      if (call.verb === 'update' && plural === 'daemonrollouts') sent.reserve(call);
      if (plural !== 'pods' || (call.verb !== 'delete' && call.verb !== 'patch')) return;
      const seen = viewOf(call.process).podNamed(call.ref?.name ?? '');
      const pod = podNamed(call.ref?.name);
      const kind = pod && kindOf(call, pod);
      if (seen && (kind === 'delete' || kind === 'in-place'))
        sent.act(call, seen, `${call.process} ${call.verb}s ${seen.name} on ${seen.node}`);
    },
    /** A call reaches the server. Returns what to do when it was carried out. */
    arrives(call: Call): (() => void) | undefined {
      const { verb, resource } = call;
      if (verb === 'get' || verb === 'list' || verb === 'watch' || !resource) return undefined;
      acts.look();
      const isPod = resource.plural === 'pods';
      const carriedOut = isPod ? (verb === 'create' ? createPod(call) : writeToPod(call)) : undefined;
      return () => {
        // A lease is renewed, and a series of Events comes to its end, later.
        if (resource.plural !== 'leases' && resource.plural !== 'events') account.lastWriteAt = now();
        if (carriedOut) account.acts += 1;
        carriedOut?.();
      };
    },
    /** L1, once nothing is wrong with the cluster any more: what still keeps the rollout from its end. */
    unfinished(): string[] {
      const left: string[] = [];
      for (const { name, eligible, ready } of truth.nodes.values()) {
        if (!eligible || !ready) continue;
        const pods = truth.podsOn(name);
        const [pod, ...others] = pods;
        if (pod && others.length === 0) {
          if (pod.hash === truth.target && acts.works(pod) && consent.isTold(pod)) continue;
          if (pod.hash !== truth.target && consent.mayStay(pod)) continue;
        }
        const told = pods.map(
          (each) =>
            `${each.name} ${each.hash}${each.terminating ? ' terminating' : ''}${acts.works(each) ? '' : ' not available'}`,
        );
        left.push(`${name}: ${told.join(', ') || 'no pod'}`);
      }
      return left;
    },
  };
};
export type Checker = ReturnType<typeof createChecker>;
