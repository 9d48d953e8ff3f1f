import {
  type AnyDaemonSet,
  bringsTarget,
  type Finding,
  type InvariantId,
  isBoundToPod,
  isFirstUpdate,
  isOnline,
  isOnlySurge,
  isOutdated,
  isSettled,
  keepsWorkingPod,
  nodesOf,
  obeysControls,
  type Policy,
  policyOf,
  withinBudget,
  withinDownBudget,
  withinPartition,
} from '../../invariants/index.ts';
import { livePods, type NodeState, nodesToServe, type PodState } from '../state/cluster-state.ts';
import { createPodWriteReader, isBackInService, type PodWrite, startOf } from '../state/pod-writes.ts';
import { tolerances } from '../tolerances.ts';
import type { AuditRecord } from './audit-record.ts';
import { availablePod, followRecords, inOrder, isAvailable, wasAvailable } from './records.ts';

export interface CheckOptions {
  namespace: string;
  daemonSet: string;
  /** Default native. The budget of an Advanced DaemonSet is in its spec. */
  kind?: 'native' | 'advanced';
  /** Users whose updates are checked. Default: every ServiceAccount named `edgeset-...`. */
  product?: (user: string) => boolean;
  /** The value of `apps.openyurt.io/max-unavailable`: a number, or a percentage of the eligible online nodes. Default 10%. */
  budget?: number | `${number}%`;
  /** A writer may not know yet what happened within this time before. Default 1000. */
  lagMs?: number | ((write: AuditRecord) => number);
  /** A node that has been back for less time need not be counted as down, and is not updated. Default 10 000. */
  settleMs?: number;
  /** How long a decision of the caller may have been held back before it reached the server. Default: not at all. */
  heldBackMs?: (write: AuditRecord) => number;
  /** Called each time an invariant is checked against a write. */
  checked?: (invariant: InvariantId) => void;
}

const isProduct = (user: string): boolean => /^system:serviceaccount:[^:]+:edgeset-/.test(user);

const formatTime = (at: number): string => new Date(at).toISOString().slice(11, 23);

const PAST_TENSE: Readonly<Record<PodWrite['kind'], string>> = {
  delete: 'deleted',
  'in-place': 'changed',
  surge: 'created',
  'delete-surged-out': 'deleted',
  create: 'created',
  'clean-up': 'deleted',
  continue: 'wrote to',
};

/**
 * Checks the updates of one DaemonSet against the invariants, from the audit log: S1 to S6, and for Advanced DaemonSets
 * S9, S10 and S14 as well. Returns the violations, one sentence each; empty when there are none.
 */
export const checkUpdates = (records: readonly AuditRecord[], options: CheckOptions): string[] => {
  const { namespace, daemonSet, kind = 'native', product = isProduct, budget = '10%' } = options;
  const { lagMs: lag = tolerances.auditLag.ms, settleMs = 10_000 } = options;
  const { heldBackMs = () => 0, checked: check = () => undefined } = options;
  const group = kind === 'native' ? 'apps' : 'apps.kruise.io';
  const { state, downSince, updates, at: proceedTo, apply } = followRecords(namespace, daemonSet, group);
  const reader = createPodWriteReader(state);
  const violations: string[] = [];
  const { inFlight } = updates;
  /** By node: the rollout in which it was last updated. */
  const updated = new Map<string, number>();
  /** By UID: revisions of pods that were taken out of service for an in-place update. */
  const closedForUpdate = new Map<string, string>();
  const policies: { since: number; policy: Policy }[] = [];
  /** Of the caller of the write that is being checked. */
  let lagMs = 0;

  const reporterOf =
    ({ kind: what, record, node }: PodWrite) =>
    (found: Finding | undefined): void => {
      if (!found) return;
      const name = record.name || (record.response as { metadata?: { name?: string } }).metadata?.name;
      const subject = `${record.user} ${PAST_TENSE[what]} pod ${name} on ${node}`;
      violations.push(`${found.invariant}: at ${formatTime(record.receivedAt)} ${subject}, ${found.why}`);
    };

  /** The policies that a caller may have acted on at this time. */
  const policiesAt = (at: number): Policy[] => {
    const last = policies.findLastIndex(({ since }) => at - since > lagMs);
    return policies.slice(Math.max(0, last)).map(({ policy }) => policy);
  };

  const limitAt = (at: number, surging: boolean): number => {
    const nodes = nodesToServe(state);
    if (kind === 'native') {
      const online = nodes.filter((one) => one.ready || at - one.since <= lagMs).length;
      return nodesOf(budget, online);
    }
    const limits = policiesAt(at).map(({ maxSurge, maxUnavailable }) => (surging ? maxSurge : maxUnavailable));
    return Math.max(0, ...limits.map((limit) => nodesOf(limit, nodes.length)));
  };

  const knownOnline = (name: string, at: number): boolean => {
    const found = state.nodes.get(name);
    return found !== undefined && found.ready && at - found.since > lagMs;
  };

  const checkNode = (write: PodWrite): void => {
    const report = reporterOf(write);
    const at = write.record.receivedAt;
    const node = state.nodes.get(write.node);
    check('S3');
    check('S4');
    if (node === undefined) report(isOnline({ ready: undefined }));
    else if (!node.ready && at - node.since > lagMs) report(isOnline({ ready: false, forMs: at - node.since }));
    else if (node.ready && node.returned) report(isSettled({ backForMs: at - node.since, settleMs: settleMs - lagMs }));
  };

  const checkControls = (write: PodWrite): void => {
    const { node: name, record } = write;
    const report = reporterOf(write);
    const known = policiesAt(record.receivedAt);
    const agreed = livePods(state, name).some(({ approved }) => approved !== undefined && approved === state.target);
    check('S9');
    for (const found of obeysControls({
      manual: known.every(({ manual }) => manual),
      ownerHasNotAgreed: known.every(({ owners }) => owners) && !agreed,
      paused: known.every(({ paused }) => paused),
    }))
      report(found);
    const nodes = nodesToServe(state);
    const isUpdated = (node: string): boolean =>
      inFlight.has(node) || livePods(state, node).some(({ hash }) => hash === state.target);
    if (isUpdated(name) || state.target === undefined) return;
    const others = nodes.filter((one) => one.name !== name && isUpdated(one.name)).length;
    const permitted = Math.max(
      ...known.map(({ partition }) => nodes.length - nodesOf(partition, nodes.length, 'down')),
    );
    report(withinPartition({ updated: others, permitted }));
  };

  const checkUpdate = (write: PodWrite, pod: PodState): void => {
    const { node: name, record } = write;
    const surging = write.kind === 'surge';
    const report = reporterOf(write);
    const at = record.receivedAt;
    const healthy = isAvailable(state, pod, at);
    check('S5');
    report(isOutdated({ healthy, hash: pod.hash, target: state.target }));
    checkNode(write);
    if (kind === 'advanced') checkControls(write);

    check(surging ? 'S10' : 'S1');
    const limit = limitAt(at, surging);
    const others = [...inFlight.keys()].filter((other) => other !== name && knownOnline(other, at));
    // A pod that our own update broke is repaired in its node's slot, even when the budget has been lowered since.
    report(withinBudget({ others, limit, hasSlot: inFlight.has(name) && !healthy, surging }));

    if (healthy && !surging) {
      const isDown = ({ name: other, ready, since }: NodeState): boolean => {
        if (other === name || !ready || availablePod(state, other, at)) return false;
        if (inFlight.has(other)) return knownOnline(other, at);
        return at - since > Math.max(settleMs, lagMs) && at - (downSince.get(other) ?? at) > lagMs;
      };
      const down = nodesToServe(state).filter(isDown);
      check('S2');
      report(withinDownBudget({ down: down.map((one) => one.name), limit }));
    }

    check('S6');
    report(isFirstUpdate({ healthy, alreadyUpdated: updated.get(name) === state.rollout }));
    updated.set(name, state.rollout);
    updates.begin(pod, startOf(write), state.rollout);
  };

  /** One of several live pods is deleted: an old one once the new one is available, or one that is not ready. */
  const checkDeletionAfterSurge = (write: PodWrite, pod: PodState): void => {
    const at = write.record.receivedAt;
    const report = reporterOf(write);
    const others = livePods(state, pod.node).filter(({ uid }) => uid !== pod.uid);
    const fresh = others.filter(({ hash }) => hash === state.target);
    const successorWorks = (fresh.length > 0 ? fresh : others).some((one) => wasAvailable(state, one, at, lagMs));
    const works = pod.readySince !== undefined && at - pod.readySince > lagMs;
    check('S5');
    report(isOutdated({ healthy: isAvailable(state, pod, at), hash: pod.hash, target: state.target }));
    check('S10');
    report(keepsWorkingPod({ works, successorWorks }));
    checkNode(write);
  };

  const checkWrite = (write: PodWrite): void => {
    const { kind: what, record, brings, pod } = write;
    lagMs = typeof lag === 'number' ? lag : lag(record);
    const report = reporterOf(write);
    if (record.verb === 'delete') report(isBoundToPod(record.request));
    if (brings !== undefined && state.target !== undefined && record.receivedAt - state.targetSince > lagMs) {
      check('S14');
      report(bringsTarget({ hash: brings, target: state.target }));
    }
    // What the update brought has failed, such as a new pod that has no room beside the old one.
    const isRemoval = what === 'clean-up' || what === 'delete-surged-out';
    if (pod && isRemoval && pod.hash === state.target && pod.readySince === undefined) updated.delete(write.node);
    if (what === 'surge') {
      if (heldBackMs(record) > tolerances.heldBackCreation.ms) return;
      const live = livePods(state, write.node);
      report(isOnlySurge({ live: live.length }));
      const [old] = live;
      if (old) checkUpdate(write, old);
    } else if (pod && what === 'delete-surged-out') checkDeletionAfterSurge(write, pod);
    else if (pod && (what === 'delete' || what === 'in-place')) checkUpdate(write, pod);
    if (pod && what === 'in-place' && brings === undefined) closedForUpdate.set(pod.uid, pod.hash);
    // Decided before the template changed: the present rollout still owes the node an update.
    if (brings !== undefined && brings !== state.target) updated.set(write.node, state.rollout - 1);
  };

  /** An in-place update is reverted before the pod was changed, as by a pause: the rollout still owes the node an update. */
  const noteReverted = (record: AuditRecord): void => {
    const pod = state.pods.get((record.response as { metadata?: { uid?: string } }).metadata?.uid ?? '');
    if (pod && isBackInService(record) && closedForUpdate.get(pod.uid) === pod.hash) updated.delete(pod.node);
  };

  const reportForeignPod = (record: AuditRecord): void => {
    violations.push(
      `S5: at ${formatTime(record.receivedAt)} ${record.user} deleted pod ${record.name} which DaemonSet ${namespace}/${daemonSet} does not own`,
    );
  };

  /** Pods of a native DaemonSet are only deleted, and every delete is checked against all invariants. */
  const readWrite = (record: AuditRecord): PodWrite | undefined => {
    const write = reader.read(record);
    if (kind === 'advanced' || !write) return write;
    return record.verb === 'delete' ? { ...write, kind: 'delete' } : undefined;
  };

  for (const record of inOrder(records)) {
    proceedTo(record);
    if (record.namespace === namespace && product(record.user)) {
      const write = readWrite(record);
      noteReverted(record);
      const isDelete = record.verb === 'delete' && record.group === '' && record.resource === 'pods';
      if (write) checkWrite(write);
      else if (isDelete) reportForeignPod(record);
    }
    apply(record);
    if (kind === 'advanced' && record.group === group && state.daemonSet === record.response)
      policies.push({ since: record.answeredAt, policy: policyOf(record.response as AnyDaemonSet) });
  }
  return violations;
};

/**
 * Counts writes by verb and resource (`delete pods`, `patch pods/status`), including refused ones. Used to check that
 * nothing is written at rest, and that each pod is deleted by one DELETE.
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
