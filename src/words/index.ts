export { daemonRolloutCrd } from './crd/daemon-rollout.ts';
export { crdMetadata } from './crd/definition.ts';
export { planCrds } from './crd/plans.ts';
export { type Rule, type Schema, withRules } from './crd/schema.ts';
export { intOrPercent, labelMap, labelSelector } from './crd/values.ts';
export {
  ADVANCED_ROLLOUT_SUFFIX,
  type CheckState,
  cut,
  type DaemonRollout,
  type DaemonRolloutHistory,
  type DaemonRolloutPastStage,
  type DaemonRolloutReservation,
  type DaemonRolloutRevision,
  type DaemonRolloutStage,
  type DaemonRolloutStatus,
  daemonRolloutApi,
  daemonRolloutLimits,
  FIELD_MANAGER,
  type NotificationKind,
  notificationKinds,
  type RolloutNotification,
  type StageDecision,
  type StagePromotion,
  type StageWait,
} from './daemon-rollout.ts';
export {
  alias,
  aliasOf,
  annotation,
  keyInUse,
  knownKeys,
  OPENYURT_PREFIX,
  ownKey,
  PREFIX,
  settingKeys,
  strategyKeys,
} from './keys.ts';
export { type Cause, causesOf, type HeldCause, type Phase, phases, type UpdateKind } from './phases.ts';
export {
  type AnalysisCheck,
  type IntOrString,
  MOST_REQUIREMENTS,
  type PlanCheck,
  type PlanStage,
  type PlanStagePromotion,
  type PlanWindow,
  type PrometheusCheck,
  planApi,
  planLimits,
  planWeekdays,
  queryPlaceholders,
  REST_STAGE,
  type RolloutApproval,
  type RolloutApprovalSpec,
  type RolloutPlanObject,
  type RolloutPlanSpec,
} from './plan.ts';
export {
  type Gate,
  gate,
  IMAGE_READY,
  type ImageReadyReason,
  IN_PLACE_STATE,
  LIFECYCLE_STATE,
  NEED_UPGRADE,
  type NeedUpgradeReason,
  PREPARING,
  UPGRADE_APPROVED,
} from './pods.ts';
