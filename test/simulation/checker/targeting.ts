import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../network/call.ts';
import { type ClusterState, isEligible, nodeOf, type PodState } from './cluster-state.ts';
import type { ProcessView } from './process-view.ts';
import type { Report } from './report.ts';
import type { AnyDaemonSet } from './terms.ts';

export interface TargetingOptions {
  report: Report;
  actual: ClusterState;
  /** True time, epoch ms. */
  now: () => number;
  viewOf: (process: string) => ProcessView;
  /** Nodes in flight, by the cluster's own state. */
  inFlight: () => Iterable<string>;
}

/** Whom the user lets be updated. */
interface Targets {
  manual: boolean;
  /** At most so many nodes may be at the target, those under way included. */
  places: number;
  /** By name: may be updated, so far as the node selector goes. */
  selected: ReadonlySet<string>;
  progressive: boolean;
}

/** A pod that came to be so short ago may not be in what has been decided already. */
const SLACK_MS = 1_000;

const KRUISE = 'daemonset.kruise.io/progressive-create-pod';

/** Nodes that are left on the old revision; a percent is rounded down. */
const kept = (partition: number | string, eligible: number): number => {
  const text = String(partition);
  return text.endsWith('%') ? Math.floor((Number(text.slice(0, -1)) * eligible) / 100) : Number(text);
};

/** Of the form that the simulation writes: equality alone. */
const wantedLabels = ({ apiVersion, metadata, spec }: AnyDaemonSet): [key: string, value: string][] => {
  if (apiVersion !== 'apps/v1') return Object.entries(spec?.updateStrategy?.rollingUpdate?.selector?.matchLabels ?? {});
  const text = metadata?.annotations?.['edgeset.io/node-selector'];
  const [key = '', value = ''] = text?.split('=') ?? [];
  return text === undefined ? [] : [[key, value]];
};

const targetsOf = (daemonSet: AnyDaemonSet, view: ProcessView): Targets => {
  const { apiVersion, metadata, spec } = daemonSet;
  const annotations = metadata?.annotations ?? {};
  const native = apiVersion === 'apps/v1';
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  const partition = native ? annotations['edgeset.io/partition'] : rollingUpdate?.partition;
  const eligible = [...view.nodes].filter(([, { node }]) => isEligible(node, daemonSet));
  const labels = wantedLabels(daemonSet);
  return {
    manual: native ? annotations['apps.openyurt.io/update-strategy'] === undefined : type === 'OnDelete',
    places: eligible.length - kept(partition ?? 0, eligible.length),
    selected: new Set(
      eligible.flatMap(([name, { node }]) =>
        labels.every(([key, value]) => node.metadata?.labels?.[key] === value) ? [name] : [],
      ),
    ),
    progressive: spec?.scaleStrategy?.partitionedScaling === true || annotations[KRUISE] === 'true',
  };
};

/**
 * S9 for whom an update may reach: nobody outside of the node selector, beyond the partition, or where whoever deletes pods
 * updates them. Judged by what the process had been told when it sent the call, and by the acts that had begun when it was
 * carried out.
 */
export const createTargetingCheck = ({ report, actual, now, viewOf, inFlight }: TargetingOptions) => {
  const { violation, check } = report;
  const scopes = new WeakMap<Call, Targets>();
  /** When pods were created, by UID. */
  const born = new Map<string, number>();
  /** By node: when a pod there began to go, or was gone. */
  const left = new Map<string, number>();

  const counts = ({ uid, terminating }: PodState): boolean => !terminating && now() - (born.get(uid) ?? 0) > SLACK_MS;
  /** Nodes that are at this revision, by all that is known; those with a pod that goes do not count. */
  const at = (view: ProcessView, hash: string | undefined): Set<string> => {
    const names = new Set<string>();
    for (const [name, { node }] of view.nodes)
      if (isEligible(node, view.daemonSet) && view.podsOn(name).some((pod) => pod.hash === hash && counts(pod)))
        names.add(name);
    return names;
  };

  /** Nodes that have no pod any more, by all that is known: what comes there next is of the target. */
  const vacant = (view: ProcessView): string[] =>
    [...view.nodes].flatMap(([name, { node }]) => {
      const since = left.get(name);
      const isVacant = since !== undefined && now() - since > SLACK_MS && isEligible(node, view.daemonSet);
      const lives = (pod: PodState): boolean => !pod.terminating;
      return isVacant && !view.podsOn(name).some(lives) && !actual.podsOn(name).some(lives) ? [name] : [];
    });

  return {
    commit({ type, resource, object, previous }: Change): void {
      if (resource.plural !== 'pods') return;
      const { uid, deletionTimestamp } = object.metadata;
      const beginsToGo = deletionTimestamp != null && previous?.metadata.deletionTimestamp == null;
      if (type === 'DELETED' || beginsToGo) left.set(nodeOf(object as unknown as Pod), now());
      if (type === 'ADDED') born.set(uid, now());
      else if (type === 'DELETED') born.delete(uid);
    },
    /** A process sends a call. */
    leaves(call: Call): void {
      const view = viewOf(call.process);
      if (view.daemonSet) scopes.set(call, targetsOf(view.daemonSet, view));
    },
    /** An update of the pod on a node is about to begin. Returns what to do once it has. */
    begins(call: Call, pod: PodState, what: string): () => void {
      const scope = scopes.get(call);
      const view = viewOf(call.process);
      const found: string[] = [];
      if (!scope || pod.hash === actual.target) return () => undefined;
      check('S9');
      if (scope.manual) found.push(`${what}, whose updates are made by hand`);
      if (!scope.selected.has(pod.node)) found.push(`${what}, which the selector leaves out`);
      const taken = at(view, actual.target);
      for (const name of [...inFlight(), ...vacant(view)]) taken.add(name);
      if (!taken.delete(pod.node)) {
        const before = [...scope.selected].filter((name) => name > pod.node && !taken.has(name)).length;
        if (taken.size + before >= scope.places)
          found.push(
            `${what}, beyond the partition: ${scope.places} may be updated, ${taken.size} are, ${before} come before it`,
          );
      }
      return () => {
        for (const text of found) violation('S9', text);
      };
    },
    /** A pod is about to be created where there is none. */
    creates(call: Call, node: string, what: string): () => void {
      const scope = scopes.get(call);
      if (!scope?.progressive) return () => undefined;
      check('S9');
      const hash = (call.body as Pod).metadata?.labels?.['controller-revision-hash'];
      const carrying = new Set<string>();
      for (const pod of actual.pods.values())
        if (pod.hash === hash && !pod.terminating && pod.node !== node && actual.nodes.get(pod.node)?.eligible)
          carrying.add(pod.node);
      return () => {
        if (carrying.size >= scope.places)
          violation('S9', `${what} beside ${carrying.size} others, of which the partition lets ${scope.places} be`);
      };
    },
  };
};
