export { type Action, type Reason, reasonTexts } from './decision/action.ts';
export { slotsOf, slotsOfStatus } from './decision/budget.ts';
export { type Decision, decide, type Summary } from './decision/decide.ts';
export { awaitsProof, firstWaveText, waveAfter, wavesOf } from './decision/first-wave.ts';
export type { OutsideHold } from './decision/hold.ts';
export { checksFrom, previewSamples } from './decision/stages.ts';
export { fullImageName } from './facts/image-name.ts';
export { imageFactsOf, imageReadyOf, imageReadyPatch, imageReadyRemoval } from './facts/image-ready.ts';
export {
  type ImageRequest,
  type ImageRequests,
  isRequestedByOwner,
  openImageRequest,
  type RequestingDaemonSet,
} from './facts/image-request.ts';
export { writtenAt } from './facts/managed-fields.ts';
export { controllerOf, type Owner, toEpochMs, toTimestamp, WHOLE_SECOND_MS } from './facts/metadata.ts';
export {
  type Announcement,
  announcedRevision,
  announcementPatch,
  approvedRevision,
  needUpgradeOf,
} from './facts/need-upgrade.ts';
export { createNodeReader, type NodeFacts, type NodeInfo, toNodeInfo } from './facts/node.ts';
export { diskShortage, listedState } from './facts/node-images.ts';
export {
  type ContainerSnapshot,
  gateCondition,
  gatesOf,
  gatesOpen,
  hasGate,
  type InPlaceState,
  isPreparing,
  isStatusUpToDate,
  readInPlaceState,
} from './facts/openkruise.ts';
export { isDeletedTerminal, type PodFacts, toPodFacts } from './facts/pod.ts';
export { imagePullReasons, shorten } from './facts/pod-trouble.ts';
export { parseQuantity } from './facts/quantity.ts';
export type { Requirement } from './facts/requirement.ts';
export {
  formatSelector,
  fromLabelSelector,
  matches,
  parseRequirements,
  parseSelector,
  type Selector,
  selectNothing,
  selectsNodes,
  type Unexpected,
} from './facts/selector.ts';
export { recordedTemplate, templateDigest } from './facts/template.ts';
export { imagesBeyond, imagesOf, type PullImage } from './facts/template-images.ts';
export { type TemplateOrigin, templateOrigin } from './facts/template-origin.ts';
export { createLedger } from './fleet/ledger.ts';
export type { Ledger } from './fleet/ledger-types.ts';
export { restore } from './fleet/persist.ts';
export type { TargetRevision } from './fleet/state.ts';
export { contactOf, isSuspiciouslySoon } from './node/contact.ts';
export { asksForPulls } from './node/images.ts';
export { boundVersion } from './node/in-place.ts';
export { MAX_CLOCK_SKEW_MS } from './node/observe.ts';
export { type OwnerStep, ownerStepOf, ownerSteps } from './node/owner.ts';
export { isStale, livePod } from './node/pods.ts';
export { isCarriedOut, type NodeUpdate, newUpdate } from './node/update.ts';
export type { UpdateEvent } from './node/update-events.ts';
export type { Approval } from './plan/approval.ts';
export { busyBy } from './plan/busy.ts';
export { findCycles } from './plan/cycles.ts';
export { forecastWaves, openTime } from './plan/forecast.ts';
export { codesOf, matchingStages, sampleCode } from './plan/membership.ts';
export { type Preceding, waitsFor } from './plan/order.ts';
export { type FoundPlan, predecessorsIn, withoutCycle, withPlan } from './plan/plan.ts';
export { groupsOf } from './plan/scopes.ts';
export { afterStageAction, withoutFailedChecks } from './plan/stage-state.ts';
export { canonicalTimeZone, windowsAt } from './plan/window.ts';
export {
  daemonTolerations,
  isEligible,
  nodeShouldRunDaemonPod,
  type SchedulingConstraints,
  schedulingConstraints,
  tooManyNeeds,
  whyNotEligible,
} from './policy/eligibility.ts';
export {
  budgetShare,
  count,
  formatIntOrPercent,
  type IntOrPercent,
  parseIntOrPercent,
  percent,
  scaledValue,
} from './policy/int-or-percent.ts';
export type { Plan, Predecessor } from './policy/plan-terms.ts';
export {
  hasUnusableName,
  heldBy,
  optsIn,
  ownersReplacePods,
  type ParsedPolicy,
  type Policy,
  type PolicyWords,
  parsePolicy,
  readOtaTerms,
  readStrategy,
  surges,
  validatedPolicy,
} from './policy/policy.ts';
export { misspelledKeys, spellings } from './policy/spelling.ts';
export { DEFAULT_SETTLE_MS, readTerms, type Terms } from './policy/terms.ts';
export {
  createReader,
  formatPlanName,
  formatPolicyError,
  type PlanName,
  type PolicyError,
  parseDuration,
  readFirstWave,
  readRecreate,
} from './policy/values.ts';
export {
  type ConditionState,
  conditionsOf,
  conditionsOnDaemonSet,
  conditionsOnError,
  errorOnDaemonSet,
  failedGeneration,
  INTERNAL_ERROR,
  isAtRest,
  isOnDaemonSet,
  reasonOfHold,
  reportedError,
  stalledHolds,
  summaryText,
  TEMPLATE_NOT_OBSERVED,
  withRefusal,
} from './report/conditions.ts';
export { countsOf, fullScopeOf } from './report/counts.ts';
export { isNeverSeen } from './report/coverage.ts';
export { DETECTION_LAG_MS, type Explanation, explain, policyWarnings, refusedSurges } from './report/explain.ts';
export { explainHold, seconds } from './report/explain-hold.ts';
export { driftText, REMEDY_OF_DRIFT } from './report/image-drift.ts';
export { milestonesOf } from './report/milestones.ts';
export {
  hasCompleted,
  hasReachedAll,
  hasStarted,
  type NotificationTerms,
  notificationId,
  notificationsOf,
  startedText,
  stragglersAt,
} from './report/notifications.ts';
export { commandWords, type DaemonSetName, type RemedyCommand, runText } from './report/remedy-command.ts';
export { awaitedStage, stagesOf } from './report/stages.ts';
export { statusOf, statusOnError, type WrittenStatus } from './report/status.ts';
