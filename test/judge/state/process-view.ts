import { isDeepStrictEqual } from 'node:util';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { WatchEvent } from '../../../src/kube/index.ts';
import type { RolloutPlanObject, RolloutPlanSpec } from '../../../src/words/index.ts';
import { type AnyDaemonSet, isDeletedTerminal } from '../../invariants/index.ts';
import { defaultsMs } from '../tolerances.ts';
import { conditionsOf, isPodOf, isReadyNode, type PodState, toPodState } from './cluster-state.ts';
import { PLAN_KEY, planInForce } from './follow-plan.ts';
import { createTimeline } from './timeline.ts';

export interface ObservedNode {
  ready: boolean;
  /** Since when, by the process's clock; undefined: since before the process first observed the node. */
  since: number | undefined;
  node: Node;
  /** As the process knew it before its labels, taints or conditions changed; until when by its clock. */
  earlier?: { node: Node; until: number };
}

/** What one process has received from its watches, whether it has handled it or not. */
export interface ProcessView {
  readonly nodes: ReadonlyMap<string, ObservedNode>;
  /** When it last observed that a node came, went, or changed its labels or taints, by the process's clock. */
  readonly nodesMovedAt: number;
  /** Without those that have ended and are being deleted. */
  podsOn(node: string): readonly PodState[];
  podNamed(name: string): PodState | undefined;
  /** When it last observed that a pod on the node came, went, was deleted or is of another revision, by the process's clock. */
  podsMovedAt(node: string): number;
  readonly daemonSet: AnyDaemonSet | undefined;
  /** What its rollout plan said at a time by the process's clock, if that has changed since, and what it says. */
  plansSince(at: number): readonly RolloutPlanSpec[];
  /** No watch that updates depend on has received nothing for so long that no update starts. */
  readonly isInTouch: boolean;
  /** When that was last not so, by the process's clock. */
  readonly outOfTouchAt: number;
  /** A response to the process's own call about a pod or a DaemonSet: newer than a watch that is behind. */
  applyResponse(plural: string, object: Pod | AnyDaemonSet): void;
  /** A watch that begins with a snapshot was opened. `watch` names what it selects. */
  beginSnapshot(watch: string): void;
  /** An event reached the process. */
  applyEvent(watch: string, plural: string, event: WatchEvent<object>): void;
}

const NEEDED: ReadonlySet<string> = new Set(['nodes', 'daemonsets']);
/** Needed if the DaemonSet names a plan. */
const PLANS: ReadonlySet<string> = new Set(['rolloutplans', 'clusterrolloutplans', 'rolloutapprovals']);

/** What decides which pods may run on a node. */
const placementOf = (node: Node | undefined): string =>
  JSON.stringify([node?.metadata?.uid, node?.metadata?.labels, node?.spec?.taints]);

const wasOtherwise = ({ node: before }: ObservedNode, node: Node): boolean =>
  placementOf(before) !== placementOf(node) || conditionsOf(before).join() !== conditionsOf(node).join();

/** `now` is the process's own clock. */
export const createProcessView = ({ group, name }: { group: string; name: string }, now: () => number): ProcessView => {
  const nodes = new Map<string, ObservedNode>();
  const pods = new Map<string, Map<string, PodState>>();
  const plans = new Map<string, RolloutPlanSpec>();
  /** Its rollout plan, by when that arrived. */
  const planVersions = createTimeline<RolloutPlanSpec | undefined>(undefined, isDeepStrictEqual);
  /** By watch: keys in its snapshot so far. */
  const snapshots = new Map<string, Set<string>>();
  /** By watch. */
  const heard = new Map<string, { plural: string; at: number }>();
  let daemonSet: AnyDaemonSet | undefined;
  let nodesMovedAt = Number.NEGATIVE_INFINITY;
  let outOfTouchAt = Number.NEGATIVE_INFINITY;
  /** By node. */
  const podsMovedAt = new Map<string, number>();
  /** By UID: the version of a pod in the last response. */
  const versions = new Map<string, number>();
  /** Cache; undefined: to be computed again. */
  let byNode: Map<string, PodState[]> | undefined;

  const planName = (): string | undefined => daemonSet?.metadata?.annotations?.[PLAN_KEY];
  const noteVersion = (): void => planVersions.note(plans.get(planName() ?? ''), now());
  const setDaemonSet = (next: AnyDaemonSet | undefined): void => {
    daemonSet = next;
    noteVersion();
  };
  const isOverdue = ({ plural, at }: { plural: string; at: number }): boolean =>
    now() - at > defaultsMs.inTouch && (NEEDED.has(plural) || (PLANS.has(plural) && planName() !== undefined));
  const isInTouch = (): boolean => !heard.values().some(isOverdue);

  const isOurs = ({ apiVersion, metadata }: AnyDaemonSet): boolean =>
    metadata?.name === name && (apiVersion?.startsWith(`${group}/`) ?? false);
  /** What is older than the last response has been passed. */
  const isPassed = ({ metadata }: AnyDaemonSet): boolean =>
    Number(metadata?.resourceVersion) < Number(daemonSet?.metadata?.resourceVersion);

  const tableOf = (watch: string, plural: string): Map<string, unknown> | undefined => {
    if (plural === 'nodes') return nodes;
    if (plural === 'rolloutplans') return plans;
    if (plural !== 'pods') return undefined;
    const known = pods.get(watch) ?? new Map<string, PodState>();
    pods.set(watch, known);
    return known;
  };

  /** A pod that was Ready before the first sync counts from its transition time, but never from one in the future. */
  const observedAt = (watch: string, pod: Pod): number => {
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    return snapshots.has(watch) && ready ? Math.min(now(), Date.parse(ready)) : now();
  };

  const replacePlan = (key: string, spec: RolloutPlanSpec | undefined): void => {
    if (spec) plans.set(key, spec);
    else plans.delete(key);
    noteVersion();
  };

  const putPod = (table: Map<string, unknown>, uid: string, pod: PodState): void => {
    const before = table.get(uid) as PodState | undefined;
    if (before?.node !== pod.node || before.hash !== pod.hash || before.terminating !== pod.terminating)
      podsMovedAt.set(pod.node, now());
    table.set(uid, pod);
  };

  const remove = (table: Map<string, unknown>, key: string): void => {
    const gone = table === nodes || table === plans ? undefined : (table.get(key) as PodState | undefined);
    if (gone) podsMovedAt.set(gone.node, now());
    if (table === plans) replacePlan(key, undefined);
    else if (table.delete(key) && table === nodes) nodesMovedAt = now();
  };

  return {
    nodes,
    get nodesMovedAt() {
      return nodesMovedAt;
    },
    podsOn(node) {
      if (byNode === undefined) {
        byNode = new Map();
        for (const table of pods.values())
          for (const pod of table.values()) {
            if (isDeletedTerminal(pod)) continue;
            const onNode = byNode.get(pod.node);
            if (onNode) onNode.push(pod);
            else byNode.set(pod.node, [pod]);
          }
      }
      return byNode.get(node) ?? [];
    },
    podNamed: (podName) =>
      pods
        .values()
        .flatMap((table) => table.values())
        .find((pod) => pod.name === podName),
    podsMovedAt: (node) => podsMovedAt.get(node) ?? Number.NEGATIVE_INFINITY,
    get daemonSet() {
      return daemonSet;
    },
    plansSince: (at) => planVersions.since(at).flatMap((spec) => spec ?? []),
    get isInTouch() {
      return isInTouch();
    },
    get outOfTouchAt() {
      return isInTouch() ? outOfTouchAt : now();
    },
    applyResponse(plural, object) {
      if (plural === 'daemonsets') {
        if (isOurs(object as AnyDaemonSet) && !isPassed(object as AnyDaemonSet)) setDaemonSet(object as AnyDaemonSet);
        return;
      }
      const pod = object as Pod;
      const { uid = '', resourceVersion } = pod.metadata ?? {};
      // What a watch delivered before the response may be newer.
      if (Number(resourceVersion) < (versions.get(uid) ?? 0)) return;
      byNode = undefined;
      versions.set(uid, Number(resourceVersion));
      for (const table of pods.values()) {
        const known = table.get(uid);
        if (known) putPod(table, uid, toPodState(pod, known, now()));
      }
    },
    beginSnapshot: (watch) => void snapshots.set(watch, new Set()),
    applyEvent(watch, plural, event) {
      const last = heard.get(watch);
      if (last && isOverdue(last)) outOfTouchAt = now();
      heard.set(watch, { plural, at: now() });
      if (plural === 'daemonsets' && event.type !== 'BOOKMARK') {
        const object = event.object as AnyDaemonSet;
        if (isOurs(object) && !isPassed(object)) setDaemonSet(event.type === 'DELETED' ? undefined : object);
      }
      const table = tableOf(watch, plural);
      if (!table) return;
      if (plural === 'pods') byNode = undefined;
      if (event.type === 'BOOKMARK') {
        const keys = snapshots.get(watch);
        if (!event.initialEventsEnd || !keys) return;
        snapshots.delete(watch);
        for (const key of table.keys()) if (!keys.has(key)) remove(table, key);
        return;
      }
      const { metadata } = event.object as Pod;
      const key = (plural === 'pods' ? metadata?.uid : metadata?.name) ?? '';
      if (event.type === 'DELETED' || (plural === 'pods' && !isPodOf(event.object, { group, name }))) {
        remove(table, key);
        return;
      }
      snapshots.get(watch)?.add(key);
      if (plural === 'rolloutplans')
        replacePlan(key, planInForce((event.object as RolloutPlanObject).spec, { group, name }));
      else if (plural === 'nodes') {
        const ready = isReadyNode(event.object);
        const before = nodes.get(key);
        if (placementOf(before?.node) !== placementOf(event.object)) nodesMovedAt = now();
        const since = before ? (before.ready === ready ? before.since : now()) : undefined;
        const earlier =
          before && wasOtherwise(before, event.object) ? { node: before.node, until: now() } : before?.earlier;
        nodes.set(key, { ready, since, node: event.object, ...(earlier && { earlier }) });
      } else if (Number(metadata?.resourceVersion) >= (versions.get(key) ?? 0)) {
        versions.set(key, Number(metadata?.resourceVersion));
        const known = table.get(key) as PodState | undefined;
        putPod(table, key, toPodState(event.object, known, observedAt(watch, event.object)));
      }
    },
  };
};
