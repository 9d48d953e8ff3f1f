export { type DaemonRollout, type DaemonRolloutStatus, daemonRolloutApi } from './api.ts';
export { approvedRevision, UPGRADE_APPROVED } from './approval.ts';
export { CLOCKS_APART_MS } from './clocks-apart.ts';
export { NOT_OBSERVED, restsOn } from './conditions.ts';
export { daemonRolloutCrd } from './crd.ts';
export { crdMetadata } from './crd-metadata.ts';
export { type Action, type Decision, decide, type Summary } from './decide.ts';
export {
  type DaemonNeeds,
  daemonNeeds,
  daemonTolerations,
  isEligible,
  placement,
  whyNotEligible,
} from './eligibility.ts';
export { type Explanation, explain, explainHold, hazards } from './explain.ts';
export type { NodeFacts, NodeView, PodFacts, Taint } from './facts.ts';
export { type Gate, gate, gateCondition, gatesOf, gatesOpen, hasGate } from './gates.ts';
export type { Hold, OutsideHold } from './hold.ts';
export { type ImageFacts, imageFactsOf } from './image-facts.ts';
export { ACKNOWLEDGED_WITHIN_MS, type ImageStand } from './image-need.ts';
export {
  IMAGE_READY,
  type ImageReady,
  type ImageReadyReason,
  imageReadyOf,
  imageReadyPatch,
  imageReadyRemoval,
} from './image-ready.ts';
export {
  type ImageRequest,
  type ImageRequests,
  isOwnersWish,
  openRequest,
  type RequestingDaemonSet,
} from './image-request.ts';
export {
  type ContainerMark,
  IN_PLACE_STATE,
  type InPlaceState,
  isStatusOfNow,
  readInPlaceState,
} from './in-place-state.ts';
export { count, formatIntOrPercent, type IntOrPercent, parseIntOrPercent, percent, resolve } from './int-or-percent.ts';
export { createLedger, type Ledger, type Tally } from './ledger.ts';
export {
  type Announcement,
  announcedRevision,
  announcementPatch,
  NEED_UPGRADE,
  type NeedUpgrade,
  type NeedUpgradeReason,
  needUpgradeOf,
} from './need-upgrade.ts';
export { IMAGE_AGENT, toNodeView } from './node-view.ts';
export { controllerOf, type Owner } from './owner.ts';
export { type RestoredRollout, restore, type SavedRollout, save } from './persist.ts';
export { type Cause, causesOf, type Phase, phases } from './phase.ts';
export { toPodFacts } from './pod-facts.ts';
export { imageReasons } from './pod-trouble.ts';
export {
  annotation,
  formatPolicyError,
  judgePolicy,
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
} from './policy.ts';
export { readTerms, type Terms } from './policy-terms.ts';
export { isPreparing, LIFECYCLE_STATE, PREPARING } from './preparing.ts';
export { type Act, type ActKind, isOutOfDate, livePod, mayBeUnderWay, type NodeRecord, newAct } from './record.ts';
export { formatSelector, fromLabelSelector, matches, nothing, parseSelector, type Selector } from './selector.ts';
export { newState, type RolloutState, type TargetRevision } from './state.ts';
export { statusOf, type WrittenStatus } from './status.ts';
export { recordedTemplate, templateDigest } from './template.ts';
export { toTimestamp } from './timestamps.ts';
