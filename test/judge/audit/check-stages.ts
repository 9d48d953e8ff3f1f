import type { DaemonRollout, RolloutPlanSpec } from '../../../src/words/index.ts';
import {
  closedOn,
  type Finding,
  isInOpenStage,
  isInWindow,
  NODE_ZONE_KEY,
  nodesOf,
  openStages,
  stageOfNode,
  withinGroupLimit,
} from '../../invariants/index.ts';
import { type Status, stagesOf } from '../stages/stage-steps.ts';
import { livePods, type NodeState, nodesToServe } from '../state/cluster-state.ts';
import { tolerances } from '../tolerances.ts';
import type { AuditRecord } from './audit-record.ts';
import type { CheckOptions } from './check-updates.ts';
import { followPlan, isSpec } from './plan-history.ts';
import { createPodWriteReader, isUpdate, type PodWrite, startOf } from './pod-writes.ts';
import { followRecords, inOrder } from './records.ts';
import { judgeStageWrites } from './stage-writes.ts';

export interface StagesOptions
  extends Pick<CheckOptions, 'namespace' | 'daemonSet' | 'kind' | 'product' | 'checked' | 'lagMs'> {
  /** Name of the DaemonRollout. Default: that of a native DaemonSet. */
  rollout?: string;
}

const isProduct = (user: string): boolean => /^system:serviceaccount:[^:]+:edgeset-/.test(user);

/** So many are written while one request is held up. */
const STATUSES = 20;

/** Other nodes of a node's group or stage, and how many of them may have an update in flight. */
interface Group {
  group: string;
  limit: number;
  has: (node: NodeState) => boolean;
}

/**
 * Checks the rollout plan of one DaemonSet, from the audit log. Which stage a node is in, and which are open, is computed again.
 * Returns the violations, one sentence each; none without a plan. What the log cannot show:
 *
 * - G3, that offline nodes block nobody, and L9: whether a manager led, had seen everything and could write at that moment
 *   is not in the log, so what did not happen breaks nothing. The simulation knows; the cases wait for what must happen.
 * - G4: what Prometheus and Argo Rollouts answered. The states of checks in the statuses are judged.
 * - G5: the manager's clock. How long a soak lasted is measured by the API server's.
 * - G6, that all stages open: as L9. That a way back is written down as one is judged.
 * - G7, nodes that are down for another reason: when the manager learnt of them. Updates in flight are judged.
 */
export const checkStages = (records: readonly AuditRecord[], options: StagesOptions): string[] => {
  const { namespace, daemonSet, kind = 'native', product = isProduct, rollout = daemonSet } = options;
  const { checked: check = () => undefined, lagMs: lag = tolerances.auditLag.ms } = options;
  const group = kind === 'native' ? 'apps' : 'apps.kruise.io';
  const { state, updates, at: proceedTo, apply } = followRecords(namespace, daemonSet, group);
  const plan = followPlan(records, { namespace, daemonSet, group }, state);
  const reader = createPodWriteReader(state);
  const violations: string[] = [];
  /** As it was last written. */
  let status: Status | undefined;
  /** As they were before, each with when the request for the next one arrived. */
  const earlier: { status: Status | undefined; until: number }[] = [];
  const { inFlight } = updates;
  /** When the labels of a node last changed. */
  const labelledAt = new Map<string, { labels: string; at: number }>();
  let current: AuditRecord | undefined;

  const report = (what: string, found: Finding | undefined): void => {
    if (!found || !current) return;
    const time = new Date(current.receivedAt).toISOString().slice(11, 23);
    violations.push(`${found.invariant}: at ${time} ${current.user} ${what}, ${found.why}`);
  };
  const lagOf = (record: AuditRecord): number => (typeof lag === 'number' ? lag : lag(record));
  const stageOf = (spec: RolloutPlanSpec, of: Status, node: NodeState): string =>
    stageOfNode(spec, stagesOf(of), of.target?.hash ?? '', node);
  const stageWrites = judgeStageWrites({ state, plan, stageOf, check, report });

  const groupsOf = (spec: RolloutPlanSpec, of: Status, node: NodeState): Group[] => {
    const groups: Group[] = [];
    const add = (name: string, share: number | string, has: Group['has']): void => {
      const size = nodesToServe(state).filter(has).length;
      groups.push({ group: name, has, limit: nodesOf(share, size) });
    };
    for (const { topologyKey, value } of spec.maxUnavailablePer ?? []) {
      const site = node.labels[topologyKey];
      add(`${topologyKey}=${site ?? ''}`, value, (other) => other.labels[topologyKey] === site);
    }
    const stage = stageOf(spec, of, node);
    const limit = spec.stages?.find(({ name }) => name === stage)?.maxUnavailable;
    if (limit !== undefined) add(`stage ${stage}`, limit, (other) => stageOf(spec, of, other) === stage);
    return groups;
  };

  const checkGroups = (what: string, { receivedAt: at }: AuditRecord, node: NodeState, lagMs: number): void => {
    const [spec, ...others] = plan.knownAt(at, lagMs);
    // Of an edit only one version may be known.
    if (!status || spec === undefined || others.length > 0 || !isSpec(spec)) return;
    for (const { group: name, limit, has } of groupsOf(spec, status, node)) {
      check('G7');
      const flying = [...inFlight.keys()].filter((each) => {
        const other = state.nodes.get(each);
        return each !== node.name && other !== undefined && other.ready && at - other.since > lagMs && has(other);
      });
      report(what, withinGroupLimit({ group: name, others: flying, limit, hasSlot: inFlight.has(node.name) }));
    }
  };

  /** Why the gates keep the update back, by this status; none if they don't. */
  const gatesOf = (
    of: Status | undefined,
    { receivedAt: at }: AuditRecord,
    node: NodeState,
    lagMs: number,
  ): Finding | undefined => {
    const { target, rollback, lastComplete } = of ?? {};
    // The first revision of a DaemonSet isn't staged, also once it is complete.
    if (!of || !target) return undefined;
    if (target.number === 1 && !rollback && (lastComplete?.hash ?? target.hash) === target.hash) return undefined;
    const stages = stagesOf(of);
    check('G1');
    const judge = (spec: RolloutPlanSpec): Finding | undefined => {
      const closings = [at, at - lagMs].map((time) => closedOn(spec, time, node.annotations[NODE_ZONE_KEY]));
      const closedBy = closings.includes(undefined) ? undefined : closings[0];
      const inWindow = rollback && spec.windowsOnRollback !== true ? undefined : isInWindow({ closedBy });
      if (rollback) return inWindow;
      const stage = stageOfNode(spec, stages, target.hash, node);
      return isInOpenStage({ stage, open: openStages(spec, stages) }) ?? inWindow;
    };
    const findings = plan.knownAt(at, lagMs).map((version): Finding | undefined => {
      if (version === 'none') return undefined;
      return isSpec(version) ? judge(version) : { invariant: 'G1', why: 'although its rollout plan does not exist' };
    });
    return findings.every((found) => found !== undefined) ? findings.at(-1) : undefined;
  };

  const checkGates = (what: string, record: AuditRecord, node: NodeState, lagMs: number): void => {
    // A busy server carries a request out after one that arrived later, and then by the status of the next rollout.
    const inForce = earlier.flatMap((each) => (each.until > record.receivedAt ? [each.status] : []));
    const findings = [...inForce, status].map((each) => gatesOf(each, record, node, lagMs));
    if (findings.every((found) => found !== undefined)) report(what, findings.at(-1));
  };

  const checkUpdate = (record: AuditRecord, write: PodWrite): void => {
    const { node: name } = write;
    const lagMs = lagOf(record);
    const node = state.nodes.get(name);
    // A node that was moved to another stage a moment ago may still count in the one before.
    const isMoved = record.receivedAt - (labelledAt.get(name)?.at ?? 0) <= lagMs;
    const isPlanned = plan.knownAt(record.receivedAt, lagMs).every((version) => version !== 'none');
    if (node && !isMoved && isPlanned) {
      const what = `updated ${daemonSet} on ${name}`;
      checkGates(what, record, node, lagMs);
      checkGroups(what, record, node, lagMs);
    }
    const [pod] = write.pod ? [write.pod] : livePods(state, name);
    if (pod) updates.begin(pod, startOf(write), state.rollout);
  };

  const followNode = ({ name, answeredAt }: AuditRecord): void => {
    const labels = JSON.stringify(state.nodes.get(name)?.labels);
    const before = labelledAt.get(name);
    if (before?.labels !== labels) labelledAt.set(name, { labels, at: before ? answeredAt : 0 });
  };

  const followStatus = (record: AuditRecord): void => {
    const { group: of, resource, name, verb, response, receivedAt: at } = record;
    if (record.namespace !== namespace || of !== 'edgeset.io' || name !== rollout) return;
    if (!resource.startsWith('daemonrollouts')) return;
    const after = verb === 'delete' ? undefined : (response as DaemonRollout).status;
    const lagMs = lagOf(record);
    const isPlanned = plan.knownAt(at, lagMs).every((version) => version !== 'none');
    if (after && isPlanned && product(record.user)) stageWrites.onWrite(status, after, at, lagMs);
    earlier.push({ status, until: at });
    if (earlier.length > STATUSES) earlier.shift();
    status = after;
  };

  for (const record of inOrder(records)) {
    current = record;
    proceedTo(record);
    if (record.namespace === namespace && product(record.user)) {
      const write = reader.read(record);
      if (write && (isUpdate(write) || (kind === 'native' && record.verb === 'delete'))) checkUpdate(record, write);
    }
    followStatus(record);
    apply(record);
    plan.apply(record);
    if (record.resource.startsWith('nodes')) followNode(record);
    stageWrites.onChange(status, record.receivedAt);
  }
  return violations;
};
