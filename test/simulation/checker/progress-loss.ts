import type { Operation } from '../plan/plan.ts';
import type { Check, CheckContext } from './check.ts';

/** What is done to processes and the way between them, or changes nothing that pods live on. */
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

/** L6: as long as nothing is done to nodes and pods, the number of nodes at the target does not fall. */
export const createProgressLossCheck = ({ report, actual }: CheckContext, works: (uid: string) => boolean): Check => {
  let disturbed = false;
  let last = { rollout: '', updated: 0 };
  return {
    onOperation(operation) {
      // A bad version takes its pods, and nodes, down again.
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
          report.violation('L6', `${last.updated} nodes were at the target and available, and now ${nodes.size} are`);
      }
      last = { rollout, updated: nodes.size };
    },
  };
};
