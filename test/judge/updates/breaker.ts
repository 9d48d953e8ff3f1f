import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { isOta, nodesOf, policyOf } from '../../invariants/index.ts';
import type { Check, CheckContext } from '../check.ts';
import { isEligible } from '../state/cluster-state.ts';
import { type ExecutedUpdate, isReverted } from '../state/follow-updates.ts';
import { defaultsMs, tolerances, withinMs } from '../tolerances.ts';

/** The annotations' defaults: fewer than 31 nodes were updated. */
const THRESHOLD = 3;
const CHECK_EVERY_MS = 20;

const wentOffline = ({ status }: Node): number =>
  Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '');

interface LastUpdate extends ExecutedUpdate {
  at: number;
  rollout: number;
}

/** Nodes that count against a version, as a process has observed them. */
export type FailuresOf = (
  process: string,
  rollout: number,
  hash: string | undefined,
) => { failed: string[]; lost: string[] };

/**
 * S13: no update begins while the nodes that the version failed on, and those that were lost soon after they got it, reach the
 * threshold, by what the sender had observed.
 */
export const createBreakerCheck = ({ report, actual, now, viewOf, clockOf }: CheckContext) => {
  const { check, violation } = report;
  const updates = new Map<string, LastUpdate>();

  const failuresOf: FailuresOf = (process, rollout, hash) => {
    const view = viewOf(process);
    const at = clockOf(process);
    const failed: string[] = [];
    const lost: string[] = [];
    for (const [name, { ready, since, node }] of view.nodes) {
      const isOurs = (): boolean => isEligible(node, view.daemonSet);
      const update = updates.get(name);
      if (ready) {
        const bad = view
          .podsOn(name)
          .some(
            (pod) =>
              !pod.terminating &&
              pod.hash === hash &&
              pod.failingSince !== undefined &&
              at - pod.failingSince > tolerances.decision.ms,
          );
        if (bad && isOurs()) failed.push(name);
      } else if (update && update.rollout === rollout) {
        // For a node that was offline when the process first observed it, the condition says since when, in whole seconds.
        const offlineSince = since === undefined ? wentOffline(node) + tolerances.wholeSecond.ms : since - (at - now());
        const isNews = since !== undefined && at - since <= tolerances.decision.ms;
        const isSoon = !isNews && offlineSince >= update.at && offlineSince - update.at <= defaultsMs.suspectWindow;
        // A node whose update was reverted never got the version.
        if (isSoon && isOurs() && !isReverted(actual, name, update)) lost.push(name);
      }
    }
    return { failed, lost };
  };

  return {
    failuresOf,
    onUpdateSent({ call, what, rollout }) {
      const view = viewOf(call.process);
      const { daemonSet } = view;
      if (!daemonSet || daemonSet.metadata?.annotations?.['edgeset.io/resume'] !== undefined) return;
      // The sender knows the target revision only if it has observed the present generation.
      const hash =
        daemonSet.metadata?.generation === actual.daemonSet?.metadata?.generation ? actual.target : undefined;
      const { failed, lost } = failuresOf(call.process, rollout, hash);
      check('S13');
      if (failed.length + lost.length >= THRESHOLD)
        violation('S13', `${what}, although the version failed on ${[...failed, ...lost].join(', ')}`);
      const budget = nodesOf(policyOf(daemonSet).limit, view.nodes.size);
      if (budget > 0 && failed.length >= budget)
        violation('S13', `${what}, although failures on ${failed.join(', ')} hold every slot`);
    },
    onUpdateExecuted({ node, kind, pod: { uid, hash }, rollout }) {
      updates.set(node, { kind, uid, hash, at: now(), rollout });
    },
  } satisfies Check & { failuresOf: FailuresOf };
};

export interface HaltOptions {
  /** Processes that believe that they lead. */
  believers: () => readonly string[];
  failuresOf: FailuresOf;
}

/** S13: a version whose failures hold every slot is halted, so that people are told: waiting changes nothing. */
export const createHaltCheck = (context: CheckContext, { believers, failuresOf }: HaltOptions): Check => {
  const { report, actual, now, viewOf, processes, rolloutName } = context;
  const { check, violation } = report;
  let halted = false;
  let blocked: { leader: string; since: number } | undefined;
  let lastCheckAt = 0;

  /** Nodes whose failures hold every slot, by what the only leader has observed; none where something else has a say. */
  const nodesHoldingSlots = (leader: string): readonly string[] => {
    const view = viewOf(leader);
    const { daemonSet } = view;
    const { metadata } = daemonSet ?? {};
    if (!daemonSet || metadata?.uid !== actual.daemonSet?.metadata?.uid) return [];
    if (metadata?.generation !== actual.daemonSet?.metadata?.generation) return [];
    // A user who resumes a rollout accepts the failures so far, and owners keep to no budget.
    if (metadata?.annotations?.['edgeset.io/resume'] !== undefined || isOta(daemonSet)) return [];
    const { limit, observed, paused, manual } = policyOf(daemonSet);
    if (!observed || paused || manual) return [];
    const { failed } = failuresOf(leader, actual.rolloutOf(daemonSet), actual.target);
    const budget = nodesOf(limit, view.nodes.size);
    return budget > 0 && failed.length >= budget ? failed : [];
  };

  return {
    beforeCommit() {
      if (now() - lastCheckAt < CHECK_EVERY_MS) return;
      lastCheckAt = now();
      const [leader, ...others] = believers();
      const state = processes().find(({ name }) => name === leader);
      const isHealthy = leader !== undefined && others.length === 0 && state?.running && state.up;
      const nodes = isHealthy && !halted ? nodesHoldingSlots(leader) : [];
      if (leader === undefined || nodes.length === 0) {
        blocked = undefined;
        return;
      }
      if (blocked?.leader !== leader) blocked = { leader, since: now() };
      check('S13');
      if (now() - blocked.since <= withinMs.halted) return;
      blocked = undefined;
      violation('S13', `failures on ${nodes.join(', ')} hold every slot, and the rollout is not halted`);
    },
    onCommit({ resource, object, type }) {
      if (resource.plural !== 'daemonrollouts' || object.metadata.name !== rolloutName) return;
      halted = type !== 'DELETED' && (object.status as { halted?: unknown } | undefined)?.halted !== undefined;
    },
    onOperation() {
      blocked = undefined;
    },
  };
};
