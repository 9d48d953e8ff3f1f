import {
  type AnyDaemonSet,
  bringsTarget,
  type Finding,
  type InvariantId,
  isLastComplete,
  policyOf,
  type Share,
  staysClosed,
} from '../../invariants/index.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { PlanState } from '../state/follow-plan.ts';
import { permittedBy } from '../updates/rules.ts';
import { keptByPlan } from './gates.ts';
import type { Knowledge } from './knowledge.ts';

const KEY = 'edgeset.io/recreate';

/** Something keeps the node from the target: for certain, and why; perhaps; or not. */
interface Kept {
  /** Its stage is closed, so that the rollout cannot be complete. */
  byStage?: boolean;
  /** Completes "on a node". */
  certainly: string | undefined;
  perhaps: boolean;
}

/** A version of the DaemonSet that its sender may have obeyed. */
const keptByVersion = (
  daemonSet: AnyDaemonSet,
  labels: readonly Readonly<Record<string, string>>[],
  { updated, eligible }: { updated: number; eligible: ReadonlySet<string> },
): Kept => {
  // A value that cannot be read lets no new revision through.
  const asks = (daemonSet.metadata?.annotations?.[KEY] ?? 'newest') !== 'newest';
  if (!asks) return { certainly: undefined, perhaps: false };
  const selector = Object.entries(daemonSet.spec?.updateStrategy?.rollingUpdate?.selector?.matchLabels ?? {});
  const excludes = labels.map((each) => selector.some(([key, value]) => each[key] !== value));
  const { partition } = policyOf(daemonSet);
  const permitted = permittedBy([partition], eligible);
  const none: Share = 0;
  const isExcluded = excludes.length > 0 && !excludes.includes(false);
  const byPartition =
    updated >= permitted ? `although the partition permits ${permitted} nodes and ${updated} run it` : undefined;
  return {
    certainly: isExcluded ? 'which the node selector excludes' : byPartition,
    perhaps: excludes.includes(true) || String(partition) !== String(none),
  };
};

export interface CreationFacts {
  hash: string;
  node: string;
  known: Knowledge;
  /** The versions of the DaemonSet that the sender may have obeyed. */
  versions: readonly AnyDaemonSet[];
  /** The sender knows that the node ran the target, or an update of it has begun: no node goes back. */
  hasTarget: boolean;
  /** Every other node is at the target: the manager may know that the rollout is complete before its status says so. */
  isRest: boolean;
  /** Nobody but a manager has deleted the ControllerRevision of this name. */
  isInHistory: (revision: string) => boolean;
}

/** G9, S14: the revision of a pod that a manager creates where there is none. */
export const createCreationRule = ({
  plan,
  state,
  check,
}: {
  plan: PlanState;
  state: ClusterState;
  check: (invariant: InvariantId) => void;
}) => {
  const keptOn = ({ node, known, versions }: Pick<CreationFacts, 'node' | 'known' | 'versions'>): Kept => {
    const byPlan = keptByPlan(plan, node, known);
    const eligible = new Set([...state.nodes.values()].flatMap((each) => (each.eligible ? [each.name] : [])));
    const isUpdated = (name: string): boolean => state.podsOn(name).some(({ hash }) => hash === state.target);
    const updated = [...eligible].filter((name) => name !== node && isUpdated(name)).length;
    const labels = known.node(node).map((each) => each.labels);
    const found = versions.map((version) => keptByVersion(version, labels, { updated, eligible }));
    const isCertain = found.length > 0 && found.every(({ certainly }) => certainly !== undefined);
    return {
      byStage: byPlan.byStage,
      certainly: byPlan.certainly[0]?.why ?? (isCertain ? found.at(-1)?.certainly : undefined),
      perhaps: byPlan.perhaps || found.some(({ perhaps }) => perhaps),
    };
  };

  return {
    /** The next pod of the node may be of an older revision. */
    mayBeHeld: (facts: Pick<CreationFacts, 'node' | 'known' | 'versions'>): boolean => keptOn(facts).perhaps,
    judge(facts: CreationFacts): Finding | undefined {
      const { hash, known, hasTarget, isRest, isInHistory } = facts;
      const { target } = state;
      if (target === undefined) return undefined;
      const { certainly, perhaps, byStage = false } = keptOn(facts);
      const statuses = known.statuses.map((status) => (status?.target?.hash === target ? status : undefined));
      const complete = statuses.flatMap((status) => status?.lastComplete?.hash ?? []);
      if (hash === target) {
        const hasOlder = statuses.every((status) => {
          const older = status?.lastComplete;
          return older !== undefined && older.hash !== target && isInHistory(older.revision);
        });
        if (certainly === undefined) return undefined;
        check('G9');
        return hasOlder && !hasTarget && (byStage || !isRest) ? staysClosed({ keptBy: certainly }) : undefined;
      }
      check('S14');
      if (!perhaps) return bringsTarget({ hash, target });
      check('G9');
      // What was last complete when the status was about another target, it no longer says.
      return statuses.includes(undefined) ? undefined : isLastComplete({ hash, lastComplete: complete });
    },
  };
};
