import { type DaemonRolloutStage, type PlanStage, planApi, type RolloutPlanObject } from '../../words/index.ts';

export const planWith = (
  kind: RolloutPlanObject['kind'],
  metadata: RolloutPlanObject['metadata'],
  stages: PlanStage[],
): RolloutPlanObject => ({ apiVersion: planApi.apiVersion, kind, metadata, spec: { stages } });

export const stage = (
  name: string,
  state: DaemonRolloutStage['state'],
  more: Partial<DaemonRolloutStage> = {},
): DaemonRolloutStage => ({ name, state, nodes: { total: 4, online: 3, updated: 0 }, ...more });

/** A plan whose second stage awaits approval. */
export const awaitingApproval: readonly DaemonRolloutStage[] = [
  stage('lab', 'Passed', { promotion: 'Gates', promotedAt: '2030-01-01T00:00:00Z' }),
  stage('canary', 'Open', { awaits: { reason: 'Approval', message: 'waits for an approval' } }),
  stage('fleet', 'Closed'),
  stage('rest', 'Closed'),
];
