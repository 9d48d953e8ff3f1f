import type { Decision } from '../decision/decide.ts';
import type { PodFacts } from '../facts/types.ts';
import type { Act } from '../record/record.ts';
import { followModel, type HappenedOptions, slots } from './happened.ts';
import type { Driver, Witness } from './model-driver.ts';
import { holdsSlot, seenAvailable, seenPods, seenSettled, seenSpec } from './seen.ts';

/** What the cluster went through, by the truth. */
export interface Account {
  acts: number;
  writes: number;
  lastWriteAt: number;
  completions: number;
  mostInFlight: number;
  actsOf: Map<string, number>;
}

/**
 * Holds a run against spec/invariants: what is true of the cluster from the cluster's own state, and what speaks of a
 * process's view from what the watches had delivered to it. It shares no rule with the core. Throws at the first breach.
 */
export const createChecker = ({ time, cluster, lagMs }: HappenedOptions) => {
  const happened = followModel({ time, cluster, lagMs });
  const { acts, changedOn, retired, surging, liveOn, isAvailable } = happened;
  const done = new Map<string, number>();
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

  /** S1 and S3: how many other nodes were in flight, as far as anybody could know. */
  const checkInFlight = (node: string, rollout: number, from: number): void => {
    const others = happened.othersInFlight(node, rollout, from);
    account.mostInFlight = Math.max(account.mostInFlight, others.length + 1);
    const budget = happened.largestBudget(from);
    if (others.length >= budget) breach('S1', `act on ${node} beside ${others.join(' ')} in flight, budget ${budget}`);
  };

  /** An act takes a pod out of service. */
  const begun = (node: string, act: Act, pod: PodFacts): void => {
    checkInFlight(node, act.rollout, knownUntil.get(act.podUid) ?? 0);
    if (pod.uid !== act.podUid || pod.node !== node) breach('S5', `${pod.name} was not what was reserved`);
    happened.acted(node, act);
    happened.undisturbed(node);
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
      happened.acted(node, act);
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
