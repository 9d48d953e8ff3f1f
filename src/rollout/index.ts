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
  isOwnersWish,
  openRequest,
  type RequestingDaemonSet,
} from './facts/image-request.ts';
export {
  type ContainerMark,
  IN_PLACE_STATE,
  type InPlaceState,
  isStatusOfNow,
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
export { IMAGE_AGENT, toNodeView } from './facts/node.ts';
export { controllerOf, type Owner } from './facts/owner.ts';
export { toPodFacts } from './facts/pod.ts';
export { imageReasons } from './facts/pod-trouble.ts';
export { isPreparing, LIFECYCLE_STATE, PREPARING } from './facts/preparing.ts';
export { recordedTemplate, templateDigest } from './facts/template.ts';
export { toTimestamp } from './facts/timestamps.ts';
export type { NodeFacts, NodeView, PodFacts, Taint } from './facts/types.ts';
export { createLedger, type Ledger, type Tally } from './ledger/ledger.ts';
export { type RestoredRollout, restore, type SavedRollout, save } from './ledger/persist.ts';
export { newState, type RolloutState, type TargetRevision } from './ledger/state.ts';
export {
  count,
  formatIntOrPercent,
  type IntOrPercent,
  parseIntOrPercent,
  percent,
  resolve,
} from './policy/int-or-percent.ts';
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
} from './policy/policy.ts';
export { readTerms, type Terms } from './policy/terms.ts';
export { CLOCKS_APART_MS } from './record/clock-skew.ts';
export { ACKNOWLEDGED_WITHIN_MS, type ImageStand } from './record/images.ts';
export { type Cause, causesOf, type Phase, phases } from './record/phase.ts';
export {
  type Act,
  type ActKind,
  isOutOfDate,
  livePod,
  mayBeUnderWay,
  type NodeRecord,
  newAct,
} from './record/record.ts';
export { NOT_OBSERVED, restsOn } from './report/conditions.ts';
export { type Explanation, explain, explainHold, hazards } from './report/explain.ts';
export { statusOf, type WrittenStatus } from './report/status.ts';
export {
  type DaemonNeeds,
  daemonNeeds,
  daemonTolerations,
  isEligible,
  placement,
  whyNotEligible,
} from './selectors/eligibility.ts';
export {
  formatSelector,
  fromLabelSelector,
  matches,
  nothing,
  parseSelector,
  type Selector,
} from './selectors/selector.ts';
