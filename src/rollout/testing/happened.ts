import { type VirtualClock } from '../../runtime/index.ts';
import type { NodeFacts, PodFacts } from '../facts/types.ts';
import { type IntOrPercent, resolve } from '../policy/int-or-percent.ts';
import type { Act } from '../record/record.ts';
import type { ModelCluster } from './model-cluster.ts';

interface TrueAct {
  uid: string;
  rollout: number;
  kind: Act['kind'];
}

/** How many nodes a share of so many is. */
export const slots = (share: IntOrPercent, total: number): number =>
  share.value === 0 ? 0 : Math.max(1, resolve(share, total, 'up'));

export interface HappenedOptions {
  time: VirtualClock;
  cluster: ModelCluster;
  /** The longest that a change was on its way to a process so far, ms. */
  lagMs: () => number;
}

/** Follows what is true of the cluster: on which nodes acts have not healed, and what others did to them. */
export const followModel = ({ time, cluster, lagMs }: HappenedOptions) => {
  const acts = new Map<string, TrueAct>();
  const everActedOn = new Set<string>();
  /** Nodes whose pod came from a rollout without an act of ours, by when: such a node is a suspect like any other. */
  const broughtAt = new Map<string, number>();
  const onlineSince = new Map<string, number>();
  const budgets: { at: number; budget: number }[] = [];
  /** By node: the pod that was changed in place last, and in which rollout. */
  const changedOn = new Map<string, { uid: string; rollout: number; at: number }>();
  /** Nodes with an old pod that is not available and that nobody tends: since when not any more, 0 while they have it. */
  const neglected = new Map<string, number>();
  /** Pods that a process sent away because another one took over from them. */
  const retired = new Set<string>();
  /** Pods as they were last, also those that are gone. */
  const lastSeen = new Map<string, PodFacts>();
  /** By node: when others took its new pod out of service, and from when on that would have been available. */
  const disturbed = new Map<string, { at: number; availableAt: number }>();

  const surging = (): boolean => cluster.spec.policy.maxSurge.value > 0;
  const liveOn = (name: string): PodFacts[] => cluster.podsOn(name).filter(({ terminating }) => !terminating);
  const works = (pod: PodFacts): boolean =>
    pod.ready && time.now() - pod.readyChangedAt >= cluster.spec.policy.minReadyMs;
  const isAvailable = (name: string): boolean => {
    if (surging()) return liveOn(name).some(works);
    const [pod, ...others] = cluster.podsOn(name);
    return pod !== undefined && others.length === 0 && !pod.terminating && works(pod);
  };
  const heal = (name: string): void => {
    const act = acts.get(name);
    if (!act) return;
    const node = cluster.nodes.get(name);
    const other =
      act.kind === 'surge' ? liveOn(name).length === 1 : act.kind || cluster.podsOn(name)[0]?.uid !== act.uid;
    const healed = node?.facts.ready && isAvailable(name) && other;
    if (!node?.facts.eligible || healed) acts.delete(name);
  };
  const noteBudget = (): void => {
    let online = 0;
    for (const { facts } of cluster.nodes.values()) if (facts.ready && facts.eligible) online += 1;
    const budget = slots(surging() ? cluster.spec.policy.maxSurge : cluster.spec.policy.maxUnavailable, online);
    if (budgets.at(-1)?.budget !== budget) budgets.push({ at: time.now(), budget });
  };
  /** The largest budget that was in force since `from`. */
  const largestBudget = (from: number): number => {
    let largest = 0;
    for (let index = budgets.length - 1; index >= 0; index -= 1) {
      const each = budgets[index];
      if (!each) break;
      largest = Math.max(largest, each.budget);
      if (each.at <= from) break;
    }
    return largest;
  };

  const noteNeglect = (name: string): void => {
    const [pod, ...others] = surging() ? liveOn(name) : cluster.podsOn(name);
    const old =
      pod !== undefined && others.length === 0 && !pod.terminating && pod.revision !== cluster.spec.target.hash;
    if (old && !isAvailable(name)) neglected.set(name, 0);
    else if (neglected.get(name) === 0) neglected.set(name, time.now());
  };
  const noteDisturbance = (pod: PodFacts, gone: boolean): void => {
    const before = lastSeen.get(pod.uid);
    lastSeen.set(pod.uid, pod);
    if (!before?.ready || before.terminating || acts.get(pod.node)?.uid === pod.uid) return;
    if (retired.has(pod.uid)) return;
    if (pod.ready && !pod.terminating && !gone) return;
    const availableAt = before.readyChangedAt + cluster.spec.policy.minReadyMs;
    disturbed.set(pod.node, { at: time.now(), availableAt });
  };
  const note = (name: string, facts: NodeFacts | undefined): void => {
    const brought = broughtAt.get(name) ?? Number.NEGATIVE_INFINITY;
    if (facts && !facts.ready && onlineSince.has(name))
      if (time.now() - brought <= cluster.spec.policy.suspectWindowMs + lagMs()) everActedOn.add(name);
    if (!facts?.ready) onlineSince.delete(name);
    else if (!onlineSince.has(name)) onlineSince.set(name, time.now());
    heal(name);
    noteBudget();
  };
  for (const [name, { facts }] of cluster.nodes) note(name, facts);
  cluster.listen((change) => {
    if (change.stream === 'nodes') note(change.node.name, change.gone ? undefined : change.node);
    else if (change.stream === 'spec') {
      noteBudget();
      for (const name of cluster.nodes.keys()) noteNeglect(name);
    } else {
      const { pod, gone } = change;
      const { number, hash } = cluster.spec.target;
      if (number > 1 && !gone && pod.revision === hash && !lastSeen.has(pod.uid)) broughtAt.set(pod.node, time.now());
      noteDisturbance(pod, gone);
      noteNeglect(change.pod.node);
      heal(change.pod.node);
      if (change.pod.ready) time.timer(cluster.spec.policy.minReadyMs, () => heal(change.pod.node));
    }
  });

  /** Changed in place, not available for longer than the deadline, and waiting for a new pod in its own slot. */
  const isStuck = (name: string, from: number): boolean => {
    const last = changedOn.get(name);
    const deadlineMs = cluster.spec.policy.progressDeadlineMs;
    return (
      acts.get(name)?.kind === 'in-place' && last !== undefined && time.now() - last.at >= deadlineMs && last.at < from
    );
  };

  /** Other nodes that were in flight, as far as anybody could know who acts on this one. */
  const othersInFlight = (node: string, rollout: number, from: number): string[] => {
    // A healed act is in flight again where the node fell away after it and came back broken.
    const own = everActedOn.has(node);
    const others: string[] = [];
    for (const [name, act] of acts) {
      const since = onlineSince.get(name);
      // A suspect that came back unseen may exceed the budget for a while.
      if (name === node || since === undefined || since > from) continue;
      // What others do to a new pod just before it is available is told by a watch only.
      const loss = disturbed.get(name);
      if (loss && loss.at > from && loss.availableAt <= time.now()) continue;
      // A node that an older version broke is repaired in its own slot: others that wait for it are not in its way.
      const tended = neglected.get(name);
      if (own && act.rollout !== rollout && (tended === 0 || (tended ?? 0) > from)) continue;
      if (own && isStuck(name, from)) continue;
      others.push(name);
    }
    return others;
  };

  return {
    acts,
    changedOn,
    retired,
    surging,
    liveOn,
    isAvailable,
    largestBudget,
    othersInFlight,
    /** An act began: the node's pod is out of service by us, or it gets another one. */
    acted(node: string, { podUid: uid, rollout, kind }: Act): void {
      everActedOn.add(node);
      acts.set(node, { uid, rollout, kind });
    },
    /** Nobody else took it out of service. */
    undisturbed: (node: string): boolean => disturbed.delete(node),
  };
};
