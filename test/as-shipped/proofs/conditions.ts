import type { Proofs } from '../cases.ts';

const NATIVE = 'conformance/native';
const SUSPECTS = `${NATIVE}/breaker.ts: while suspects reach the threshold`;
const DRIFT = `${NATIVE}/image-drift.ts`;
const KSTATUS = `${NATIVE}/status.ts: conditions follow kstatus`;

/** Types and reasons, of DaemonRollouts and native DaemonSets. */
export const conditions: Proofs = {
  Complete: KSTATUS,
  AllNodesUpdated: `${NATIVE}/offline.ts: they are skipped, reported separately`,
  Ready: KSTATUS,
  Reconciling: KSTATUS,
  Stalled: KSTATUS,
  Paused: `${NATIVE}/controls.ts: pausing stops the rollout midway`,
  Halted: `${NATIVE}/rollback.ts: halt is the default`,
  Failures: `${NATIVE}/limits.ts: its failureThreshold`,
  RolledBack: `${NATIVE}/rollback.ts: the same revision stays halted`,
  CheckFailed: `${NATIVE}/checks.ts: one is false as often as failureLimit`,
  WaitingForSuspects: SUSPECTS,
  ImageDrift: `${DRIFT}: are reported with their IDs`,
  ImagesDiffer: `${DRIFT}: are reported with their IDs`,
  ImagesAgree: `${DRIFT}: are reported with their IDs`,
  InternalError: 'conformance/errors/index.ts: hold the rollout, are reported everywhere',
  FailedCreate: 'conformance/advanced/refusals.ts: while neither a resize nor a new pod is accepted',
  AllOnlineNodesUpdated: `${NATIVE}/reasons.ts: say where a rollout stands`,
  InProgress: `${NATIVE}/reasons.ts: say where a rollout stands`,
  LeftOnOldRevision: `${NATIVE}/controls.ts: partition keeps that many nodes`,
  ZeroBudget: `${NATIVE}/budget.ts: \${zero} freezes the rollout`,
  InvalidPolicy: `${NATIVE}/stages.ts: a plan that is missing holds the rollout`,
  TemplateNotObserved: `${NATIVE}/target.ts: no update before the native controller`,
  OwnerDecides: `${NATIVE}/ota.ts: every pod gets one announcement per revision`,
  OnDelete: `${NATIVE}/reasons.ts: say where a rollout of an Advanced DaemonSet stands`,
  OutsideWindow: `${NATIVE}/stages.ts: a plan that is missing holds the rollout`,
  OfflineNodesOutdated: `${NATIVE}/offline.ts: they are skipped, reported separately`,
  NotSynced: 'cluster/plans.test.ts: a rollout says that it waits for the plans',
  Deleted: `${NATIVE}/reasons.ts: say that a DaemonSet is being deleted`,
  NotManaged: `${NATIVE}/reasons.ts: say where a rollout stands`,
  StageUpdating: `${NATIVE}/limits.ts: coverage and minNodes`,
  StageSoaking: `${NATIVE}/reasons.ts: say where a rollout stands`,
  StageChecking: `${NATIVE}/checks.ts: a Prometheus that hangs`,
  AwaitingApproval: `${NATIVE}/stages.ts: one ring follows the other`,
  StageTimedOut: `${NATIVE}/reasons.ts: say where a rollout stands`,
};

const ADVANCED = 'conformance/advanced';
const STATUS = `${ADVANCED}/status.ts: counts nodes and pods as native DaemonSets do`;
const OWN = `${NATIVE}/reasons.ts: say where a rollout of an Advanced DaemonSet stands`;
const LEASE = 'cluster/advanced-api.test.ts: a manager says that it may not read the Lease';
const WARNED = `${ADVANCED}/warnings.ts`;

export const advancedConditions: Proofs = {
  Ready: STATUS,
  Reconciling: STATUS,
  Stalled: STATUS,
  Paused: STATUS,
  Complete: STATUS,
  NothingInTheWay: STATUS,
  NotPaused: STATUS,
  ImageDrift: `${ADVANCED}/image-drift.ts: halt a rollout, \${how}, and the DaemonSet says`,
  ImagesDiffer: `${ADVANCED}/image-drift.ts: halt a rollout, \${how}, and the DaemonSet says`,
  ImagesAgree: `${ADVANCED}/image-drift.ts: halt a rollout, \${how}, and the DaemonSet says`,
  Incomplete: `${WARNED}: a topology key spreads each wave`,
  OnDelete: `${WARNED}: a topology key spreads each wave`,
  OwnerDecides: OWN,
  LeftOnOldRevision: OWN,
  Deleted: `${ADVANCED}/lifecycle.ts: a DaemonSet that is deleted is gone once each pod was released`,
  OpenKruiseManager: `${ADVANCED}/ownership.ts: while its manager holds its lease`,
  LeaseForbidden: LEASE,
  SelectingAll: LEASE,
  SelectorTooLong: `${WARNED}: a selector that is too long`,
  NativeDaemonSet: `${ADVANCED}/served.ts: a native DaemonSet with the same selector conflicts`,
  UnknownFields: `${ADVANCED}/refusals.ts: a misspelled field that was accepted before`,
  PreviousOwner: `${ADVANCED}/served.ts: pods of a DaemonSet that is being deleted`,
  InvalidTemplate: `${ADVANCED}/revisions.ts: a template that the API server refuses`,
  InvalidPolicy: OWN,
  InternalError: 'conformance/errors/index.ts: hold the rollout, are reported everywhere',
  FailedCreate: `${ADVANCED}/placement.ts: refused pods are retried with back-off`,
  ZeroBudget: LEASE,
  Halted: `${ADVANCED}/in-place-updates.ts: a version that crashes is halted`,
};
