// The messages of the dashboard's server, and how a phase is drawn.

export type {
  CommandRequest,
  CommandResult,
  KeyMessage,
  NodeCell,
  NodeDetails,
  ObjectEvent,
  OverviewMessage,
  RolloutEvents,
  RolloutHead,
  RolloutMessage,
  RolloutRef,
  RolloutRow,
  SessionInfo,
  SilentCluster,
  StageStep,
  StreamMessage,
} from '../../src/dashboard/messages.ts';
export { rolloutKey } from '../../src/dashboard/messages.ts';
export { durationMs, resultTones } from '../../src/view/past-rollout.ts';
export { MARK_BOX, type MarkColor, phaseMark } from '../../src/view/phase-mark.ts';
export { bySeverity, phaseStyles } from '../../src/view/phase-style.ts';
export {
  byUrgency,
  type RolloutState,
  rolloutStates,
  type StateGroup,
  stateGroups,
  type Tone,
} from '../../src/view/states.ts';
export { type VersionStep, versionStep } from '../../src/view/versions.ts';
export { planLimits } from '../../src/words/plan.ts';
