export { daemonRolloutCrd } from './api/crd.ts';
export { crdMetadata } from './api/crd-schema.ts';
export { type DaemonRollout, type DaemonRolloutStatus, daemonRolloutApi } from './api/types.ts';
export { type Action, type Decision, decide } from './decision/decide.ts';
export type { OutsideHold } from './decision/hold.ts';
export {
  IMAGE_READY,
  type ImageReady,
  type ImageReadyReason,
  imageFactsOf,
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
export { controllerOf, type Owner, toTimestamp } from './facts/metadata.ts';
export {
  type Announcement,
  announcedRevision,
  announcementPatch,
  approvedRevision,
  NEED_UPGRADE,
  type NeedUpgradeReason,
  needUpgradeOf,
  UPGRADE_APPROVED,
} from './facts/need-upgrade.ts';
export { IMAGE_AGENT, type NodeFacts, type NodeInfo, toNodeInfo } from './facts/node.ts';
export {
  type ContainerSnapshot,
  type Gate,
  gate,
  gateCondition,
  gatesOf,
  gatesOpen,
  hasGate,
  IN_PLACE_STATE,
  type InPlaceState,
  isPreparing,
  isStatusUpToDate,
  LIFECYCLE_STATE,
  PREPARING,
  readInPlaceState,
} from './facts/openkruise.ts';
export { type PodFacts, toPodFacts } from './facts/pod.ts';
export { imagePullReasons } from './facts/pod-trouble.ts';
export { recordedTemplate, templateDigest } from './facts/template.ts';
export { createLedger, type Ledger } from './ledger/ledger.ts';
export { restore } from './ledger/persist.ts';
export type { TargetRevision } from './ledger/state.ts';
export {
  count,
  formatIntOrPercent,
  type IntOrPercent,
  parseIntOrPercent,
  percent,
  scaledValue,
} from './policy/int-or-percent.ts';
export {
  type ParsedPolicy,
  type Policy,
  type PolicyWords,
  parsePolicy,
  readOtaTerms,
  readStrategy,
  validatedPolicy,
} from './policy/policy.ts';
export { readTerms } from './policy/terms.ts';
export { annotation, formatPolicyError, type PolicyError } from './policy/values.ts';
export { AGENT_ACK_TIMEOUT_MS } from './record/images.ts';
export { MAX_CLOCK_SKEW_MS } from './record/observe.ts';
export { type Cause, type Phase, phases } from './record/phase.ts';
export { isStale, livePod } from './record/pods.ts';
export { mayHaveStarted, type NodeUpdate, newUpdate } from './record/update.ts';
export { idleReason, TEMPLATE_NOT_OBSERVED } from './report/conditions.ts';
export { type Explanation, explain, policyWarnings } from './report/explain.ts';
export { explainHold } from './report/explain-hold.ts';
export { statusOf, type WrittenStatus } from './report/status.ts';
export {
  daemonTolerations,
  isEligible,
  nodeShouldRunDaemonPod,
  type SchedulingConstraints,
  schedulingConstraints,
  whyNotEligible,
} from './selectors/eligibility.ts';
export { isOperator, type Requirement } from './selectors/requirement.ts';
export {
  formatSelector,
  fromLabelSelector,
  matches,
  parseRequirements,
  parseSelector,
  type Selector,
  selectNothing,
  type Unexpected,
} from './selectors/selector.ts';
