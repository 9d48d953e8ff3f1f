import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import {
  type AnyDaemonSet,
  bringsTarget,
  type Finding,
  type InvariantId,
  isBoundToPod,
  isOutdated,
  type Policy,
  policyOf,
} from '../../invariants/index.ts';
import { livePods, type NodeState, nodesToServe, type PodState } from '../state/cluster-state.ts';
import { createPodWriteReader, isUpdate, type PodWrite, startOf } from '../state/pod-writes.ts';
import { tolerances } from '../tolerances.ts';
import {
  createUpdateRules,
  type Knowledge,
  limitOf,
  obeysPolicies,
  staysOnSettledNodes,
  staysWithinDownBudget,
  staysWithinPartition,
} from '../updates/rules.ts';
import type { AuditRecord } from './audit-record.ts';
import { maybeDeletedBy } from './deleted-pods.ts';
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
  'delete-twin': 'deleted',
  create: 'created',
  'clean-up': 'deleted',
  continue: 'wrote to',
};

const NONE: ReadonlySet<string> = new Set();

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
  const rules = createUpdateRules(state, updates, check);
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

  const nodeOf = (name: string) => {
    const node = state.nodes.get(name);
    return node && { ready: node.ready, since: node.ready && !node.returned ? undefined : node.since };
  };
  /** What the sender of an update could know. */
  const knowledgeAt = (at: number, surging: boolean): Knowledge => {
    const nodes = nodesToServe(state);
    const known = { at, lagMs, settleMs, slotAfterMs: lagMs, nodeOf, complete: NONE };
    if (kind === 'native') {
      const online = nodes.filter((one) => one.ready || at - one.since <= lagMs);
      return { ...known, budgets: [budget], total: online.length };
    }
    const budgets = policiesAt(at).map(({ maxSurge, maxUnavailable }) => (surging ? maxSurge : maxUnavailable));
    return { ...known, budgets, total: nodes.length };
  };

  const checkNode = ({ node, record: { receivedAt: at } }: PodWrite): Finding | undefined => {
    check('S3');
    check('S4');
    return staysOnSettledNodes(node, { at, lagMs, settleMs, nodeOf });
  };

  const checkControls = ({ node, record }: PodWrite): (Finding | undefined)[] => {
    check('S9');
    const known = policiesAt(record.receivedAt);
    const { target } = state;
    const agreed = livePods(state, node).some(({ approved }) => approved !== undefined && approved === target);
    const found = obeysPolicies(known, ({ owners }) => ({ ownerHasNotAgreed: owners && !agreed }));
    if (target === undefined) return found;
    const eligible = new Set(nodesToServe(state).map(({ name }) => name));
    const isUpdated = (name: string): boolean =>
      updates.inFlight.has(name) || livePods(state, name).some(({ hash }) => hash === target);
    const updated = new Set([...eligible].filter(isUpdated));
    const partitions = known.map(({ partition }) => partition);
    // In which order the sender knew of the nodes the log does not show.
    return [...found, staysWithinPartition({ node, updated, eligible, inOrder: [], partitions })];
  };

  const checkDown = ({ node }: PodState, knows: Knowledge): Finding | undefined => {
    check('S2');
    const { at } = knows;
    const isDown = ({ name, ready, since }: NodeState): boolean => {
      if (!ready || availablePod(state, name, at)) return false;
      if (updates.inFlight.has(name)) return rules.takesSlot(name, knows);
      return at - since > settleMs + lagMs && at - (downSince.get(name) ?? at) > lagMs;
    };
    const taken = new Set(nodesToServe(state).flatMap((each) => (isDown(each) ? [each.name] : [])));
    return staysWithinDownBudget(node, [{ taken, limit: limitOf(knows) }]);
  };

  const checkUpdate = (write: PodWrite, pod: PodState): void => {
    const at = write.record.receivedAt;
    const knows = knowledgeAt(at, write.kind === 'surge');
    const update = { kind: startOf(write), pod, rollout: state.rollout };
    const found = [...rules.ofUpdate(update, knows), checkNode(write)];
    if (kind === 'advanced') found.push(...checkControls(write));
    if (isAvailable(state, pod, at) && write.kind !== 'surge') found.push(checkDown(pod, knows));
    found.forEach(reporterOf(write));
    rules.noteExecuted(update);
  };

  /** One of several live pods is deleted: an old one once the new one is available, or one that is not ready. */
  const checkDeletionAfterSurge = (write: PodWrite, pod: PodState): void => {
    const at = write.record.receivedAt;
    const report = reporterOf(write);
    if (write.kind === 'delete-surged-out') {
      check('S5');
      report(isOutdated({ healthy: isAvailable(state, pod, at), hash: pod.hash, target: state.target }));
      report(checkNode(write));
    }
    const works = pod.readySince !== undefined && at - pod.readySince > lagMs;
    const successorWorks = (one: PodState): boolean => wasAvailable(state, one, at, lagMs);
    rules.ofSurgedOut(pod, { works, successorWorks }).forEach(report);
    if (policiesAt(at).some(({ surging }) => !surging)) rules.noteUndone(pod);
  };

  const checkWrite = (write: PodWrite): void => {
    const { kind: what, record, brings, pod } = write;
    lagMs = typeof lag === 'number' ? lag : lag(record);
    const report = reporterOf(write);
    if (record.verb === 'delete') report(isBoundToPod(record.request));
    const isKnown = state.target !== undefined && record.receivedAt - state.targetSince > lagMs;
    // Where there is none, a new pod may be of another revision: check-creations.ts.
    if (brings !== undefined && isKnown && what !== 'create') {
      check('S14');
      report(bringsTarget({ hash: brings, target: state.target }));
    }
    if (what === 'surge' && heldBackMs(record) > tolerances.heldBackCreation.ms) return;
    if (pod && (what === 'delete-surged-out' || what === 'delete-twin')) checkDeletionAfterSurge(write, pod);
    else if (pod && isUpdate(write)) checkUpdate(write, pod);
    // Decided before the template changed: the present rollout still owes the node an update.
    if (brings !== undefined && brings !== state.target) rules.owes(write.node);
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

  const maybeDeleted = maybeDeletedBy(records.filter(({ user }) => product(user)));
  for (const record of inOrder(records)) {
    proceedTo(record);
    if (record.namespace === namespace && product(record.user)) {
      const write = readWrite(record);
      const isDelete = record.verb === 'delete' && record.group === '' && record.resource === 'pods';
      if (write) checkWrite(write);
      else if (isDelete) reportForeignPod(record);
    }
    const { uid = '', deletionTimestamp } = (record.response as { metadata?: ObjectMeta }).metadata ?? {};
    const before = state.pods.get(uid);
    apply(record);
    if (before && !maybeDeleted.has(uid)) rules.noteChange(before, deletionTimestamp != null);
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
