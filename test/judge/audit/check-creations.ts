import type { AnyDaemonSet } from '../../invariants/index.ts';
import { createCreationRule } from '../stages/creations.ts';
import { livePods, nodesToServe } from '../state/cluster-state.ts';
import { followPlan } from '../state/follow-plan.ts';
import { createPodWriteReader, isUpdate, type PodWrite, startOf } from '../state/pod-writes.ts';
import { createTimeline } from '../state/timeline.ts';
import { tolerances } from '../tolerances.ts';
import type { AuditRecord } from './audit-record.ts';
import type { CheckOptions } from './check-updates.ts';
import { logKnowledge } from './log-knowledge.ts';
import { executedIn, followRecords, withPlanDeletes } from './records.ts';

type CreationsOptions = Pick<CheckOptions, 'namespace' | 'daemonSet' | 'product' | 'checked' | 'lagMs'> & {
  /** Name of the DaemonRollout. */
  rollout: string;
};

const isProduct = (user: string): boolean => /^system:serviceaccount:[^:]+:edgeset-/.test(user);

/**
 * Checks of which revision the pods are that managers create for one Advanced DaemonSet, from the audit log: G9, S14. Returns the
 * violations, one sentence each. Which of several managers has seen a pod of the target is not in the log: one that has just begun
 * to lead may bring a node back to the older revision, and none may.
 */
export const checkCreations = (records: readonly AuditRecord[], options: CreationsOptions): string[] => {
  const { namespace, daemonSet, rollout, product = isProduct, checked: check = () => undefined } = options;
  const { lagMs: lag = tolerances.auditLag.ms } = options;
  const group = 'apps.kruise.io';
  const { state, updates, at: proceedTo, apply } = followRecords(namespace, daemonSet, group);
  const plan = followPlan({ daemonSet: { namespace, group, name: daemonSet }, rollout, state });
  const reader = createPodWriteReader(state);
  const rule = createCreationRule({ plan, state, check });
  const versions = createTimeline<AnyDaemonSet | undefined>(undefined);
  /** By node and hash: it has run there. */
  const ran = new Set<string>();
  /** The API server answers the delete of a revision without it. */
  const deletedByOthers = records.filter(
    ({ resource, verb, code, dryRun, user }) =>
      resource === 'controllerrevisions' && verb === 'delete' && code < 300 && !dryRun && !product(user),
  );
  const violations: string[] = [];

  const checkCreation = (record: AuditRecord, { node, brings }: PodWrite): void => {
    const { receivedAt: at } = record;
    const lagMs = typeof lag === 'number' ? lag : lag(record);
    // Decided before the template changed.
    if (brings === undefined || at - state.targetSince <= lagMs) return;
    const found = rule.judge({
      hash: brings,
      node,
      known: logKnowledge(plan, state, at, lagMs),
      versions: versions.since(at - lagMs).flatMap((version) => version ?? []),
      hasTarget:
        ran.has(`${node} ${state.target}`) ||
        updates.inFlight.get(node)?.rollout === state.rollout ||
        (plan.status?.reservations ?? []).some((each) => each.node === node),
      isRest: nodesToServe(state).every(
        ({ name, ready }) =>
          name === node || !ready || livePods(state, name).every(({ hash }) => hash === state.target),
      ),
      isInHistory: (name) => !deletedByOthers.some((each) => each.name === name && each.receivedAt <= at),
    });
    if (!found) return;
    const time = new Date(at).toISOString().slice(11, 23);
    violations.push(`${found.invariant}: at ${time} ${record.user} created a pod on ${node}, ${found.why}`);
  };

  for (const record of withPlanDeletes(records)) {
    proceedTo(record);
    const write = record.namespace === namespace && product(record.user) ? reader.read(record) : undefined;
    if (write?.kind === 'create') checkCreation(record, write);
    if (write?.pod && isUpdate(write)) updates.begin(write.pod, startOf(write), state.rollout);
    apply(record);
    const executed = executedIn(record, namespace);
    if (executed) plan.apply(executed);
    if (record.group === group && state.daemonSet === record.response)
      versions.note(state.daemonSet, record.answeredAt);
    const written = state.pods.get((record.response as { metadata?: { uid?: string } }).metadata?.uid ?? '');
    if (written) ran.add(`${written.node} ${written.hash}`);
  }
  return violations;
};
