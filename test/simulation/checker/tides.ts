import type { Deed } from '../plan.ts';
import type { Court, Judge } from './judge.ts';

/** What is done to processes and the way between them, or changes nothing that pods live on. */
const HARMLESS: ReadonlySet<Deed['do']> = new Set([
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
export const createTidesJudge = ({ report, truth }: Court, works: (uid: string) => boolean): Judge => {
  let disturbed = false;
  let last = { rollout: '', updated: 0 };
  return {
    deed(deed) {
      // A bad version takes its pods, and nodes, down again.
      disturbed ||= !HARMLESS.has(deed.do) || (deed.do === 'release' && deed.image.includes('--'));
    },
    commit({ resource }) {
      const { target, daemonSet } = truth;
      if (disturbed || resource.plural !== 'pods' || target === undefined || !daemonSet) return;
      const rollout = `${daemonSet.metadata?.uid} ${truth.rolloutOf(daemonSet)}`;
      const nodes = new Set<string>();
      for (const { uid, hash, node } of truth.pods.values()) if (hash === target && works(uid)) nodes.add(node);
      if (last.rollout === rollout) {
        report.check('L6');
        if (nodes.size < last.updated)
          report.breach('L6', `${last.updated} nodes were at the target and available, and now ${nodes.size} are`);
      }
      last = { rollout, updated: nodes.size };
    },
  };
};
