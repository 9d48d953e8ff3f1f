export { daemonRolloutCrd } from './api/crd.ts';
export { crdMetadata } from './api/crd-metadata.ts';
export { type DaemonRollout, type DaemonRolloutStatus, daemonRolloutApi } from './api/types.ts';
export { type Action, type Decision, decide, type Summary } from './decision/decide.ts';
export type { Hold, OutsideHold } from './decision/hold.ts';
export { approvedRevision, UPGRADE_APPROVED } from './facts/approval.ts';
export { type Gate, gate, gateCondition, gatesOf, gatesOpen, hasGate } from './facts/gates.ts';
export { type ImageFacts, imageFactsOf } from './facts/image-facts.ts';
export {
  IMAGE_READY,
  type ImageReady,
  type ImageReadyReason,
  imageReadyOf,
  imageReadyPatch,
  imageReadyRemoval,
} from './facts/image-ready.ts';
export {
  type ImageRequest,
  type ImageRequests,
  isRequestedByOwner,
  openImageRequest,
  type RequestingDaemonSet,
} from './facts/image-request.ts';
export {
  type ContainerSnapshot,
  IN_PLACE_STATE,
  type InPlaceState,
  isStatusUpToDate,
  readInPlaceState,
} from './facts/in-place-state.ts';
export {
  type Announcement,
  announcedRevision,
  announcementPatch,
  NEED_UPGRADE,
  type NeedUpgrade,
  type NeedUpgradeReason,
  needUpgradeOf,
} from './facts/need-upgrade.ts';
export { IMAGE_AGENT, toNodeInfo } from './facts/node.ts';
export { controllerOf, type Owner } from './facts/owner.ts';
export { toPodFacts } from './facts/pod.ts';
export { imagePullReasons } from './facts/pod-trouble.ts';
export { isPreparing, LIFECYCLE_STATE, PREPARING } from './facts/preparing.ts';
export { recordedTemplate, templateDigest } from './facts/template.ts';
export { toTimestamp } from './facts/timestamps.ts';
export type { NodeFacts, NodeInfo, PodFacts, Taint } from './facts/types.ts';
export { createLedger, type Ledger, type Tally } from './ledger/ledger.ts';
export { type RestoredRollout, restore, type SavedRollout, save } from './ledger/persist.ts';
export { newState, type RolloutState, type TargetRevision } from './ledger/state.ts';
export {
  count,
  formatIntOrPercent,
  type IntOrPercent,
  parseIntOrPercent,
  percent,
  scaledValue,
} from './policy/int-or-percent.ts';
export {
  annotation,
  formatPolicyError,
  type OtaTerms,
  type ParsedPolicy,
  type Policy,
  type PolicyError,
  type PolicySource,
  type PolicyWords,
  parsePolicy,
  readOtaTerms,
  readStrategy,
  surges,
  validatedPolicy,
} from './policy/policy.ts';
export { readTerms, type Terms } from './policy/terms.ts';
export { MAX_CLOCK_SKEW_MS } from './record/clock-skew.ts';
export { AGENT_ACK_TIMEOUT_MS, type ImageState } from './record/images.ts';
export { type Cause, causesOf, type Phase, phases } from './record/phase.ts';
export {
  isStale,
  livePod,
  mayHaveStarted,
  type NodeRecord,
  type NodeUpdate,
  newUpdate,
  type UpdateKind,
} from './record/record.ts';
export { idleReason, TEMPLATE_NOT_OBSERVED } from './report/conditions.ts';
export { type Explanation, explain, explainHold, policyWarnings } from './report/explain.ts';
export { statusOf, type WrittenStatus } from './report/status.ts';
export {
  daemonTolerations,
  isEligible,
  nodeShouldRunDaemonPod,
  type SchedulingConstraints,
  schedulingConstraints,
  whyNotEligible,
} from './selectors/eligibility.ts';
export {
  formatSelector,
  fromLabelSelector,
  matches,
  parseSelector,
  type Selector,
  selectNothing,
} from './selectors/selector.ts';
