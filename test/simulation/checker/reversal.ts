import type { Check, CheckContext } from './check.ts';

/** S14: the pod of a node does not go from the target back to an old revision while nobody asks for another one. */
export const createReversalCheck = ({ report, actual }: CheckContext): Check => {
  /** Nodes that have come to the target, by the rollout in which they did. */
  const reached = new Map<string, string>();
  return {
    onCommit({ resource, object, type }) {
      if (resource.plural === 'nodes' && type === 'DELETED') reached.delete(object.metadata.name);
      if (resource.plural !== 'pods') return;
      const { target, daemonSet } = actual;
      const node = actual.pods.get(object.metadata.uid)?.node;
      if (node === undefined || target === undefined || !daemonSet) return;
      // What a new template asks for may be recorded later than its generation is observed.
      const rollout = `${daemonSet.metadata?.uid} ${actual.rolloutOf(daemonSet)} ${target}`;
      if (reached.get(node) === rollout) report.check('S14');
      const live = actual.podsOn(node).filter(({ terminating, ended }) => !terminating && !ended);
      if (live.length === 0) return;
      if (live.some(({ hash }) => hash === target)) {
        // Beside a new pod that dies the old one was never gone.
        if (live.every(({ hash }) => hash === target)) reached.set(node, rollout);
        return;
      }
      if (reached.get(node) !== rollout) return;
      report.violation('S14', `${node} was at ${target} and is at ${live.map(({ hash }) => hash).join(', ')} again`);
    },
  };
};
