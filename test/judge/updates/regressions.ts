import { isLive } from '../../invariants/index.ts';
import type { Operation } from '../../simulation/plan/plan.ts';
import type { Check, CheckContext } from '../check.ts';
import { mayHavePod } from '../state/cluster-state.ts';

/** S14: the pod of a node does not go back from the target to an old revision unless the user asks for another one. */
export const createReversalCheck = ({
  report,
  actual,
}: CheckContext): Check & {
  /** A manager that cannot know that the node reached the target creates a pod there, of the revision that the node is to keep. */
  goesBack: (node: string) => void;
} => {
  /** By node: the rollout in which it last reached the target. */
  const reached = new Map<string, string>();
  /** A node that joins, or is for the DaemonSet again, starts anew. */
  const isForOthers = (name: string): boolean => {
    const node = actual.nodes.get(name);
    return !node || !mayHavePod(actual, node, 'to stay');
  };
  return {
    goesBack: (node) => void reached.delete(node),
    onCommit({ resource, object }) {
      if (resource.plural === 'nodes' && isForOthers(object.metadata.name)) reached.delete(object.metadata.name);
      if (resource.plural !== 'pods') return;
      const { target, daemonSet } = actual;
      const node = actual.pods.get(object.metadata.uid)?.node;
      if (node === undefined || target === undefined || !daemonSet) return;
      // The revision of a new template may be recorded only after its generation is observed.
      const rollout = `${daemonSet.metadata?.uid} ${actual.rolloutOf(daemonSet)} ${target}`;
      if (reached.get(node) === rollout) report.check('S14');
      const live = actual.podsOn(node).filter(isLive);
      if (live.length === 0) return;
      if (isForOthers(node)) return;
      if (live.some(({ hash }) => hash === target)) {
        // While the old pod exists beside a new one that dies, the node has not left the old revision.
        if (live.every(({ hash }) => hash === target)) reached.set(node, rollout);
        return;
      }
      if (reached.get(node) !== rollout) return;
      report.violation('S14', `${node} was at ${target} and went back to ${live.map(({ hash }) => hash).join(', ')}`);
    },
  };
};

/** Operations on processes and links, and those that change nothing that pods depend on. */
const HARMLESS: ReadonlySet<Operation['do']> = new Set([
  'release',
  'budget',
  'pause',
  'resume',
  'call-fault',
  'crash',
  'stop',
  'continue',
  'skew',
  'cut',
  'restore',
  'lag',
  'disturb',
  'restart-api',
  'burst',
]);

/** L6: unless something happens to nodes or pods, the number of updated nodes never decreases. */
export const createProgressLossCheck = ({ report, actual }: CheckContext, works: (uid: string) => boolean): Check => {
  let disturbed = false;
  let last = { rollout: '', updated: 0 };
  return {
    onOperation(operation) {
      // A bad version takes its pods and nodes down again.
      disturbed ||= !HARMLESS.has(operation.do) || (operation.do === 'release' && operation.image.includes('--'));
    },
    onCommit({ resource }) {
      const { target, daemonSet } = actual;
      if (disturbed || resource.plural !== 'pods' || target === undefined || !daemonSet) return;
      const rollout = `${daemonSet.metadata?.uid} ${actual.rolloutOf(daemonSet)}`;
      const nodes = new Set<string>();
      for (const { uid, hash, node } of actual.pods.values()) if (hash === target && works(uid)) nodes.add(node);
      if (last.rollout === rollout) {
        report.check('L6');
        if (nodes.size < last.updated)
          report.violation(
            'L6',
            `${last.updated} nodes were at the target and available, and now only ${nodes.size} are`,
          );
      }
      last = { rollout, updated: nodes.size };
    },
  };
};
