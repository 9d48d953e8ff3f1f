export { columnsOf, cutTo, wrap } from './columns.ts';
export {
  type Caller,
  type Connection,
  type ConnectionFlags,
  connectionSettings,
  FIELD_MANAGER,
  INSTALL_CRDS,
  withCluster,
} from './connection.ts';
export { countsOf, phaseOf, type RolloutCounts } from './counts.ts';
export { type DaemonSets, type Doubt, doubtTexts, readDaemonSets, statusText, watchDaemonSets } from './daemon-sets.ts';
export { CommandError, serverMessage } from './errors.ts';
export { explainNode } from './explain-node.ts';
export {
  doneText,
  driftNotes,
  explainRecord,
  explainRollout,
  haltsAt,
  holdLine,
  holdText,
  notesOf,
  policyNotes,
  whenHalted,
} from './explain-rollout.ts';
export { failureText, headlineOf, versionOf } from './headline.ts';
export { keepDrawing } from './keep-drawing.ts';
export { advanced } from './kinds/advanced.ts';
export type { DaemonSetKind, DaemonSetLike, DaemonSetState, Overrides, Reading } from './kinds/kind.ts';
export {
  ambiguousName,
  findKind,
  isKind,
  isNamed,
  joinName,
  kinds,
  type Named,
  ownerOfRollout,
  readKind,
  readName,
  readNames,
} from './kinds/names.ts';
export { native } from './kinds/native.ts';
export { managerState } from './manager-lease.ts';
export {
  managerNotes,
  readDaemonSet,
  readPredecessor,
  readRolloutOf,
  readStatus,
  requirePlan,
  rightsNote,
  withManager,
} from './named-rollout.ts';
export { changedImages, durationMs } from './past-rollout.ts';
export { MARK_BOX, type MarkLayer, phaseMark } from './phase-mark.ts';
export { bySeverity, phaseStyles } from './phase-style.ts';
export { rateOf } from './rate.ts';
export { lastSeen, withRefusedPods } from './refused-pods.ts';
export { typedCommand } from './remedy.ts';
export { revisionImages } from './revision-images.ts';
export { stateOf, toneOfStatus } from './rollout-state.ts';
export { openStageOf, presentStages, promotionWay } from './stages.ts';
export type { RolloutState } from './states.ts';
export {
  type Cell,
  createTable,
  firstOf,
  formatSeconds,
  joinSentences,
  type OutputFormat,
  structured,
  timeUntil,
  withoutManagedFields,
} from './tables.ts';
export {
  headed,
  noteLine,
  type Paint,
  type Tone,
  type TonedLine,
  toneOfPhase,
  toneOfResult,
  toneOfStage,
} from './tones.ts';
export { createTrouble } from './trouble.ts';
export { type VersionStep, versionStep } from './versions.ts';
export { watchNodes } from './watch-rollout.ts';
export { whereInstalled } from './where-installed.ts';
