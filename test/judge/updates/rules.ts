import {
  type Finding,
  type InvariantId,
  isFirstUpdate,
  isOnline,
  isOnlySurge,
  isOutdated,
  isSettled,
  keepsWorkingPod,
  nodesOf,
  obeysControls,
  type Policy,
  type Share,
  withinBudget,
  withinDownBudget,
  withinPartition,
} from '../../invariants/index.ts';
import type { NodeUpdate } from '../check.ts';
import type { ClusterState, PodState } from '../state/cluster-state.ts';
import { type ExecutedUpdate, isUnchanged, type UpdateFollower } from '../state/follow-updates.ts';

/**
 * What the sender of an update could know: in the simulation exactly what it had observed; by a log, one of the states within a
 * window of time, of which the most favorable one counts.
 */
export interface Knowledge {
  /** When the sender decided, by the clock that its times are of. */
  at: number;
  /** It may not have known what happened within this time before; 0: it is known what it knew. */
  lagMs: number;
  /** A node has to be back for so long before it is updated, */
  settleMs: number;
  /** and for so long until an update that is in flight there takes a slot again. */
  slotAfterMs: number;
  /** `since`: undefined for a node that it has only ever known as it is. */
  nodeOf: (name: string) => { ready: boolean; since: number | undefined } | undefined;
  /** Nodes whose updates had completed. */
  complete: ReadonlySet<string>;
  /** The budgets that it may have obeyed, and the number of nodes that they are shares of. */
  budgets: readonly Share[];
  total: number;
}

/** `rollout`: the one that its sender obeyed. */
type Update = Pick<NodeUpdate, 'kind' | 'pod' | 'rollout'>;
type Found = readonly (Finding | undefined)[];

/** S3, S4: the node is online, and has been for a while. */
export const staysOnSettledNodes = (
  name: string,
  { nodeOf, at, lagMs, settleMs }: Pick<Knowledge, 'nodeOf' | 'at' | 'lagMs' | 'settleMs'>,
): Finding | undefined => {
  const node = nodeOf(name);
  if (!node || node.since === undefined) return isOnline({ ready: node?.ready });
  const forMs = at - node.since;
  if (node.ready) return isSettled({ backForMs: forMs, settleMs: settleMs - lagMs });
  return lagMs === 0 || forMs > lagMs ? isOnline({ ready: false, forMs }) : undefined;
};

export const limitOf = ({ budgets, total }: Pick<Knowledge, 'budgets' | 'total'>): number =>
  Math.max(0, ...budgets.map((budget) => nodesOf(budget, total)));

/** S2, of what the sender may have taken for down: a finding only if all of it is one. */
export const staysWithinDownBudget = (
  node: string,
  readings: readonly { taken: ReadonlySet<string>; limit: number }[],
): Finding | undefined => {
  const found = readings.map(({ taken, limit }) =>
    withinDownBudget({ down: [...taken].filter((name) => name !== node), limit }),
  );
  return found.every((each) => each !== undefined) ? found[0] : undefined;
};

/** S9 for what the policy says of all nodes, and `more` of this one: what each policy forbids that the sender may have obeyed. */
export const obeysPolicies = (
  policies: readonly Policy[],
  more: (policy: Policy) => Parameters<typeof obeysControls>[0] = () => ({}),
): Finding[] => {
  const [first = [], ...others] = policies.map((policy) => {
    const { paused, manual, limit, observed } = policy;
    const zeroBudget = /^0%?$/.test(String(limit));
    return obeysControls({ paused, manual, zeroBudget, unobserved: !observed, ...more(policy) });
  });
  return first.filter(({ why }) => others.every((found) => found.some((each) => each.why === why)));
};

/** How many nodes may leave the old revision, by the mildest partition. */
export const permittedBy = (partitions: readonly Share[], { size }: ReadonlySet<string>): number =>
  Math.max(...partitions.map((share) => size - nodesOf(share, size, 'down')));

/** S9: no more nodes leave the old revision than the partition permits, in order of their names. */
export const staysWithinPartition = ({
  node,
  updated,
  eligible,
  inOrder,
  partitions,
}: {
  node: string;
  /** Nodes at the target, and those that an update is about to bring there. */
  updated: ReadonlySet<string>;
  /** Nodes that are to have a pod; those whose names come before, as far as it is known which the sender knew. */
  eligible: ReadonlySet<string>;
  inOrder: Iterable<string>;
  /** Those that the sender may have obeyed. */
  partitions: readonly Share[];
}): Finding | undefined => {
  if (updated.has(node)) return undefined;
  const before = [...inOrder].filter((name) => name > node && !updated.has(name)).length;
  const permitted = permittedBy(partitions, eligible);
  return withinPartition({ updated: updated.intersection(eligible).size + before, permitted });
};

/** The rules that depend on the updates before: S1, S5, S6, S10. Each returns what it found. */
export const createUpdateRules = (
  state: ClusterState,
  updates: UpdateFollower,
  check: (invariant: InvariantId) => void,
) => {
  const { inFlight, works, live } = updates;
  /** By node and rollout. */
  const executed = new Map<string, Map<number, ExecutedUpdate>>();
  /** UIDs of pods that managers delete. */
  const deletedByManager = new Set<string>();

  /** Its sender knew that an update is in flight on the node, which is online. */
  const takesSlot = (node: string, { nodeOf, at, lagMs, settleMs, slotAfterMs, complete }: Knowledge): boolean => {
    const known = nodeOf(node);
    const update = inFlight.get(node);
    if (!update || complete.has(node) || !state.nodes.get(node)?.ready || !known?.ready) return false;
    // What an update for an earlier template broke is down like any other pod: it counts once its sender has seen its node settle.
    const afterMs = update.rollout === state.rollout ? slotAfterMs : settleMs + lagMs;
    return known.since === undefined || at - known.since > afterMs;
  };

  return {
    takesSlot,
    /** S1, S5, S6, S10: an update begins, or continues. */
    ofUpdate({ kind, pod, rollout }: Update, knows: Knowledge): Found {
      const { node: name, hash } = pod;
      const healthy = works(pod);
      const surging = kind === 'surge';
      const before = executed.get(name)?.get(rollout);
      // A further write to the same pod belongs to the same update; one to another pod needs a reason.
      const continues = before !== undefined && before.kind !== 'surge' && isUnchanged(pod, before);
      const others = [...inFlight.keys()].filter((other) => other !== name && takesSlot(other, knows));
      if (kind === 'delete' || kind === 'prepare') deletedByManager.add(pod.uid);
      check('S5');
      check(surging ? 'S10' : 'S1');
      check('S6');
      return [
        surging ? isOnlySurge({ live: live(name).length }) : undefined,
        // Its sender obeyed a template that it had observed: S9.
        rollout === state.rollout ? isOutdated({ healthy, hash, target: state.target }) : undefined,
        // A pod that an update broke is repaired in its node's slot, even when the budget has been lowered since.
        withinBudget({ others, limit: limitOf(knows), hasSlot: updates.holdsSlot(pod) && !healthy, surging }),
        isFirstUpdate({ healthy, alreadyUpdated: before !== undefined && !continues }),
      ];
    },
    /** The update was executed. */
    noteExecuted({ kind, pod, rollout }: Update): void {
      const { node, uid, hash } = pod;
      const ofNode = executed.get(node) ?? new Map<number, ExecutedUpdate>();
      executed.set(node, ofNode.set(rollout, { uid, hash, kind }));
      updates.begin(pod, kind, rollout);
    },
    /** S10: of several pods one goes, an old one once the new one works. Which works is what the sender could know. */
    ofSurgedOut(
      { uid, node }: PodState,
      { works: isWorking, successorWorks }: { works: boolean; successorWorks: (pod: PodState) => boolean },
    ): Found {
      check('S10');
      deletedByManager.add(uid);
      const others = live(node).filter((other) => other.uid !== uid);
      const fresh = others.filter(({ hash }) => hash === state.target);
      const successors = fresh.length > 0 ? fresh : others;
      return [keepsWorkingPod({ works: isWorking, successorWorks: successors.some(successorWorks) })];
    },
    /** A pod that has ended is no update's, but a manager that replaces it in a slot holds that slot. */
    noteDeletion: ({ uid }: PodState): void => void deletedByManager.add(uid),
    /** A surge is undone: its new pod is deleted. */
    noteUndone({ uid, node }: PodState): void {
      const surge = executed.get(node)?.get(state.rollout);
      if (surge?.kind === 'surge' && surge.uid !== uid) executed.delete(node);
    },
    /** The present rollout owes the node an update, whatever was executed there. */
    owes: (node: string): void => void executed.delete(node),
    /**
     * The pod was as it is here, and has changed. That it ends, or is deleted by somebody else, lets one further update of its node
     * pass: the pod in its place may be an old one again, as of a partition or of a controller that did not know the template yet.
     * Not so while another pod there is not the one that was to be updated: it is what the update has brought.
     */
    noteChange(before: PodState, isTerminating: boolean): void {
      const { uid, node } = before;
      const ends = state.pods.get(uid)?.ended === true && !before.ended;
      if (!(ends || (isTerminating && !before.terminating)) || deletedByManager.has(uid)) return;
      const others = live(node).filter((other) => other.uid !== uid);
      const ofNode = executed.get(node);
      for (const [rollout, update] of ofNode ?? [])
        if (others.every((other) => isUnchanged(other, update))) ofNode?.delete(rollout);
    },
  };
};
