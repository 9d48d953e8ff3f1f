import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  hasCondition,
  hashIn,
  IN_PLACE_GATE,
  isLive,
  isPreparingDelete,
  LIFECYCLE_GATE,
} from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext, NodeUpdate } from '../check.ts';
import { isEligible, type PodState } from './cluster-state.ts';

/** The pod beside which a pod is created: one that lives, or one of another revision that has ended and still exists. */
export const podReplacedBySurge = (pods: readonly PodState[], created: unknown): PodState | undefined => {
  const present = pods.filter(({ terminating }) => !terminating);
  return present.find(({ ended }) => !ended) ?? present.find(({ hash }) => hash !== hashIn(created as Pod));
};

const closes = (body: unknown, gate: string): boolean => hasCondition(body as Pod | undefined, gate, 'False');

/** The pod is taken out of service, or its preDelete hook is called: it is about to be deleted. */
const prepares = (body: unknown): boolean => isPreparingDelete(body as Pod | undefined) || closes(body, LIFECYCLE_GATE);

/** Tells which writes to pods are updates. */
export const createWriteClassifier = ({
  actual,
  daemonSet,
  viewOf,
}: Pick<CheckContext, 'actual' | 'daemonSet' | 'viewOf'>) => {
  /**
   * Calls that remove a pod from a node that was not eligible when the call was sent. They are not updates even if the node
   * is eligible again when they arrive: Kubernetes has no precondition on another object to refuse them by.
   */
  const removals = new WeakSet<Call>();
  const isAdvanced = daemonSet.group !== 'apps';

  return {
    /** A process sends a call about a pod that it has observed. */
    onSend(call: Call, { node }: PodState): void {
      const view = viewOf(call.process);
      const known = view.nodes.get(node)?.node;
      const isTheirs = known !== undefined && isEligible(known, view.daemonSet);
      if (isAdvanced && view.daemonSet && !isTheirs) removals.add(call);
    },
    /** What a write to a pod means for a rollout; undefined: nothing. */
    kindOf(call: Call, pod: PodState): Exclude<NodeUpdate['kind'], 'surge'> | 'delete-surged-out' | undefined {
      if (call.verb === 'delete' || prepares(call.body)) {
        // Pods that have ended, on nodes that are not eligible, or of a deleted DaemonSet are removed in any case.
        const isRemoval = actual.daemonSet?.metadata?.deletionTimestamp != null || removals.has(call);
        if (isRemoval || pod.ended || pod.terminating || !actual.nodes.get(pod.node)?.eligible) return undefined;
        const hasOther = actual.podsOn(pod.node).some((other) => other.uid !== pod.uid && isLive(other));
        return hasOther ? 'delete-surged-out' : call.verb === 'delete' ? 'delete' : 'prepare';
      }
      const hash = hashIn(call.body as Pod | undefined);
      return closes(call.body, IN_PLACE_GATE) || (hash !== undefined && hash !== pod.hash) ? 'in-place' : undefined;
    },
  };
};
