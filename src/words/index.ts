export { type DaemonRollout, daemonRolloutCrd } from './crd/daemon-rollout.ts';
export { crdMetadata } from './crd/definition.ts';
export type {
  DaemonRolloutHistory,
  DaemonRolloutPastStage,
  DaemonRolloutRevision,
  StageDecision,
} from './crd/history.ts';
export type {
  AnalysisCheck,
  PlanCheck,
  PlanStage,
  PlanStagePromotion,
  PlanWindow,
  PrometheusCheck,
  RolloutPlanSpec,
} from './crd/plan-schema.ts';
export { planCrds, type RolloutApproval, type RolloutApprovalSpec, type RolloutPlanObject } from './crd/plans.ts';
export { type Rule, type Schema, withRules } from './crd/schema.ts';
export type { CheckState, DaemonRolloutStage, StagePromotion, StageWait } from './crd/stages.ts';
export {
  type DaemonRolloutReservation,
  type DaemonRolloutStatus,
  type NotificationKind,
  notificationKinds,
  type RolloutNotification,
} from './crd/status.ts';
export { type IntOrString, intOrPercent, labelMap, labelSelector } from './crd/values.ts';
export {
  ADVANCED_ROLLOUT_SUFFIX,
  cut,
  daemonRolloutApi,
  daemonRolloutLimits,
  FIELD_MANAGER,
} from './daemon-rollout.ts';
export {
  alias,
  aliasOf,
  annotation,
  CHANGE_CAUSE,
  keyInUse,
  knownKeys,
  OPENYURT_PREFIX,
  ownKey,
  PREFIX,
  settingKeys,
  strategyKeys,
} from './keys.ts';
export {
  type Cause,
  causesOf,
  type FailedCause,
  type HeldCause,
  type Phase,
  phases,
  type UpdateKind,
} from './phases.ts';
export { MOST_REQUIREMENTS, planApi, planLimits, planWeekdays, queryPlaceholders, REST_STAGE } from './plan.ts';
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
export type { Infer, ObjectOf, Typed } from './typed.ts';
