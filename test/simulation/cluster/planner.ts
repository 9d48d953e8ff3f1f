import type { ApiServer, Change } from '../../../embedded/index.ts';
import { defineResource, type KubeObject } from '../../../src/kube/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import {
  type DaemonRollout,
  type DaemonRolloutStatus,
  planApi,
  REST_STAGE,
  type RolloutApprovalSpec,
  type RolloutPlanSpec,
} from '../../../src/words/index.ts';
import type { UserOperation } from '../plan/plan.ts';
import type { Workload } from './workload.ts';

const { group, version, apiVersion } = planApi;
const rolloutPlans = defineResource<KubeObject>({ group, version, ...planApi.plan, namespaced: true });
const rolloutApprovals = defineResource<KubeObject>({ group, version, ...planApi.approval, namespaced: true });
const NAMESPACE = 'default';

/** After so long, somebody looks at a stage that does not get on. */
const PATIENCE_MS = 300_000;

/** What the manager says where it waits for somebody (decision 40). */
const STUCK = / that an earlier revision broke hold every slot of /;

/** Who approves what awaits an approval. */
const APPROVER = 'ann';

/** A plan has to say something: this holds nothing. */
const PAST = { from: '2025-01-01', to: '2025-01-02' };

/** Without empty lists. */
const specFrom = ({ stages = [], windows = [], freezes = [], ...spec }: RolloutPlanSpec): RolloutPlanSpec => ({
  ...spec,
  ...(stages.length > 0 && { stages }),
  ...(windows.length > 0 && { windows }),
  freezes: [...freezes, PAST],
});

/** The rollout plan of a DaemonSet, and the people who decide about its stages. */
export const createPlanner = ({
  apiServer,
  time,
  workload,
}: {
  apiServer: ApiServer;
  time: Clock;
  workload: Workload;
}) => {
  const { set, ref, label } = workload;
  const key = { namespace: NAMESPACE, name: label };
  const rolloutName = ref.group === 'apps' ? ref.name : `${ref.name}.${ref.group}`;
  /** Stages of revisions that were asked about. */
  const asked = new Set<string>();
  /** The latest target, and the one before. */
  let present: string | undefined;
  let before: string | undefined;
  let decisions = 0;
  let touches = 0;
  /** All faults are over. */
  let recovered = false;
  let status: DaemonRolloutStatus | undefined;

  const create = (spec: RolloutPlanSpec): void =>
    void apiServer.create(rolloutPlans, {
      apiVersion,
      kind: planApi.plan.kind,
      metadata: { ...key },
      spec: specFrom(spec),
    } as KubeObject);
  const edit = (spec: RolloutPlanSpec | undefined): void => {
    const found = apiServer.find<KubeObject>(rolloutPlans, key);
    if (spec === undefined) {
      if (found) apiServer.delete(rolloutPlans, key);
    } else if (found) apiServer.update(rolloutPlans, { ...found, spec: specFrom(spec) } as KubeObject);
    else create(spec);
  };
  const approve = (by: string, revision: string, stage: string, decision: 'Approve' | 'Promote'): void => {
    decisions += 1;
    const spec: RolloutApprovalSpec = {
      daemonSet: { apiGroup: ref.group === 'apps' ? 'apps' : 'apps.kruise.io', name: ref.name },
      revision,
      stage,
      decision,
      approvedBy: by,
    };
    apiServer.create(rolloutApprovals, {
      apiVersion,
      kind: planApi.approval.kind,
      metadata: { namespace: NAMESPACE, name: `${label}-${decisions}` },
      spec,
    } as KubeObject);
  };

  /** Nodes that an older version broke hold every slot of the budget or of a group, and their stages are closed: somebody lets the rollout reach them. */
  const promoteIfStuck = (revision: string, stage: string): void =>
    void time.timer(PATIENCE_MS, () => {
      const isPassed = status?.stages?.some(({ name, promotedAt }) => name === stage && promotedAt !== undefined);
      if (status?.target?.hash === revision && !isPassed && isStuck(stage))
        approve(APPROVER, revision, stage, 'Promote');
    });
  /** Where only groups have no room, people rely on what the status says of the stage. */
  const isStuck = (stage: string): boolean =>
    (status?.budget?.inUse ?? 0) >= (status?.budget?.nodes ?? 1) ||
    STUCK.test(status?.stages?.find(({ name }) => name === stage)?.awaits?.message ?? '');

  return {
    create: (): void => create(set.rolloutPlan ?? {}),
    edit,
    /** Changes nothing that matters. */
    touch(): void {
      const found = apiServer.find<KubeObject>(rolloutPlans, key);
      touches += 1;
      const annotations = { touched: String(touches) };
      if (found) apiServer.update(rolloutPlans, { ...found, metadata: { ...found.metadata, annotations } });
    },
    /** Nothing but stages holds the rollout from now on. */
    recover(): void {
      recovered = true;
      edit({ ...set.rolloutPlan, windows: [], freezes: [] });
    },
    decide({ stage, decision, older = false }: Extract<UserOperation, { do: 'decide' }>): void {
      const revision = older ? before : present;
      if (revision !== undefined) approve('bob', revision, stage, decision);
    },
    onCommit({ resource, object, type }: Change): void {
      if (type === 'DELETED' || resource.plural !== 'daemonrollouts' || object.metadata.name !== rolloutName) return;
      ({ status } = object as unknown as DaemonRollout);
      const { target, stages = [] } = status ?? {};
      if (!target) return;
      if (present !== target.hash) [present, before] = [target.hash, present];
      for (const { name, awaits } of stages) {
        const what = `${target.hash} ${name}`;
        // Nobody can decide about the last stage.
        if (awaits !== undefined && name !== REST_STAGE && recovered && isStuck(name) && !asked.has(`${what} stuck`)) {
          asked.add(`${what} stuck`);
          promoteIfStuck(target.hash, name);
        }
        if (awaits?.reason !== 'Approval' && awaits?.reason !== 'Timeout') continue;
        if (asked.has(what)) continue;
        asked.add(what);
        time.timer(set.approvedAfterMs ?? 0, () => approve(APPROVER, target.hash, name, 'Approve'));
      }
    },
  };
};
export type Planner = ReturnType<typeof createPlanner>;
