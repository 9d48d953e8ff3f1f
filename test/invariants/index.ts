export { nodesOf, type Share } from './budget.ts';
export { mayRunOn, type NodeFacts } from './eligibility.ts';
export { type InvariantId, invariantIds, invariants } from './invariants.ts';
export { askedOf, testsIn } from './json-patch.ts';
export {
  HASH_LABEL,
  hasCondition,
  hashIn,
  IN_PLACE_GATE,
  isAvailable,
  isControlledBy,
  isDeletedTerminal,
  isLive,
  isPreparingDelete,
  LIFECYCLE_GATE,
  nodeOf,
  type PodFacts,
  podFactsOf,
} from './pod.ts';
export { type AnyDaemonSet, hasSameTemplate, isNative, isOta, type Policy, policyOf } from './policy.ts';
export {
  bringsTarget,
  type Finding,
  followsPredecessors,
  followsPromotions,
  isBoundToPod,
  isFirstUpdate,
  isFree,
  isInOpenStage,
  isInWindow,
  isLastComplete,
  isOnline,
  isOnlySurge,
  isOutdated,
  isSettled,
  keepsWorkingPod,
  obeysControls,
  staysClosed,
  withinBudget,
  withinDownBudget,
  withinGroupLimit,
  withinPartition,
} from './rules.ts';
export {
  isBusy,
  isInSample,
  type MarkedNode,
  openStages,
  type StagedNode,
  sizeOfSample,
  stageOfNode,
} from './stages.ts';
export { closedOn, NODE_ZONE_KEY } from './windows.ts';
