import { imageReadyOf, toPodFacts, toTimestamp } from '../../rollout/index.ts';
import type { Step } from '../decisions/index.ts';
import type { ImagePulls } from '../images/index.ts';
import type { Decision, ImageState, Update, UpdateState } from '../types.ts';
import { isTerminating, type TrackedUpdate } from '../updates/index.ts';

/** Why the last try to carry a decision out came to nothing, and when the next is due. */
export interface LastRefusal {
  reason: string;
  message: string;
  nextAt: number;
}

export interface UpdateViewInput {
  tracked: TrackedUpdate;
  decision: Decision | undefined;
  step: Step;
  lastRefusal: LastRefusal | undefined;
  /** Epoch milliseconds. */
  deadline: { at: number; actsAt: number } | undefined;
  images: Pick<ImagePulls, 'state'>;
  now: number;
}

/** A new pod that is not ready for so long is told as not working. */
export const PROGRESS_MS = 600_000;

type Told = Pick<Update, 'state' | 'reason' | 'message'>;
const told = (state: UpdateState, reason: string, message: string): Told => ({ state, reason, message });

export const isReady = ({ pod }: TrackedUpdate): boolean => (pod ? (toPodFacts(pod)?.ready ?? false) : false);

/** What is wrong with the pod that an act made room for; undefined while it may just need time. */
export const failureOf = (tracked: TrackedUpdate, now: number): { reason: string; detail: string } | undefined => {
  const { episode } = tracked.record;
  if (!episode || isReady(tracked)) return undefined;
  const facts = tracked.pod && toPodFacts(tracked.pod);
  if (facts && facts.revision === episode.toRevision && facts.trouble)
    return { reason: facts.trouble === 'image-pull' ? 'ImageCannotBePulled' : 'CrashLoop', detail: facts.detail };
  // What was approved and not begun is the manager's to begin.
  const isBegun = episode.decision.act?.kind !== 'approve' || facts?.revision === episode.toRevision;
  if (isBegun && now - episode.startedAt > PROGRESS_MS)
    return { reason: 'NotReadyInTime', detail: `it is not ready since ${toTimestamp(episode.startedAt)}` };
  return undefined;
};

const HALTED = 'The new version was stopped because it failed elsewhere. Nothing has to be done.';

const progressOf = (tracked: TrackedUpdate, toRevision: string): Told => {
  const { pod, record } = tracked;
  if (!pod)
    return told('updating', 'WaitingForPod', 'The old version has stopped; the new one has not begun to start yet.');
  if (isTerminating(pod)) return told('updating', 'Stopping', 'The old version is stopping.');
  if (record.running.revision === toRevision) return told('updating', 'Starting', 'The new version is starting.');
  if (toPodFacts(pod)?.preparingDelete) return told('updating', 'Preparing', 'The old version is preparing to stop.');
  if (record.announced.need === 'halted') return told('halted', 'Halted', HALTED);
  if (record.announced.need === 'withheld')
    return told('updating', record.announced.reason, 'The update was approved; it is held back for now.');
  return told('updating', 'WaitingForManager', 'The update was approved; it begins as soon as it is its turn.');
};

const NOT_OFFERED = 'There is a new version, and it is not offered to this device for now.';

const acting = (decision: Decision): boolean => decision.state === 'acting';

const tell = ({ tracked, decision, step, lastRefusal, now }: UpdateViewInput): Told => {
  const { record } = tracked;
  const { announced, episode, running } = record;
  const failure = failureOf(tracked, now);
  if (failure) return told('failed', failure.reason, `The new version does not work: ${failure.detail}.`);
  if (
    decision &&
    acting(decision) &&
    tracked.pod &&
    !isTerminating(tracked.pod) &&
    running.revision !== announced.revision
  )
    return told('updating', 'OutcomeUnknown', 'The update was sent; whether it arrived is not known yet.');
  if (episode) return progressOf(tracked, episode.toRevision);
  if (announced.need === 'no') {
    if (running.revision === announced.revision)
      return isReady(tracked) || !tracked.pod
        ? told('current', 'UpToDate', 'The newest version runs.')
        : told('current', 'NotReady', 'The newest version runs, and is not ready at the moment.');
    return told('current', announced.reason || 'NotOffered', NOT_OFFERED);
  }
  if (announced.need === 'halted') return told('halted', 'Halted', HALTED);
  const wait = step.kind === 'wait' ? step : undefined;
  const choice = decision?.decision.choice;
  if (choice === 'approve') {
    // What was tried and refused says nothing of what holds it back since.
    const why = wait ?? lastRefusal ?? { reason: 'Due', message: 'The update begins shortly.' };
    return told('queued', why.reason, why.message);
  }
  if (wait && choice !== undefined)
    return told(choice === 'postpone' ? 'postponed' : 'rejected', wait.reason, wait.message);
  if (announced.need === 'withheld') return told('current', announced.reason, NOT_OFFERED);
  if (step.kind === 'act' && lastRefusal) return told('queued', lastRefusal.reason, lastRefusal.message);
  // Left over from a DaemonSet that has given its pods away: what is agreed to would be refused.
  if (record.terms?.ota === false) return told('current', 'NotOffered', NOT_OFFERED);
  return told('available', 'NewRevision', 'There is a new version. Nothing happens until you decide.');
};

const words: Readonly<Record<ImageState, string>> = {
  unknown: 'Nobody asked for the download ahead of the update.',
  pulling: 'The new version is being downloaded.',
  ready: 'The new version is on this device.',
  failed: 'The new version could not be downloaded.',
};

const imageOf = ({ tracked, images }: UpdateViewInput): Update['image'] => {
  const { pod, record } = tracked;
  const { revision } = record.announced;
  if (record.running.revision === revision) return { state: 'ready', message: words.ready };
  const reported = pod && imageReadyOf(pod);
  if (!pod || reported?.revision !== revision) return { state: 'unknown', message: words.unknown };
  const state: ImageState =
    reported.status === 'True' ? 'ready' : reported.reason === 'PullImageFail' ? 'failed' : 'pulling';
  const own = state === 'ready' ? undefined : images.state(pod.metadata?.uid ?? '');
  const detail = own?.message || reported.message;
  return {
    state: own?.state ?? state,
    message: detail ? `${words[own?.state ?? state]} ${detail}` : words[own?.state ?? state],
  };
};

/** One DaemonSet of this node as its owner is shown it. */
export const updateOf = (facts: UpdateViewInput): Update => {
  const { tracked, decision, deadline } = facts;
  const { record, pod } = tracked;
  const { namespace, daemonSet, apiVersion, running, announced, details } = record;
  return {
    namespace,
    daemonSet,
    apiVersion,
    pod: pod?.metadata?.name ?? null,
    ...tell(facts),
    running: { ...running, ready: isReady(tracked) },
    target: {
      revision: announced.revision,
      images: details?.images ?? null,
      publishedAt: details?.publishedAt ?? null,
    },
    image: imageOf(facts),
    decision: decision ?? record.episode?.decision ?? null,
    deadline: deadline ? { at: toTimestamp(deadline.at), actsAt: toTimestamp(deadline.actsAt) } : null,
  };
};
