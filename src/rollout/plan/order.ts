import type { Phase } from '../../words/index.ts';
import type { Predecessor } from '../policy/plan-terms.ts';

/** What the order of updates depends on; undefined: the rollout has nothing to do with the node. */
interface InPhase {
  readonly phase: Phase | undefined;
}

/** Another DaemonSet's rollout, as far as the order of updates depends on it. */
export interface Preceding {
  statusOf: (node: string) => InPhase | undefined;
  /** Status and completeness are about its present template. Until the revision of a new one is known, they are not. */
  isCurrent: () => boolean;
  /** Its rollout is complete. */
  isComplete: () => boolean;
  /** Something about it cannot be computed: status and completeness may be those of before. */
  isUnknown: () => boolean;
}

/** The first DaemonSet whose update comes before the one of this node, for people; undefined: it need not wait. */
export const waitsFor = (
  predecessors: readonly Predecessor[],
  find: (predecessor: Predecessor) => Preceding | undefined,
  node: string,
): string | undefined => {
  for (const predecessor of predecessors) {
    const { name, scope } = predecessor;
    const preceding = find(predecessor);
    if (!preceding) return `${name} (which does not exist, or is not managed)`;
    if (preceding.isUnknown()) return `${name} (about which something cannot be computed)`;
    if (scope === 'Rollout') {
      if (!preceding.isCurrent() || !preceding.isComplete()) return `${name} (its whole rollout)`;
      continue;
    }
    // A node that it does not run on need not wait for it.
    const phase = preceding.statusOf(node)?.phase;
    const isUpdated = phase === 'updated' && preceding.isCurrent();
    if (phase !== undefined && !isUpdated) return name;
  }
  return undefined;
};

/** Does this node's status matter to those that wait for it in another way than before? */
export const changesOrder = (before: InPhase, after: InPhase): boolean =>
  (before.phase === 'updated') !== (after.phase === 'updated') ||
  (before.phase === undefined) !== (after.phase === undefined);
