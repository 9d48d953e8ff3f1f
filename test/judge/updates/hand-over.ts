import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isDeletedTerminal, nodeOf, podFactsOf } from '../../invariants/index.ts';
import type { Check, CheckContext } from '../check.ts';
import { isPodOf } from '../state/cluster-state.ts';

/** A pod of another DaemonSet that the selector matches. */
interface OtherPod {
  name: string;
  node: string;
  owner: string;
  labels: Readonly<Record<string, string>>;
}

/** S10: while a previous DaemonSet still owns the pod of a node, the node gets no second one. */
export const createHandOverCheck = ({ report, actual, daemonSet }: CheckContext): Check => {
  /** By UID. */
  const others = new Map<string, OtherPod>();

  const ownerOf = ({ metadata }: Pod): string | undefined => {
    const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
    const isOther = owner?.kind === 'DaemonSet' && owner.uid !== actual.daemonSet?.metadata?.uid;
    return isOther ? owner.name : undefined;
  };
  const isSelected = (labels: Readonly<Record<string, string>>): boolean => {
    const wanted = Object.entries(actual.daemonSet?.spec?.selector?.matchLabels ?? {});
    return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
  };

  return {
    onCommit({ type, resource, object }) {
      if (resource.plural !== 'pods' || object.metadata.namespace !== 'default') return;
      const pod = object as unknown as Pod;
      const owner = ownerOf(pod);
      const facts = podFactsOf(pod);
      if (type === 'DELETED' || owner === undefined || isDeletedTerminal(facts)) others.delete(facts.uid);
      else others.set(facts.uid, { name: facts.name, node: facts.node, owner, labels: pod.metadata?.labels ?? {} });
    },
    onExecuted(call) {
      const pod = call.body as Pod;
      if (call.verb !== 'create' || call.resource?.plural !== 'pods' || !isPodOf(pod, daemonSet)) return;
      report.check('S10');
      const node = nodeOf(pod);
      const other = others.values().find((each) => each.node === node && isSelected(each.labels));
      if (other)
        report.violation(
          'S10',
          `${call.process} creates a pod on ${node}, where ${other.name} of DaemonSet ${other.owner} still is`,
        );
    },
  };
};
