import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../embedded/index.ts';
import {
  type AnyDaemonSet,
  type Finding,
  hashIn,
  isNative,
  nodeOf,
  obeysControls,
  policyOf,
  type Share,
  withinPartition,
} from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext } from '../check.ts';
import { isEligible, type PodState } from '../state/cluster-state.ts';
import type { ProcessView } from '../state/process-view.ts';
import { tolerances } from '../tolerances.ts';
import { permittedBy, staysWithinPartition } from './rules.ts';

export interface TargetingOptions extends Pick<CheckContext, 'report' | 'actual' | 'now' | 'viewOf'> {
  /** Nodes with an update in flight, by the actual state. */
  inFlight: () => Iterable<string>;
  /** The update on a node has taken its pod out of service, or let its hook have its turn, and has changed nothing else. */
  isOnlyBegun: (node: string) => boolean;
  /** The next pod of the node may be of an older revision, by what the sender knows. */
  mayBeHeld: (call: Call, node: string) => boolean;
}

/** The nodes that the user permits to be updated. */
interface Targets {
  partition: Share;
  /** Nodes that were to have a pod when the call was sent: one that joined since takes no place of its. */
  eligible: ReadonlySet<string>;
  /** Nodes that the node selector includes. */
  selected: ReadonlySet<string>;
  progressive: boolean;
}

const PROGRESSIVE = 'daemonset.kruise.io/progressive-create-pod';

/** In the form that the simulation writes: equality only. */
const selectorOf = (daemonSet: AnyDaemonSet): [key: string, value: string][] => {
  if (!isNative(daemonSet))
    return Object.entries(daemonSet.spec?.updateStrategy?.rollingUpdate?.selector?.matchLabels ?? {});
  const text = daemonSet.metadata?.annotations?.['edgeset.io/node-selector'];
  const [key = '', value = ''] = text?.split('=') ?? [];
  return text === undefined ? [] : [[key, value]];
};

const targetsOf = (daemonSet: AnyDaemonSet, view: ProcessView): Targets => {
  const { partition } = policyOf(daemonSet);
  const eligible = [...view.nodes].filter(([, { node }]) => isEligible(node, daemonSet));
  const labels = selectorOf(daemonSet);
  return {
    eligible: new Set(eligible.map(([name]) => name)),
    partition,
    selected: new Set(
      eligible.flatMap(([name, { node }]) =>
        labels.every(([key, value]) => node.metadata?.labels?.[key] === value) ? [name] : [],
      ),
    ),
    progressive:
      daemonSet.spec?.scaleStrategy?.partitionedScaling === true ||
      daemonSet.metadata?.annotations?.[PROGRESSIVE] === 'true',
  };
};

/**
 * S9 for the nodes that an update may reach: none outside of the node selector, beyond the partition, or with manual updates.
 * Checked against what the sender had observed, and against the updates that had begun when the call was executed.
 */
export const createTargetingCheck = ({
  report,
  actual,
  now,
  viewOf,
  inFlight,
  isOnlyBegun,
  mayBeHeld,
}: TargetingOptions) => {
  const { check } = report;
  const targets = new WeakMap<Call, Targets>();
  /** When pods were created, by UID. */
  const createdAt = new Map<string, number>();
  /** By node: when a pod there began to terminate, or was deleted. */
  const leftAt = new Map<string, number>();
  /** By node with an update that was taken for given up when another one began: when that first happened. */
  const givenUp = new Map<string, number>();

  const isKnown = ({ uid, terminating }: PodState): boolean =>
    !terminating && now() - (createdAt.get(uid) ?? 0) > tolerances.decision.ms;
  /** Nodes with a pod of this revision that does not terminate. */
  const nodesAt = (view: ProcessView, hash: string | undefined): Set<string> => {
    const names = new Set<string>();
    for (const [name, { node }] of view.nodes)
      if (isEligible(node, view.daemonSet) && view.podsOn(name).some((pod) => pod.hash === hash && isKnown(pod)))
        names.add(name);
    return names;
  };

  /** Nodes that have lost their pod, and whose next pod is of the target revision. */
  const vacantNodes = (view: ProcessView, call: Call): string[] =>
    [...view.nodes].flatMap(([name, { node }]) => {
      const since = leftAt.get(name);
      const isVacant =
        since !== undefined && now() - since > tolerances.decision.ms && isEligible(node, view.daemonSet);
      const stays = (pod: PodState): boolean => !pod.terminating;
      return isVacant && !view.podsOn(name).some(stays) && !actual.podsOn(name).some(stays) && !mayBeHeld(call, name)
        ? [name]
        : [];
    });

  return {
    onCommit({ type, resource, object, previous }: Change): void {
      if (resource.plural !== 'pods') return;
      const { uid, deletionTimestamp } = object.metadata;
      const beginsToTerminate = deletionTimestamp != null && previous?.metadata.deletionTimestamp == null;
      if (type === 'DELETED' || beginsToTerminate) leftAt.set(nodeOf(object as unknown as Pod), now());
      if (type === 'ADDED') createdAt.set(uid, now());
      else if (type === 'DELETED') createdAt.delete(uid);
    },
    onSend(call: Call): void {
      const view = viewOf(call.process);
      if (view.daemonSet) targets.set(call, targetsOf(view.daemonSet, view));
    },
    /** An update of the pod on a node begins. Returns what to run once it was executed. */
    begin(call: Call, pod: PodState, what: string): () => void {
      const permitted = targets.get(call);
      if (!permitted || pod.hash === actual.target) return () => undefined;
      check('S9');
      const found: (Finding | undefined)[] = obeysControls({ notSelected: !permitted.selected.has(pod.node) });
      const view = viewOf(call.process);
      const updated = nodesAt(view, actual.target);
      // Its pod is put back, perhaps with the next write, because the selector or the partition no longer includes it.
      const isGivenUp = (name: string): boolean =>
        isOnlyBegun(name) && (!permitted.selected.has(name) || name < pod.node);
      for (const name of givenUp.keys()) if (!isOnlyBegun(name)) givenUp.delete(name);
      for (const name of [...inFlight(), ...vacantNodes(view, call)]) {
        const since = givenUp.get(name) ?? now();
        if (isGivenUp(name) && now() - since < tolerances.givenUp.ms) givenUp.set(name, since);
        else updated.add(name);
      }
      // What continues after all is counted as what begins.
      if (givenUp.has(pod.node)) updated.delete(pod.node);
      const { eligible, selected, partition } = permitted;
      found.push(
        staysWithinPartition({ node: pod.node, updated, eligible, inOrder: selected, partitions: [partition] }),
      );
      return () => {
        givenUp.delete(pod.node);
        for (const each of found) report.finding(each, what);
      };
    },
    /** A pod is created on a node that has none. */
    beginCreation(call: Call, node: string, what: string): () => void {
      const permitted = targets.get(call);
      if (!permitted?.progressive) return () => undefined;
      check('S9');
      const hash = hashIn(call.body as Pod);
      // A pod of an older revision takes no place among those of the newest: G9.
      if (hash !== actual.target && mayBeHeld(call, node)) return () => undefined;
      const nodes = new Set<string>();
      for (const pod of actual.pods.values())
        if (pod.hash === hash && !pod.terminating && pod.node !== node && actual.nodes.get(pod.node)?.eligible)
          nodes.add(pod.node);
      const limit = permittedBy([permitted.partition], permitted.eligible);
      const found = withinPartition({ updated: nodes.size, permitted: limit });
      return () => report.finding(found, what);
    },
  };
};
