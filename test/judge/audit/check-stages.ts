import type { DaemonRollout } from '../../../src/words/index.ts';
import type { Finding } from '../../invariants/index.ts';
import { gateFindings } from '../stages/gates.ts';
import { createGroupRule } from '../stages/groups.ts';
import type { Knowledge } from '../stages/knowledge.ts';
import { judgeStageSteps } from '../stages/stage-steps.ts';
import type { StagedCluster } from '../stages/staged-cluster.ts';
import { livePods, nodesToServe } from '../state/cluster-state.ts';
import { followPlan } from '../state/follow-plan.ts';
import { createPodWriteReader, isUpdate, type PodWrite, startOf } from '../state/pod-writes.ts';
import { tolerances } from '../tolerances.ts';
import type { AuditRecord } from './audit-record.ts';
import type { CheckOptions } from './check-updates.ts';
import { logKnowledge } from './log-knowledge.ts';
import { executedIn, followRecords, isAvailable, withPlanDeletes } from './records.ts';

export interface StagesOptions
  extends Pick<CheckOptions, 'namespace' | 'daemonSet' | 'kind' | 'product' | 'checked' | 'lagMs'> {
  /** Name of the DaemonRollout. Default: that of a native DaemonSet. */
  rollout?: string;
}

const isProduct = (user: string): boolean => /^system:serviceaccount:[^:]+:edgeset-/.test(user);

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
  const plan = followPlan({ daemonSet: { namespace, group, name: daemonSet }, rollout, state });
  const reader = createPodWriteReader(state);
  const violations: string[] = [];
  let current: AuditRecord | undefined;

  const report = (what: string, found: Finding | undefined): void => {
    if (!found || !current) return;
    const time = new Date(current.receivedAt).toISOString().slice(11, 23);
    violations.push(`${found.invariant}: at ${time} ${current.user} ${what}, ${found.why}`);
  };
  const cluster: StagedCluster = {
    state,
    nodes: () => nodesToServe(state),
    isWell({ name, ready }) {
      const [pod, ...others] = livePods(state, name);
      const at = current?.receivedAt ?? 0;
      return (
        ready && pod !== undefined && others.length === 0 && pod.hash === state.target && isAvailable(state, pod, at)
      );
    },
    inFlight: () => updates.inFlight.keys(),
  };
  const groupFindings = createGroupRule({ plan, cluster, check });
  const steps = judgeStageSteps({ plan, cluster, check, report });

  /** What the caller could know; undefined: it may go by no plan at all. */
  const knowledgeOf = (record: AuditRecord): Knowledge | undefined => {
    const lagMs = typeof lag === 'number' ? lag : lag(record);
    const known = logKnowledge(plan, state, record.receivedAt, lagMs);
    return known.plans.includes('none') ? undefined : known;
  };

  const checkUpdate = (record: AuditRecord, write: PodWrite): void => {
    const { node: name } = write;
    const node = state.nodes.get(name);
    const known = knowledgeOf(record);
    if (node && known) {
      const what = `updated ${daemonSet} on ${name}`;
      check('G1');
      for (const found of [...gateFindings(plan, name, known), ...groupFindings(node, known)]) report(what, found);
    }
    const [pod] = write.pod ? [write.pod] : livePods(state, name);
    if (pod) updates.begin(pod, startOf(write), state.rollout);
  };

  const followStatus = (record: AuditRecord): void => {
    const { group: of, resource, name, verb, response, receivedAt: at } = record;
    if (record.namespace !== namespace || of !== 'edgeset.io' || name !== rollout) return;
    if (!resource.startsWith('daemonrollouts')) return;
    const status = verb === 'delete' ? undefined : (response as DaemonRollout).status;
    const known = product(record.user) ? knowledgeOf(record) : undefined;
    if (status && known) steps.onSent(status, { at, known });
    steps.onStatus(status, known && { at, known });
  };

  for (const record of withPlanDeletes(records)) {
    current = record;
    proceedTo(record);
    if (record.namespace === namespace && product(record.user)) {
      const write = reader.read(record);
      if (write && (isUpdate(write) || (kind === 'native' && record.verb === 'delete'))) checkUpdate(record, write);
    }
    followStatus(record);
    apply(record);
    const executed = executedIn(record, namespace);
    if (executed) plan.apply(executed);
    steps.onChange(record.receivedAt);
  }
  return violations;
};
