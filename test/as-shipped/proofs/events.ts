import type { Proofs } from '../cases.ts';

const NATIVE = 'conformance/native';
const STEPS = `${NATIVE}/events.ts: report each step of a rollout once`;
const RINGS = `${NATIVE}/stages.ts: one ring follows the other`;
const ADVANCED = 'conformance/advanced';
const TAKEN_OVER = 'cluster/advanced-api.test.ts: a manager says that it may not read the Lease';

export const managerEvents: Proofs = {
  RolloutStarted: STEPS,
  OfflineNodesSkipped: STEPS,
  SuccessfulDelete: STEPS,
  RolloutCompleted: STEPS,
  AllNodesUpdated: `${NATIVE}/offline.ts: they are skipped, reported separately`,
  FailedDelete: `${NATIVE}/faults.ts: a refused delete is retried`,
  FailedFence: `${NATIVE}/warnings.ts: a slot whose fence the API server refuses`,
  FailedAnnounce: `${NATIVE}/ota.ts: one pod whose patch is refused`,
  FailedImagePull: 'conformance/prefetch/ahead.ts: that nobody can pull',
  FailedImageRequest: `${NATIVE}/warnings.ts: a request for images that the API server refuses`,
  RolloutPaused: `${NATIVE}/controls.ts: pausing stops the rollout midway`,
  RolloutUnpaused: `${NATIVE}/controls.ts: pausing stops the rollout midway`,
  RolloutHalted: `${NATIVE}/breaker.ts: \${behaviour} is a failure`,
  ImageDrift: `${NATIVE}/image-drift.ts: are reported with their IDs`,
  RolloutResumed: `${NATIVE}/breaker.ts: resuming forgives the failures`,
  RolledBack: `${NATIVE}/rollback.ts: restores the template`,
  RollbackFailed: `${NATIVE}/warnings.ts: a rollback that the API server refuses`,
  StageOpened: RINGS,
  StagePassed: RINGS,
  StageAwaitsApproval: RINGS,
  StageTimedOut: `${NATIVE}/stages.ts: a stage that times out`,
  StageExposed: [`${NATIVE}/exposed.ts: a recreated pod and a node that joins`, 'EVENT'],
  CheckFailing: `${NATIVE}/checks.ts: one is false as often as failureLimit`,
  CheckWithoutResult: `${NATIVE}/checks.ts: a Prometheus that hangs`,
  InvalidPolicy: `${NATIVE}/budget.ts: "\${bad}" is invalid`,
  DaemonRolloutConflict: `${NATIVE}/warnings.ts: a DaemonRollout of somebody else is in the way`,
  PolicyConflict: `${NATIVE}/opting-in.ts: when both keys are set and differ`,
  SuccessfulCreate: `${ADVANCED}/warnings.ts: a finalizer that the API server refuses`,
  InternalError: 'conformance/errors/index.ts: hold the rollout, are reported everywhere',
  FailedCreate: `${ADVANCED}/placement.ts: refused pods are retried with back-off`,
  SuccessfulUpdatePodInPlace: `${ADVANCED}/in-place-updates.ts: \${what}: pods keep their UID`,
  FailedUpdatePodInPlace: `${ADVANCED}/in-place-updates.ts: resources that the node cannot provide`,
  FailedDaemonPod: `${ADVANCED}/placement.ts: failed pods are replaced with back-off`,
  FailedPlacement: `${ADVANCED}/placement.ts: an unschedulable pod is reported`,
  AwaitingPreDelete: `${ADVANCED}/lifecycle.ts: a DaemonSet that is deleted is gone`,
  PreDeleteTimeout: `${ADVANCED}/lifecycle.ts: the annotation bounds the wait`,
  MarkPodNotReadyIneffective: `${ADVANCED}/lifecycle.ts: markPodNotReady that is set later`,
  FailedAdopt: 'cluster/manager-rights/manager-at-work.test.ts: only a pod that a DaemonSet left behind is adopted',
  FailedFinalizer: `${ADVANCED}/warnings.ts: a finalizer that the API server refuses`,
  OpenKruiseManager: `${ADVANCED}/ownership.ts: while its manager holds its lease`,
  LeaseForbidden: TAKEN_OVER,
  SelectingAll: TAKEN_OVER,
  SelectorTooLong: `${ADVANCED}/warnings.ts: a selector that is too long`,
  NativeDaemonSet: `${ADVANCED}/served.ts: a native DaemonSet with the same selector conflicts`,
  UnknownFields: `${ADVANCED}/refusals.ts: a misspelled field that was accepted before`,
  PreviousOwner: `${ADVANCED}/served.ts: pods of a DaemonSet that is being deleted`,
  InvalidTemplate: `${ADVANCED}/revisions.ts: a template that the API server refuses`,
};

const ROUTES = 'conformance/agent/serving.ts: every route';

export const agentEvents: Proofs = {
  UpdateNotComputable: 'conformance/agent/decisions.ts: of a later version of the agent',
  OwnerDecided: ROUTES,
  UpdateCarriedOut: ROUTES,
  DecisionSuperseded: ROUTES,
  UpdateRefused: ROUTES,
};

export const routes: Proofs = {
  'GET /pods': ['conformance/agent/compatible.ts: offline and after a power cut', '.pods()'],
  'POST /openyurt.io/v1/namespaces/{namespace}/pods/{pod}/upgrade':
    'conformance/agent/walkthrough.ts: one pod is upgraded',
  'POST /openyurt.io/v1/namespaces/{namespace}/pods/{pod}/imagepull': [
    'conformance/agent/compatible.ts: images are pulled ahead by the manager',
    'pullImages(',
  ],
  'GET /edgeset.io/v1/updates': ROUTES,
  'GET /edgeset.io/v1/updates/{namespace}/{daemonSet}': [
    'conformance/agent/serving.ts: HTTPS to callers',
    '/edgeset.io/v1/updates/${c.namespace}/app',
  ],
  'POST /edgeset.io/v1/updates/{namespace}/{daemonSet}/decision': [ROUTES, 'owner.decide('],
  'GET /edgeset.io/v1/history': ROUTES,
  'GET /edgeset.io/v1/device': ROUTES,
  'GET /edgeset.io/v1/events': ROUTES,
};
