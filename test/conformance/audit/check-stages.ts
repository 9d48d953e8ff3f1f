import type { DaemonRollout, DaemonRolloutStage, RolloutPlanSpec } from '../../../src/rollout/index.ts';
import { type Finding, followsPromotions, isInOpenStage, openStages, stageOfNode } from '../../invariants/index.ts';
import type { AuditRecord } from './audit-record.ts';
import type { CheckOptions } from './check-updates.ts';
import { followClusterState, inOrder } from './cluster-state.ts';
import { createPodWriteReader, isUpdate } from './pod-writes.ts';

export interface StagesOptions
  extends Pick<CheckOptions, 'namespace' | 'daemonSet' | 'kind' | 'product' | 'checked' | 'lagMs'> {
  /** Name of the DaemonRollout. Default: that of a native DaemonSet. */
  rollout?: string;
}

const isProduct = (user: string): boolean => /^system:serviceaccount:[^:]+:edgeset-/.test(user);

type Status = NonNullable<DaemonRollout['status']>;

const stagesOf = ({ stages = [] }: Status): readonly DaemonRolloutStage[] => stages;

/** The statuses are of one rollout: A, B, A are three. */
const isSameRollout = (a: Status | undefined, b: Status): boolean =>
  a?.target?.hash === b.target?.hash && a?.rollout === b.rollout;

/**
 * Checks the stages of one DaemonSet, whose RolloutPlan has its name, from the audit log: G1 and G2. Which stage a node is in, and
 * which are open, is computed anew. Returns the violations, one sentence each.
 */
export const checkStages = (records: readonly AuditRecord[], options: StagesOptions): string[] => {
  const { namespace, daemonSet, kind = 'native', product = isProduct, rollout = daemonSet } = options;
  const { checked: check = () => undefined, lagMs: lag = 1000 } = options;
  const { state, apply } = followClusterState(namespace, daemonSet, kind === 'native' ? 'apps' : 'apps.kruise.io');
  const reader = createPodWriteReader(state);
  const violations: string[] = [];
  /** With the time until which each was the present one. */
  const plans: { spec: RolloutPlanSpec | undefined; until: number }[] = [];
  /** As it was last written. */
  let status: Status | undefined;

  const reporterOf =
    ({ receivedAt, user }: AuditRecord, what: string) =>
    (found: Finding | undefined): void => {
      if (!found) return;
      const time = new Date(receivedAt).toISOString().slice(11, 23);
      violations.push(`${found.invariant}: at ${time} ${user} ${what}, ${found.why}`);
    };

  const checkStatus = (record: AuditRecord, after: Status): void => {
    const same = isSameRollout(status, after) ? status : undefined;
    const earlier = new Map((same ? stagesOf(same) : []).map((stage) => [stage.name, stage]));
    const stages = stagesOf(after);
    for (const [name, { promotedAt }] of earlier) {
      if (promotedAt === undefined) continue;
      check('G2');
      if (stages.find((each) => each.name === name)?.promotedAt !== promotedAt)
        reporterOf(
          record,
          `took the promotion of stage ${name} back`,
        )({ invariant: 'G2', why: 'which it had written' });
    }
    for (const [index, { name, openedAt }] of stages.entries()) {
      if (openedAt === undefined || earlier.get(name)?.openedAt !== undefined) continue;
      check('G2');
      const before = stages.slice(0, index).filter(({ promotedAt }) => promotedAt === undefined);
      reporterOf(record, `opened stage ${name}`)(followsPromotions({ before: before.map((each) => each.name) }));
    }
  };

  const checkUpdate = (record: AuditRecord, node: string): void => {
    const { labels } = state.nodes.get(node) ?? {};
    const { target, rollback } = status ?? {};
    // The way back isn't staged.
    if (!labels || !status || !target || rollback) return;
    const lagMs = typeof lag === 'number' ? lag : lag(record);
    const known = plans.filter(({ until }) => record.receivedAt - until <= lagMs);
    if (known.length === 0) return;
    check('G1');
    const stages = stagesOf(status);
    const findings = known.map(({ spec }) =>
      spec
        ? isInOpenStage({
            stage: stageOfNode(spec, stages, target.hash, { name: node, labels }),
            open: openStages(spec, stages),
          })
        : ({ invariant: 'G1', why: 'although its rollout plan does not exist' } as const),
    );
    if (findings.every((found) => found !== undefined))
      reporterOf(record, `updated ${daemonSet} on ${node}`)(findings.at(-1));
  };

  const follow = (record: AuditRecord): void => {
    const { group, resource, name, verb, response } = record;
    if (record.namespace !== namespace || group !== 'edgeset.io') return;
    if (resource === 'rolloutplans' && name === daemonSet) {
      const present = plans.at(-1);
      if (present) present.until = record.answeredAt;
      const spec = verb === 'delete' ? undefined : (response as { spec?: RolloutPlanSpec }).spec;
      plans.push({ spec, until: Number.POSITIVE_INFINITY });
    }
    if (!resource.startsWith('daemonrollouts') || name !== rollout) return;
    const after = verb === 'delete' ? undefined : (response as DaemonRollout).status;
    if (after && product(record.user)) checkStatus(record, after);
    status = after;
  };

  for (const record of inOrder(records)) {
    if (record.namespace === namespace && product(record.user)) {
      const write = reader.read(record);
      if (write && (isUpdate(write) || (kind === 'native' && record.verb === 'delete')))
        checkUpdate(record, write.node);
    }
    follow(record);
    apply(record);
  }
  return violations;
};
