import type { InvariantId } from './invariants.ts';

/** Why an update breaks an invariant. */
export interface Finding {
  invariant: InvariantId;
  /** Completes a sentence such as "manager-1 deleted pod app-x". */
  why: string;
}

type Rule<Facts> = (facts: Facts) => Finding | undefined;

const finding = (invariant: InvariantId, broken: boolean, why: () => string): Finding | undefined =>
  broken ? { invariant, why: why() } : undefined;

const list = (names: readonly string[]): string => names.join(', ') || 'no other node';

export interface BudgetFacts {
  /** Other nodes that are online and have an update in flight. */
  others: readonly string[];
  limit: number;
  /** The node holds a slot already. */
  hasSlot: boolean;
  /** New pods are created beside old ones. */
  surging?: boolean;
}

/** S1, and S10 for surges: the updates in flight stay within the budget. */
export const withinBudget: Rule<BudgetFacts> = ({ others, limit, hasSlot, surging = false }) =>
  finding(
    surging ? 'S10' : 'S1',
    others.length >= limit && !hasSlot,
    () => `with updates in flight on ${list(others)} and a budget of ${limit}`,
  );

/** S2: a healthy pod is not taken down while `down` uses up the budget. */
export const withinDownBudget: Rule<{ down: readonly string[]; limit: number }> = ({ down, limit }) =>
  finding('S2', down.length >= limit, () => `a healthy pod, with ${list(down)} down and a budget of ${limit}`);

/** S3: the node has been back for the settle time. */
export const isSettled: Rule<{ backForMs: number; settleMs: number }> = ({ backForMs, settleMs }) =>
  finding(
    'S3',
    backForMs >= 0 && backForMs < settleMs,
    () => `which had been back for only ${Math.round(backForMs)} ms`,
  );

/** S4: the node is online; undefined: there is no such node. */
export const isOnline: Rule<{ ready: boolean | undefined; forMs?: number }> = ({ ready, forMs }) =>
  finding('S4', ready !== true, () =>
    ready === undefined
      ? 'which is no node of the cluster'
      : `which had not been ready${forMs === undefined ? '' : ` for ${Math.round(forMs)} ms`}`,
  );

/** S5: a delete names the pod that it was decided for. */
export const isBoundToPod = (deleteOptions: unknown): Finding | undefined => {
  const { preconditions } = (deleteOptions ?? {}) as { preconditions?: { uid?: string } };
  return finding('S5', preconditions?.uid === undefined, () => 'without a uid precondition');
};

/** S5: a healthy pod of the target revision stays. */
export const isOutdated: Rule<{ healthy: boolean; hash: string; target: string | undefined }> = ({
  healthy,
  hash,
  target,
}) => finding('S5', healthy && hash === target, () => `a healthy pod of the target revision ${target}`);

/** S6: a node whose pod is healthy is updated once for each rollout. */
export const isFirstUpdate: Rule<{ healthy: boolean; alreadyUpdated: boolean }> = ({ healthy, alreadyUpdated }) =>
  finding('S6', healthy && alreadyUpdated, () => 'the second update there in one rollout');

export interface ControlFacts {
  paused?: boolean;
  manual?: boolean;
  /** The owner has to agree, and has not. */
  ownerHasNotAgreed?: boolean;
  zeroBudget?: boolean;
  unobserved?: boolean;
  notSelected?: boolean;
}

const CONTROLS: Readonly<Record<keyof ControlFacts, string>> = {
  paused: 'while updates were paused',
  manual: 'although only the user updates its pods',
  ownerHasNotAgreed: 'whose owner has not agreed',
  zeroBudget: 'with a budget of zero',
  unobserved: 'before the generation was observed',
  notSelected: 'which the node selector excludes',
};

/** S9: the user's controls. */
export const obeysControls = (facts: ControlFacts): Finding[] =>
  Object.entries(CONTROLS).flatMap(([control, why]) =>
    facts[control as keyof ControlFacts] === true ? [{ invariant: 'S9', why }] : [],
  );

/** S9: at most `permitted` nodes leave the old revision; `updated` others already have, or must do so first. */
export const withinPartition: Rule<{ updated: number; permitted: number }> = ({ updated, permitted }) =>
  finding(
    'S9',
    updated >= permitted,
    () => `although the partition permits ${permitted} nodes and ${updated} were updated`,
  );

/** S10: at most one pod is created beside another one. */
export const isOnlySurge: Rule<{ live: number }> = ({ live }) =>
  finding('S10', live > 1, () => `beside ${live} live pods`);

/** S10: of two pods the old one goes only once the new one has taken over. */
export const keepsWorkingPod: Rule<{ works: boolean; successorWorks: boolean }> = ({ works, successorWorks }) =>
  finding('S10', works && !successorWorks, () => 'a working pod, before the pod beside it was available');

/** S14: a write brings the node to the target revision. */
export const bringsTarget: Rule<{ hash: string; target: string | undefined }> = ({ hash, target }) =>
  finding('S14', hash !== target, () => `bringing it to ${hash} while ${target} is the target`);

/** G1: the node's stage is open. */
export const isInOpenStage: Rule<{ stage: string; open: readonly string[] }> = ({ stage, open }) =>
  finding('G1', !open.includes(stage), () => `whose stage ${stage} is closed while only ${list(open)} are open`);

/** G1: updates begin only inside of windows, and outside of freezes. */
export const isInWindow: Rule<{ closedBy: string | undefined }> = ({ closedBy }) =>
  finding('G1', closedBy !== undefined, () => `although ${closedBy}`);

/** G9: a pod of the target is created only on nodes that nothing keeps from it. `keptBy` completes "on a node". */
export const staysClosed: Rule<{ keptBy: string | undefined }> = ({ keptBy }) =>
  finding('G9', keptBy !== undefined, () => `of the target, ${keptBy}`);

/** G9: what is created on a node that is kept from the target is of the revision that was last complete. */
export const isLastComplete: Rule<{ hash: string; lastComplete: readonly string[] }> = ({ hash, lastComplete }) =>
  finding('G9', !lastComplete.includes(hash), () => `of ${hash}, although ${list(lastComplete)} was last complete`);

/** G1: no update begins on a node that the plan skips. */
export const isFree: Rule<{ busy: boolean }> = ({ busy }) =>
  finding('G1', busy, () => 'although the plan skips it while it is busy');

/** G2: all stages before it were promoted. `before`: those that were not. */
export const followsPromotions: Rule<{ before: readonly string[] }> = ({ before }) =>
  finding('G2', before.length > 0, () => `although ${list(before)} had not been promoted`);

/** G7: the DaemonSets that its plan names come first. `behind`: those that have not, for people. */
export const followsPredecessors: Rule<{ behind: readonly string[] }> = ({ behind }) =>
  finding('G7', behind.length > 0, () => `before ${list(behind)}`);

export interface GroupFacts {
  /** `site=s1`, or `stage canary`. */
  group: string;
  /** Other nodes of the group that are online and have an update in flight. */
  others: readonly string[];
  limit: number;
  hasSlot: boolean;
}

/** G7: as S1, within a group or a stage. */
export const withinGroupLimit: Rule<GroupFacts> = ({ group, others, limit, hasSlot }) =>
  finding(
    'G7',
    others.length >= limit && !hasSlot,
    () => `with updates in flight on ${list(others)} and a limit of ${limit} for ${group}`,
  );
