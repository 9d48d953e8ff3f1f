import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Call } from '../network/call.ts';
import type { CheckContext, NodeUpdate } from './check.ts';
import { isEligible, type PodState } from './cluster-state.ts';

const HASH = 'controller-revision-hash';

const hashIn = (body: unknown): string | undefined => (body as Pod | undefined)?.metadata?.labels?.[HASH];

/** The pod that a new one begins beside: one that lives, or one of another revision that has ended and is still there. */
export const podReplacedBySurge = (pods: readonly PodState[], created: unknown): PodState | undefined => {
  const there = pods.filter(({ terminating }) => !terminating);
  return there.find(({ ended }) => !ended) ?? there.find(({ hash }) => hash !== hashIn(created));
};

const shuts = (body: unknown, gate: 'InPlaceUpdateReady' | 'KruisePodReady'): boolean =>
  (body as Pod | undefined)?.status?.conditions?.some(({ type, status }) => type === gate && status === 'False') ??
  false;

/** The pod is taken out of service, or said to be its user's controller's: it is on its way out. */
const prepares = (body: unknown): boolean =>
  (body as Pod | undefined)?.metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete' ||
  shuts(body, 'KruisePodReady');

/** Tells which writes to pods are acts. */
export const createWriteClassifier = ({
  actual,
  daemonSet,
  viewOf,
}: Pick<CheckContext, 'actual' | 'daemonSet' | 'viewOf'>) => {
  /**
   * They take a pod from a node that the DaemonSet was not for, as their sender was told. No act of a rollout, also where
   * it is for the node again when they arrive: Kubernetes has no precondition on another object to refuse them by.
   */
  const removals = new WeakSet<Call>();
  const isAdvanced = daemonSet.group !== 'apps';

  return {
    /** A process sends a call about a pod that it was told of. */
    onSend(call: Call, { node }: PodState): void {
      const view = viewOf(call.process);
      const seen = view.nodes.get(node)?.node;
      const isTheirs = seen !== undefined && isEligible(seen, view.daemonSet);
      if (isAdvanced && view.daemonSet && !isTheirs) removals.add(call);
    },
    /** What a write to a pod is to a rollout; undefined: none of its business. */
    of(call: Call, pod: PodState): Exclude<NodeUpdate['kind'], 'surge'> | 'delete-surged-out' | undefined {
      if (call.verb === 'delete' || prepares(call.body)) {
        // A pod that has ended, or that no node wants, is taken away in any case, and so are those of a DaemonSet that goes.
        const goes = actual.daemonSet?.metadata?.deletionTimestamp != null || removals.has(call);
        if (goes || pod.ended || pod.terminating || !actual.nodes.get(pod.node)?.eligible) return undefined;
        const beside = actual
          .podsOn(pod.node)
          .some(({ uid, terminating, ended }) => uid !== pod.uid && !terminating && !ended);
        return beside ? 'delete-surged-out' : call.verb === 'delete' ? 'delete' : 'prepare';
      }
      const hash = hashIn(call.body);
      return shuts(call.body, 'InPlaceUpdateReady') || (hash !== undefined && hash !== pod.hash)
        ? 'in-place'
        : undefined;
    },
  };
};
