import { imageReadyOf, toPodFacts, toTimestamp } from '../../rollout/index.ts';
import { actsAt, type Deadline, isOvertaken, type Step } from '../decisions/index.ts';
import type { OwnNode } from '../own-node.ts';
import type {
  ContainerImage,
  Decision,
  FailureReason,
  ImageState,
  RefusalCode,
  Update,
  UpdateReason,
  UpdateState,
} from '../types.ts';
import { isTerminating, type TrackedUpdate } from '../updates/index.ts';
import { notComputableText } from './refusal.ts';

/** Why the last attempt to carry out a decision was refused, and when the next one is due. */
export interface LastRefusal {
  reason: RefusalCode;
  message: string;
  nextAt: number;
}

export interface UpdateViewInput {
  tracked: TrackedUpdate;
  decision: Decision | undefined;
  step: Step;
  lastRefusal: LastRefusal | undefined;
  deadline: Deadline | undefined;
  choices: Update['choices'];
  sizes: OwnNode['sizes'];
  /** Epoch milliseconds. */
  now: number;
}

/** A new pod that is not ready after this time is shown as failed. */
export const PROGRESS_MS = 600_000;

type State = Pick<Update, 'state' | 'reason' | 'message'>;
const as = (state: UpdateState, reason: UpdateReason, message: string): State => ({ state, reason, message });

export const isReady = ({ pod }: TrackedUpdate): boolean => (pod ? (toPodFacts(pod)?.ready ?? false) : false);

/** Why the new pod of an update fails; undefined while it may just need time. */
export const failureOf = (
  tracked: TrackedUpdate,
  now: number,
): { reason: FailureReason; detail: string } | undefined => {
  const { updateInProgress } = tracked.record;
  if (!updateInProgress || isReady(tracked)) return undefined;
  const facts = tracked.pod && toPodFacts(tracked.pod);
  if (facts && facts.revision === updateInProgress.toRevision && facts.trouble)
    return { reason: facts.trouble === 'image-pull' ? 'ImageCannotBePulled' : 'CrashLoop', detail: facts.detail };
  // After an approval, the manager decides when the update starts.
  const hasStarted =
    updateInProgress.decision.act?.kind !== 'approve' || facts?.revision === updateInProgress.toRevision;
  if (hasStarted && now - updateInProgress.startedAt > PROGRESS_MS)
    return {
      reason: 'NotReadyInTime',
      detail: `it has not become ready since ${toTimestamp(updateInProgress.startedAt)}`,
    };
  return undefined;
};

const HALTED = 'The new version was stopped because it failed elsewhere. You do not have to do anything.';
const NOT_OFFERED = 'There is a new version, but it is not offered to this device for now.';

const progressOf = (tracked: TrackedUpdate, toRevision: string): State => {
  const { pod, record } = tracked;
  if (!pod) return as('updating', 'WaitingForPod', 'The old version has stopped; the new one has not started yet.');
  if (isTerminating(pod)) return as('updating', 'Stopping', 'The old version is stopping.');
  if (record.running.revision === toRevision) return as('updating', 'Starting', 'The new version is starting.');
  if (toPodFacts(pod)?.preparingDelete) return as('updating', 'Preparing', 'The old version is preparing to stop.');
  if (record.announced.need === 'halted') return as('halted', 'Halted', HALTED);
  if (record.announced.need === 'withheld')
    return as('updating', record.announced.reason, 'The update was approved; it is held back for now.');
  return as('updating', 'WaitingForManager', 'The update was approved; it starts as soon as it is its turn.');
};

const stateOf = ({ tracked, decision, step, lastRefusal, now }: UpdateViewInput): State => {
  const { record, pod } = tracked;
  const { announced, updateInProgress, running } = record;
  const failure = failureOf(tracked, now);
  if (failure) return as('failed', failure.reason, `The new version does not work: ${failure.detail}.`);
  const isOldPod = pod && !isTerminating(pod) && running.revision !== announced.revision;
  if (decision?.state === 'acting' && isOldPod)
    return as('updating', 'OutcomeUnknown', 'The update was sent; whether it arrived is not known yet.');
  if (updateInProgress) return progressOf(tracked, updateInProgress.toRevision);
  if (announced.need === 'no') {
    if (running.revision !== announced.revision) return as('current', 'NotOffered', NOT_OFFERED);
    return isReady(tracked) || !pod
      ? as('current', 'UpToDate', 'The newest version is running.')
      : as('current', 'NotReady', 'The newest version is running, but is not ready at the moment.');
  }
  if (announced.need === 'halted') return as('halted', 'Halted', HALTED);
  const wait = step.kind === 'wait' ? step : undefined;
  const choice = decision?.decision.choice;
  if (choice === 'approve') {
    // What blocks the update now takes precedence over the last refusal.
    const why = wait ?? lastRefusal ?? { reason: 'Due', message: 'The update starts shortly.' };
    return as('queued', why.reason, why.message);
  }
  if (wait && choice !== undefined)
    return as(choice === 'postpone' ? 'postponed' : 'rejected', wait.reason, wait.message);
  if (announced.need === 'withheld') return as('current', announced.reason, NOT_OFFERED);
  if (step.kind === 'act' && lastRefusal) return as('queued', lastRefusal.reason, lastRefusal.message);
  // The DaemonSet is no longer in OTA mode, so an approval would be refused.
  if (record.terms?.ota === false) return as('current', 'NotOffered', NOT_OFFERED);
  return as('available', 'NewRevision', 'There is a new version. Nothing happens until you decide.');
};

const imageMessages: Readonly<Record<ImageState, string>> = {
  unknown: 'The new version was not requested for download before the update.',
  pulling: 'The new version is being downloaded.',
  ready: 'The new version is on this device.',
  failed: 'The new version could not be downloaded.',
};

const imageOf = ({ tracked: { pod, record } }: UpdateViewInput): Update['image'] => {
  const show = (state: ImageState, detail?: string): Update['image'] => ({
    state,
    message: detail ? `${imageMessages[state]} ${detail}` : imageMessages[state],
  });
  const { revision } = record.announced;
  if (record.running.revision === revision) return show('ready');
  const reported = pod && imageReadyOf(pod);
  if (!pod || reported?.revision !== revision) return show('unknown');
  const state = reported.status === 'True' ? 'ready' : reported.reason === 'PullImageFail' ? 'failed' : 'pulling';
  return show(state, reported.message);
};

const names = (images: readonly ContainerImage[]): string[] => images.map(({ image }) => image);

/** The images of an update that should be on this node: the others have no size yet. */
export const imagesHere = ({ pod, record, problem }: TrackedUpdate): { running: string[]; target: string[] } => {
  if (problem !== undefined) return { running: [], target: [] };
  const { running, announced, details } = record;
  const ready = pod && imageReadyOf(pod);
  const isHere =
    running.revision === announced.revision || (ready?.status === 'True' && ready.revision === announced.revision);
  return { running: names(running.images), target: isHere && details ? names(details.images) : [] };
};

const sizesOf = ({ tracked, sizes }: UpdateViewInput): Update['size'] => {
  const here = imagesHere(tracked);
  return { running: sizes.of(here.running), target: sizes.of(here.target) };
};

const LONGEST_UPDATE_S = 24 * 3600;

/**
 * Seconds from the delete until the kubelet saw the new pod ready, both by this device's clock. Undefined for an approval,
 * because the manager chooses when to start, and where the clock was set meanwhile.
 */
export const tookSeconds = ({ pod, record: { updateInProgress } }: TrackedUpdate): number | undefined => {
  const ready = pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  if (updateInProgress?.decision.act?.kind !== 'delete' || ready === undefined) return undefined;
  const seconds = Math.round((Date.parse(ready) - updateInProgress.startedAt) / 1000);
  return seconds > 0 && seconds <= LONGEST_UPDATE_S ? seconds : undefined;
};

/** One DaemonSet of this node, as shown to the owner. */
export const updateOf = (input: UpdateViewInput): Update => {
  const { tracked, decision, step, deadline, choices } = input;
  const { record, pod } = tracked;
  const { namespace, daemonSet, apiVersion, running, announced, details } = record;
  return {
    namespace,
    daemonSet,
    apiVersion,
    pod: pod?.metadata?.name ?? null,
    ...stateOf(input),
    running: { ...running, ready: isReady(tracked) },
    target: {
      revision: announced.revision,
      images: details?.images ?? null,
      publishedAt: details?.publishedAt ?? null,
      // A file of an earlier version of the agent has none.
      notes: details?.notes ?? null,
    },
    image: imageOf(input),
    size: sizesOf(input),
    decision: decision ?? record.updateInProgress?.decision ?? null,
    choices,
    deadline: deadline
      ? { at: toTimestamp(deadline.at), actsAt: toTimestamp(actsAt(deadline)), first: isOvertaken(step, deadline) }
      : null,
  };
};

/** An update whose state cannot be computed: what was known before, without any conclusion from it. */
export const unknownUpdateOf = (
  { record, pod }: TrackedUpdate,
  decision: Decision | undefined,
  choices: Update['choices'],
  problem: string,
): Update => {
  const { namespace, daemonSet, apiVersion, running, announced, details } = record;
  return {
    namespace,
    daemonSet,
    apiVersion,
    pod: pod?.metadata?.name ?? null,
    ...as('unknown', 'NotComputable', notComputableText(problem)),
    running: { ...running, ready: false },
    target: {
      revision: announced.revision || null,
      images: details?.images ?? null,
      publishedAt: details?.publishedAt ?? null,
      notes: details?.notes ?? null,
    },
    image: { state: 'unknown', message: imageMessages.unknown },
    size: { running: null, target: null },
    decision: decision ?? record.updateInProgress?.decision ?? null,
    choices,
    deadline: null,
  };
};
