import type { Decision } from '../decide.ts';
import type { NodeFacts, PodFacts } from '../facts.ts';
import { type IntOrPercent, resolve } from '../int-or-percent.ts';
import type { Act } from '../record.ts';
import type { ModelCluster, Spec } from './model-cluster.ts';
import type { Driver, RawView, Witness } from './model-driver.ts';
import type { VirtualTime } from './virtual-time.ts';

interface TrueAct {
  uid: string;
  rollout: number;
  kind: Act['kind'];
}

export interface CheckerOptions {
  time: VirtualTime;
  cluster: ModelCluster;
  /** The longest that a change was on its way to a process so far, ms. */
  lagMs: () => number;
}

/** What the cluster went through, by the truth. */
export interface Account {
  acts: number;
  writes: number;
  lastWriteAt: number;
  completions: number;
  mostInFlight: number;
  actsOf: Map<string, number>;
}

const slots = (share: IntOrPercent, total: number): number =>
  share.value === 0 ? 0 : Math.max(1, resolve(share, total, 'up'));

/**
 * Holds a run against spec/invariants: what is true of the cluster from the cluster's own state, and what speaks of a
 * process's view from what the watches had delivered to it. It shares no rule with the core. Throws at the first breach.
 */
export const createChecker = ({ time, cluster, lagMs }: CheckerOptions) => {
  const acts = new Map<string, TrueAct>();
  const everActedOn = new Set<string>();
  /** Nodes whose pod came from a rollout without an act of ours, by when: such a node is a suspect like any other. */
  const broughtAt = new Map<string, number>();
  const onlineSince = new Map<string, number>();
  const budgets: { at: number; budget: number }[] = [];
  const done = new Map<string, number>();
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
  /** Reservations that were one too many by the view they were made on, by process: no act begins unless it is written. */
  const excessive = new Map<Driver, { node: string; act: Act | undefined; text: string }[]>();
  /** By pod: from when on what happened may have been unknown to who sent its delete. */
  const knownUntil = new Map<string, number>();
  const account: Account = {
    acts: 0,
    writes: 0,
    lastWriteAt: 0,
    completions: 0,
    mostInFlight: 0,
    actsOf: new Map(),
  };

  const breach = (rule: string, text: string): never => {
    throw new Error(`${rule} broken at ${time.now()}: ${text}`);
  };

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
      if (change.pod.ready) time.after(cluster.spec.policy.minReadyMs, () => heal(change.pod.node));
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

  /** S1 and S3: how many other nodes were in flight, as far as anybody could know. */
  const checkInFlight = (node: string, rollout: number, from: number): void => {
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
    account.mostInFlight = Math.max(account.mostInFlight, others.length + 1);
    const budget = largestBudget(from);
    if (others.length >= budget) breach('S1', `act on ${node} beside ${others.join(' ')} in flight, budget ${budget}`);
  };

  const seenPods = (view: RawView, name: string): { facts: PodFacts; readySince: number }[] =>
    [...view.pods.values()].filter(({ facts }) => facts.node === name);
  const seenSpec = (view: RawView): Spec => view.spec ?? breach('S8', 'an act before the DaemonSet was seen');
  const seenAvailable = (view: RawView, name: string, now: number): boolean => {
    const { policy } = seenSpec(view);
    const isUp = ({ facts, readySince }: { facts: PodFacts; readySince: number }): boolean =>
      !facts.terminating && facts.ready && now - readySince >= policy.minReadyMs;
    if (policy.maxSurge.value > 0) return seenPods(view, name).some(isUp);
    const [pod, ...others] = seenPods(view, name);
    if (!pod || others.length > 0 || pod.facts.terminating || !pod.facts.ready) return false;
    return now - pod.readySince >= seenSpec(view).policy.minReadyMs;
  };
  const seenSettled = (view: RawView, name: string, now: number): boolean => {
    const node = view.nodes.get(name);
    return node !== undefined && node.facts.ready && now - node.since >= seenSpec(view).policy.settleMs;
  };

  /** Does a process keep a slot for the node? Not where another pod serves than the one that it deleted, of whatever revision. */
  const holdsSlot = ({ ledger, view, now }: Driver, name: string): boolean => {
    const act = ledger.get(name)?.act;
    if (!act) return false;
    const [pod] = seenPods(view, name);
    const replaced = act.stage === 'done' && act.kind === undefined && pod?.facts.uid !== act.podUid;
    return !(replaced && seenAvailable(view, name, now()));
  };

  /** An act takes a pod out of service. */
  const begun = (node: string, act: Act, pod: PodFacts): void => {
    checkInFlight(node, act.rollout, knownUntil.get(act.podUid) ?? 0);
    if (pod.uid !== act.podUid || pod.node !== node) breach('S5', `${pod.name} was not what was reserved`);
    everActedOn.add(node);
    acts.set(node, { uid: act.podUid, rollout: act.rollout, kind: act.kind });
    // That was us.
    disturbed.delete(node);
  };
  const carriedOut = (node: string, act: Act): void => {
    const key = `${node}/${act.rollout}`;
    const before = done.get(key) ?? 0;
    const last = changedOn.get(node);
    const anew = act.kind === undefined && last?.uid === act.podUid && last.rollout === act.rollout;
    if (before > (anew ? 1 : 0)) breach('S6', `one act too many on ${node} in rollout ${act.rollout}`);
    done.set(key, before + 1);
    account.acts += 1;
    const { hash } = cluster.spec.target;
    account.actsOf.set(hash, (account.actsOf.get(hash) ?? 0) + 1);
  };

  const witness = {
    decided(driver: Driver, { actions }: Decision) {
      if (!actions.some(({ type }) => type === 'complete')) return;
      account.completions += 1;
      const { policy, target } = seenSpec(driver.view);
      const { hash } = target;
      for (const [name, { facts }] of driver.view.nodes) {
        if (!facts.ready || !facts.eligible) continue;
        const pods = seenPods(driver.view, name).filter(
          ({ facts: { terminating } }) => policy.maxSurge.value === 0 || !terminating,
        );
        const current = pods.length > 0 && pods.every((pod) => pod.facts.revision === hash);
        if (!current || !seenAvailable(driver.view, name, driver.now()))
          breach('S16', `complete while ${name} is not at the target`);
      }
    },
    reserved(driver: Driver, node: string, pod: PodFacts) {
      const { view } = driver;
      const now = driver.now();
      const { policy } = seenSpec(view);
      // A new pod beside the old one takes nothing down.
      if (policy.maxSurge.value > 0 || !seenAvailable(view, node, now)) return;
      // The rollout object says more of the pod than a watch that is behind: another process has changed it in place.
      const repaired = driver.ledger.get(node)?.act?.repairs;
      const changed = repaired?.podUid === pod.uid && changedOn.get(node)?.uid === pod.uid;
      if (changed && cluster.pods.get(pod.uid)?.resourceVersion !== pod.resourceVersion) return;
      let settled = 0;
      let taken = 0;
      for (const [name, { facts }] of view.nodes) {
        if (!facts.eligible || !seenSettled(view, name, now)) continue;
        settled += 1;
        if (name !== node && (holdsSlot(driver, name) || !seenAvailable(view, name, now))) taken += 1;
      }
      const budget = slots(policy.maxUnavailable, settled);
      if (taken < budget) return;
      const text = `${pod.name} reserved while ${taken} are down or reserved, budget ${budget}`;
      const { act } = driver.ledger.get(node) ?? {};
      excessive.set(driver, [...(excessive.get(driver) ?? []), { node, act, text }]);
    },
    sent(driver: Driver, node: string, act: Act) {
      const { view } = driver;
      const now = driver.now();
      knownUntil.set(act.podUid, driver.heardUntil() - lagMs());
      const { policy, target, observed } = seenSpec(view);
      const pod = view.pods.get(act.podUid)?.facts;
      const seen = view.nodes.get(node)?.facts;
      if (!seen?.ready) breach('S4', `act on ${node}, which is seen offline`);
      if (!seenSettled(view, node, now)) breach('S3', `act on ${node} within its settle time`);
      if (!pod) breach('S5', `act on ${act.podName}, which is seen gone`);
      // A change in place that does not come to its end is followed by a new pod.
      const stuck = changedOn.get(node)?.uid === act.podUid && !seenAvailable(view, node, now);
      if (pod?.revision === target.hash && !stuck) breach('S5', `act on ${act.podName}, which is at the target`);
      const share = policy.maxSurge.value > 0 ? policy.maxSurge : policy.maxUnavailable;
      if (policy.paused || share.value === 0 || !observed || !seen?.selected || !seen.eligible)
        breach('S9', `act on ${node} against the policy or the node's place in it`);
    },
    deleted(node: string, act: Act, pod: PodFacts) {
      begun(node, act, pod);
      carriedOut(node, act);
    },
    surged(node: string, act: Act, pod: PodFacts, late: boolean) {
      const live = liveOn(node);
      const again = live.some(({ uid, revision }) => uid !== pod.uid && revision === pod.revision);
      // Between its two writes somebody has fenced the act: Kubernetes has nothing to refuse the creation by.
      if (late) return;
      if (live.length > 2) breach('S10', `${live.length} live pods on ${node}`);
      if (again) breach('S6', `two new pods on ${node}`);
      checkInFlight(node, act.rollout, knownUntil.get(act.podUid) ?? 0);
      everActedOn.add(node);
      acts.set(node, { uid: act.podUid, rollout: act.rollout, kind: act.kind });
      account.acts += 1;
      const { hash } = cluster.spec.target;
      account.actsOf.set(hash, (account.actsOf.get(hash) ?? 0) + 1);
    },
    retiring({ view, now }: Driver, node: string, pod: PodFacts) {
      const { policy, target, observed } = seenSpec(view);
      const at = now();
      retired.add(pod.uid);
      if (policy.paused || !observed) breach('S9', `${pod.name} retired against the policy`);
      if (!seenSettled(view, node, at)) breach('S3', `${pod.name} retired within the settle time of ${node}`);
      const stays = seenPods(view, node).filter(({ facts }) => facts.uid !== pod.uid && !facts.terminating);
      const replaced = stays.some(({ facts, readySince }) => facts.ready && at - readySince >= policy.minReadyMs);
      if (stays.length === 0 || (pod.ready && !replaced))
        breach('S10', `${pod.name} retired before its successor is there`);
      if (pod.revision === target.hash) breach('S5', `${pod.name} retired, which is at the target`);
    },
    shut: begun,
    changed(node: string, act: Act, pod: PodFacts) {
      if (!pod.changing) breach('S2', `${pod.name} was changed while it was in service`);
      carriedOut(node, act);
      changedOn.set(node, { uid: act.podUid, rollout: act.rollout, at: act.at });
    },
    wrote(driver: Driver, what: string) {
      // A process that slept may know too little of what others did: the compare-and-swap refuses what it reserves.
      if (what === 'rollout') {
        for (const { node, act, text } of excessive.get(driver) ?? []) {
          const held = driver.ledger.get(node)?.act;
          if (held?.podUid === act?.podUid && held?.at === act?.at && held?.stage === 'reserved') breach('S2', text);
        }
        excessive.delete(driver);
      }
      account.writes += 1;
      account.lastWriteAt = time.now();
    },
  } satisfies Witness;

  return {
    witness,
    account,
    /** L1 and S16 at rest: what is not as it should be, in words. */
    unfinished(driver: Driver): string[] {
      const { hash } = cluster.spec.target;
      const problems: string[] = [];
      for (const [name, { facts }] of cluster.nodes) {
        if (!facts.ready || !facts.eligible) continue;
        const [pod, ...more] = surging() ? liveOn(name) : cluster.podsOn(name);
        if (surging() && more.length > 0) problems.push(`${name} has several pods`);
        if (pod?.revision !== hash) problems.push(`${name} runs ${pod?.revision ?? 'nothing'} and not ${hash}`);
        else if (!isAvailable(name)) problems.push(`${name} is not available`);
        const phase = driver.ledger.get(name)?.view.phase;
        if (phase !== 'updated') problems.push(`${name} is told to be ${phase}`);
      }
      for (const name of acts.keys())
        if (cluster.nodes.get(name)?.facts.ready) problems.push(`the act on ${name} has not healed`);
      for (const { name, view, act } of driver.ledger.records())
        if (act && (view.online || act.stage !== 'done')) problems.push(`a slot leaks on ${name}`);
      return problems;
    },
  };
};
export type Checker = ReturnType<typeof createChecker>;
