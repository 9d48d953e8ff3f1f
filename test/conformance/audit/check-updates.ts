import type { AuditRecord } from './audit-record.ts';
import {
  availablePod,
  followClusterState,
  inOrder,
  isAvailable,
  livePods,
  type NodeState,
  type PodState,
} from './cluster-state.ts';
import { eligible } from './eligible.ts';
import { createPodWriteReader, isBackInService, type PodWrite } from './pod-writes.ts';
import { readSpecPolicy, type SpecPolicy, sizeOf } from './policy.ts';

export interface CheckOptions {
  namespace: string;
  daemonSet: string;
  /** Default native. The budget of an Advanced DaemonSet is what its spec says. */
  kind?: 'native' | 'advanced';
  /** Whose acts are judged. Default: every ServiceAccount named `edgeset-...`. */
  product?: (user: string) => boolean;
  /** What `apps.openyurt.io/max-unavailable` was: a number, or a percentage of the eligible online nodes. Default 10%. */
  budget?: number | `${number}%`;
  /** What happened in the cluster so shortly before an act may be unknown to the one who acts. Default 1000. */
  lagMs?: number | ((act: AuditRecord) => number);
  /** A node that came back less than this long ago need not be counted as down, and is not acted on. Default 10 000. */
  settleMs?: number;
  /** How long what its caller had decided may not have reached the server. Default: not at all. */
  heldBackMs?: (act: AuditRecord) => number;
  /** Hears the rule each time that an act is held against one. */
  checked?: (rule: string) => void;
}

/**
 * A creation that was held back for longer is no act any more: Kubernetes has no precondition to refuse it by. What it makes
 * is one pod too many, which whoever leads takes away.
 */
const LATE_MS = 5_000;

const isProduct = (user: string): boolean => /^system:serviceaccount:[^:]+:edgeset-/.test(user);

const time = (at: number): string => new Date(at).toISOString().slice(11, 23);

const did: Readonly<Record<PodWrite['kind'], string>> = {
  delete: 'deleted',
  'in-place': 'changed',
  surge: 'created',
  'delete-surged-out': 'deleted',
  create: 'created',
  'clean-up': 'deleted',
  continue: 'wrote to',
};

/**
 * Holds the acts of the product on one DaemonSet against `spec/invariants.md`, seen from the cluster's side: S1 (own
 * budget), S2 (total budget), S3 (returned nodes), S4 (offline nodes), S5 (identity), S6 (once), and of Advanced
 * DaemonSets S9 (obedience), S10 (surge) and S14 (no flip-flop). Returns the violations, one sentence each; empty when
 * all is well.
 */
export const checkUpdates = (records: readonly AuditRecord[], options: CheckOptions): string[] => {
  const { namespace, daemonSet, kind = 'native', product = isProduct, budget = '10%' } = options;
  const { lagMs: lag = 1000, settleMs = 10_000 } = options;
  const { heldBackMs = () => 0, checked: check = () => undefined } = options;
  const group = kind === 'native' ? 'apps' : 'apps.kruise.io';
  const { state, apply } = followClusterState(namespace, daemonSet, group);
  const reader = createPodWriteReader(state);
  const violations: string[] = [];
  /** Nodes where our last act has not healed, and what it was. */
  const inFlight = new Map<string, PodWrite['kind']>();
  const acted = new Map<string, number>();
  /** Revisions of pods that were taken out of service for a change in place, by uid. */
  const prepared = new Map<string, string>();
  const policies: SpecPolicy[] = [];
  /** Of whoever made the step that is looked at. */
  let lagMs = 0;

  const heal = (at: number): void => {
    for (const [node, act] of inFlight) {
      // A surge ends when one pod is left, and that one works.
      const heals = availablePod(state, node, at) && (act !== 'surge' || livePods(state, node).length === 1);
      // One that is made again under the name of another is a node that was not acted on.
      if (heals || !state.nodes.has(node)) inFlight.delete(node);
    }
  };

  const reporterOf =
    ({ kind: what, record }: PodWrite) =>
    (rule: string, why: string): void => {
      const name = record.name || (record.response as { metadata?: { name?: string } }).metadata?.name;
      violations.push(`${rule}: at ${time(record.receivedAt)} ${record.user} ${did[what]} pod ${name} ${why}`);
    };

  /** Those that whoever acted at this time can have gone by. */
  const policiesAt = (at: number): SpecPolicy[] => {
    const last = policies.findLastIndex(({ since }) => at - since > lagMs);
    return policies.slice(Math.max(0, last));
  };

  const limitAt = (at: number, surges: boolean): number => {
    const nodes = eligible(state);
    if (kind === 'native') {
      const online = nodes.filter((one) => one.ready || at - one.since <= lagMs).length;
      return sizeOf(budget, online, 'up');
    }
    const shares = policiesAt(at).map(({ maxSurge, maxUnavailable }) => (surges ? maxSurge : maxUnavailable));
    return Math.max(0, ...shares.map((share) => sizeOf(share, nodes.length, 'up')));
  };

  const knownOnline = (name: string, at: number): boolean => {
    const found = state.nodes.get(name);
    return found !== undefined && found.ready && at - found.since > lagMs;
  };

  const checkNode = (step: PodWrite): void => {
    const { node: name, record } = step;
    const report = reporterOf(step);
    const at = record.receivedAt;
    const node = state.nodes.get(name);
    check('S3');
    check('S4');
    if (node === undefined) report('S4', `on ${name}, a node that does not exist`);
    else if (!node.ready && at - node.since > lagMs)
      report('S4', `on ${name}, which had not been ready for ${Math.round(at - node.since)} ms`);
    else if (node.ready && node.returned && at >= node.since && at - node.since < settleMs - lagMs)
      report('S3', `on ${name}, which had been back for ${Math.round(at - node.since)} ms only`);
  };

  /** Whether the spec let an act begin there: not while it is paused, and on no more nodes than the partition leaves. */
  const checkControls = (step: PodWrite): void => {
    const { node: name, record } = step;
    const report = reporterOf(step);
    const seen = policiesAt(record.receivedAt);
    check('S9');
    if (seen.every(({ manual }) => manual)) report('S9', `on ${name}, though somebody else is to update it`);
    const agreed = livePods(state, name).some(({ approved }) => approved !== undefined && approved === state.target);
    if (seen.every(({ owners }) => owners) && !agreed) report('S9', `on ${name}, whose owner has not agreed`);
    if (seen.every(({ paused }) => paused)) report('S9', `on ${name}, while updates were paused`);
    const nodes = eligible(state);
    const isTaken = (node: string): boolean =>
      inFlight.has(node) || livePods(state, node).some(({ hash }) => hash === state.target);
    const taken = nodes.filter((one) => one.name !== name && isTaken(one.name)).length;
    const most = Math.max(...seen.map(({ partition }) => nodes.length - sizeOf(partition, nodes.length, 'down')));
    if (!isTaken(name) && state.target !== undefined && taken >= most)
      report('S9', `on ${name}, though the partition permits ${most} nodes and ${taken} were updated`);
  };

  const checkUpdate = (step: PodWrite, pod: PodState): void => {
    const { node: name, record } = step;
    const surges = step.kind === 'surge';
    const report = reporterOf(step);
    const at = record.receivedAt;
    const healthy = isAvailable(state, pod, at);
    check('S5');
    if (healthy && pod.hash === state.target)
      report('S5', `on ${name}, a healthy one of the target revision ${pod.hash}`);
    checkNode(step);
    if (kind === 'advanced') checkControls(step);

    check(surges ? 'S10' : 'S1');
    const limit = limitAt(at, surges);
    const others = [...inFlight.keys()].filter((other) => other !== name && knownOnline(other, at));
    // One that an act of ours broke is repaired in the slot that it has, also when more were broken than the budget is now.
    const hasSlot = inFlight.has(name) && !healthy;
    if (others.length >= limit && !hasSlot)
      report(
        surges ? 'S10' : 'S1',
        `on ${name} while ${others.length} others were in flight (${others.join(', ')}) and the budget is ${limit}`,
      );

    const isDown = ({ name: other, ready, since }: NodeState): boolean => {
      if (other === name || !ready || availablePod(state, other, at)) return false;
      if (inFlight.has(other)) return knownOnline(other, at);
      return at - since > Math.max(settleMs, lagMs) && at - (state.downSince.get(other) ?? at) > lagMs;
    };
    if (healthy && !surges) check('S2');
    const down = eligible(state)
      .filter(isDown)
      .map((one) => one.name);
    if (healthy && !surges && down.length >= limit)
      report(
        'S2',
        `on ${name}, a healthy one, while ${down.length} nodes were down (${down.join(', ')}) and the budget is ${limit}`,
      );

    check('S6');
    if (acted.get(name) === state.rollout && healthy) report('S6', `on ${name}, the second act there for one rollout`);
    acted.set(name, state.rollout);
    inFlight.set(name, step.kind);
  };

  /** Of several live pods one goes: an old one once the new one is available, or one that is not ready. */
  const checkDeletionAfterSurge = (step: PodWrite, pod: PodState): void => {
    const at = step.record.receivedAt;
    const report = reporterOf(step);
    const others = livePods(state, pod.node).filter(({ uid }) => uid !== pod.uid);
    const fresh = others.filter(({ hash }) => hash === state.target);
    const takesOver = (fresh.length > 0 ? fresh : others).some((one) => isAvailable(state, one, at));
    check('S5');
    if (pod.hash === state.target && isAvailable(state, pod, at))
      report('S5', `on ${pod.node}, a healthy one of the target revision ${pod.hash}`);
    check('S10');
    if (pod.readySince !== undefined && !takesOver)
      report('S10', `on ${pod.node}, a ready one, before the new one beside it was available`);
    checkNode(step);
  };

  const checkWrite = (step: PodWrite): void => {
    const { kind: what, record, brings, pod } = step;
    lagMs = typeof lag === 'number' ? lag : lag(record);
    const report = reporterOf(step);
    const preconditions = (record.request as { preconditions?: { uid?: string } } | undefined)?.preconditions;
    if (record.verb === 'delete' && preconditions?.uid === undefined) report('S5', 'without a uid precondition');
    const known = state.target !== undefined && record.receivedAt - state.targetSince > lagMs;
    if (brings !== undefined && known) check('S14');
    if (brings !== undefined && known && brings !== state.target)
      report('S14', `on ${step.node}, bringing it to ${brings} while ${state.target} is the target`);
    // What was brought there has come to nothing, such as a new pod that has no place beside the old one.
    const isRemoval = what === 'clean-up' || what === 'delete-surged-out';
    if (pod && isRemoval && pod.hash === state.target && pod.readySince === undefined) acted.delete(step.node);
    if (what === 'surge') {
      if (heldBackMs(record) > LATE_MS) return;
      const live = livePods(state, step.node);
      if (live.length > 1) report('S10', `on ${step.node}, beside ${live.length} live ones`);
      const [old] = live;
      if (old) checkUpdate(step, old);
    } else if (pod && what === 'delete-surged-out') checkDeletionAfterSurge(step, pod);
    else if (pod && (what === 'delete' || what === 'in-place')) checkUpdate(step, pod);
    if (pod && what === 'in-place' && brings === undefined) prepared.set(pod.uid, pod.hash);
    // It was decided on before the template changed: the rollout that is under way still owes the node an act.
    if (brings !== undefined && brings !== state.target) acted.set(step.node, state.rollout - 1);
  };

  /** A change in place is taken back before the pod was changed, as by a pause: the rollout still owes the node an act. */
  const noteTakenBack = (record: AuditRecord): void => {
    const pod = state.pods.get((record.response as { metadata?: { uid?: string } }).metadata?.uid ?? '');
    if (pod && isBackInService(record) && prepared.get(pod.uid) === pod.hash) acted.delete(pod.node);
  };

  const reportForeignPod = (record: AuditRecord): void => {
    violations.push(
      `S5: at ${time(record.receivedAt)} ${record.user} deleted pod ${record.name} which DaemonSet ${namespace}/${daemonSet} does not own`,
    );
  };

  /** A native DaemonSet's pods are only ever deleted, and every delete is held against all rules. */
  const readStep = (record: AuditRecord): PodWrite | undefined => {
    const step = reader.read(record);
    if (kind === 'advanced' || !step) return step;
    return record.verb === 'delete' ? { ...step, kind: 'delete' } : undefined;
  };

  for (const record of inOrder(records)) {
    // At each record: a node that was well for a moment only has healed all the same.
    heal(record.receivedAt);
    if (record.namespace === namespace && product(record.user)) {
      const step = readStep(record);
      noteTakenBack(record);
      const isDelete = record.verb === 'delete' && record.group === '' && record.resource === 'pods';
      if (step) checkWrite(step);
      else if (isDelete) reportForeignPod(record);
    }
    apply(record);
    if (kind === 'advanced' && record.group === group && state.daemonSet === record.response)
      policies.push(readSpecPolicy(record));
  }
  return violations;
};

/**
 * How many writes there were by verb and resource (`delete pods`, `patch pods/status`), refused ones included.
 * For "nothing at rest" and "one DELETE per pod".
 */
export const countWrites = (
  records: readonly AuditRecord[],
  filter: { user: (user: string) => boolean; namespace?: string; since?: number },
): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { user, namespace, verb, resource, receivedAt } of records) {
    if (verb === 'get' || verb === 'list' || verb === 'watch') continue;
    if (!filter.user(user) || receivedAt < (filter.since ?? 0)) continue;
    if (filter.namespace !== undefined && namespace !== filter.namespace) continue;
    const key = `${verb} ${resource}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};
