import { imageReadyOf, toPodFacts, toTimestamp } from '../../rollout/index.ts';
import type { Step } from '../decisions/index.ts';
import type { ImagePulls } from '../images/index.ts';
import type { Decision, ImageState, Update, UpdateState } from '../types.ts';
import { type Here, isTerminating } from '../updates/index.ts';

/** Why the last try to carry a decision out came to nothing, and when the next is due. */
export interface Setback {
  reason: string;
  message: string;
  nextAt: number;
}

export interface ViewFacts {
  here: Here;
  decision: Decision | undefined;
  step: Step;
  setback: Setback | undefined;
  /** Epoch milliseconds. */
  deadline: { at: number; actsAt: number } | undefined;
  images: Pick<ImagePulls, 'state'>;
  now: number;
}

/** A new pod that is not ready for so long is told as not working. */
export const PROGRESS_MS = 600_000;

type Told = Pick<Update, 'state' | 'reason' | 'message'>;
const told = (state: UpdateState, reason: string, message: string): Told => ({ state, reason, message });

export const isReady = ({ pod }: Here): boolean => (pod ? (toPodFacts(pod)?.ready ?? false) : false);

/** What is wrong with the pod that an act made room for; undefined while it may just need time. */
export const failureOf = (here: Here, now: number): { reason: string; detail: string } | undefined => {
  const { episode } = here.known;
  if (!episode || isReady(here)) return undefined;
  const facts = here.pod && toPodFacts(here.pod);
  if (facts && facts.revision === episode.toRevision && facts.trouble)
    return { reason: facts.trouble === 'image-pull' ? 'ImageCannotBePulled' : 'CrashLoop', detail: facts.detail };
  // What was approved and not begun is the manager's to begin.
  const isBegun = episode.decision.act?.kind !== 'approve' || facts?.revision === episode.toRevision;
  if (isBegun && now - episode.startedAt > PROGRESS_MS)
    return { reason: 'NotReadyInTime', detail: `it is not ready since ${toTimestamp(episode.startedAt)}` };
  return undefined;
};

const HALTED = 'The new version was stopped because it failed elsewhere. Nothing has to be done.';

const progressOf = (here: Here, toRevision: string): Told => {
  const { pod, known } = here;
  if (!pod)
    return told('updating', 'WaitingForPod', 'The old version has stopped; the new one has not begun to start yet.');
  if (isTerminating(pod)) return told('updating', 'Stopping', 'The old version is stopping.');
  if (known.running.revision === toRevision) return told('updating', 'Starting', 'The new version is starting.');
  if (toPodFacts(pod)?.leaving) return told('updating', 'Preparing', 'The old version is preparing to stop.');
  if (known.announced.need === 'halted') return told('halted', 'Halted', HALTED);
  if (known.announced.need === 'withheld')
    return told('updating', known.announced.reason, 'The update was approved; it is held back for now.');
  return told('updating', 'WaitingForManager', 'The update was approved; it begins as soon as it is its turn.');
};

const NOT_OFFERED = 'There is a new version, and it is not offered to this device for now.';

const acting = (decision: Decision): boolean => decision.state === 'acting';

const tell = ({ here, decision, step, setback, now }: ViewFacts): Told => {
  const { known } = here;
  const { announced, episode, running } = known;
  const failure = failureOf(here, now);
  if (failure) return told('failed', failure.reason, `The new version does not work: ${failure.detail}.`);
  if (decision && acting(decision) && here.pod && !isTerminating(here.pod) && running.revision !== announced.revision)
    return told('updating', 'OutcomeUnknown', 'The update was sent; whether it arrived is not known yet.');
  if (episode) return progressOf(here, episode.toRevision);
  if (announced.need === 'no') {
    if (running.revision === announced.revision)
      return isReady(here) || !here.pod
        ? told('current', 'UpToDate', 'The newest version runs.')
        : told('current', 'NotReady', 'The newest version runs, and is not ready at the moment.');
    return told('current', announced.reason || 'NotOffered', NOT_OFFERED);
  }
  if (announced.need === 'halted') return told('halted', 'Halted', HALTED);
  const wait = step.kind === 'wait' ? step : undefined;
  const choice = decision?.decision.choice;
  if (choice === 'approve') {
    // What was tried and refused says nothing of what holds it back since.
    const why = wait ?? setback ?? { reason: 'Due', message: 'The update begins shortly.' };
    return told('queued', why.reason, why.message);
  }
  if (wait && choice !== undefined)
    return told(choice === 'postpone' ? 'postponed' : 'rejected', wait.reason, wait.message);
  if (announced.need === 'withheld') return told('current', announced.reason, NOT_OFFERED);
  if (step.kind === 'act' && setback) return told('queued', setback.reason, setback.message);
  // Left over from a DaemonSet that has given its pods away: what is agreed to would be refused.
  if (known.terms?.ota === false) return told('current', 'NotOffered', NOT_OFFERED);
  return told('available', 'NewRevision', 'There is a new version. Nothing happens until you decide.');
};

const words: Readonly<Record<ImageState, string>> = {
  unknown: 'Nobody asked for the download ahead of the update.',
  pulling: 'The new version is being downloaded.',
  ready: 'The new version is on this device.',
  failed: 'The new version could not be downloaded.',
};

const imageOf = ({ here, images }: ViewFacts): Update['image'] => {
  const { pod, known } = here;
  const { revision } = known.announced;
  if (known.running.revision === revision) return { state: 'ready', message: words.ready };
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
export const updateOf = (facts: ViewFacts): Update => {
  const { here, decision, deadline } = facts;
  const { known, pod } = here;
  const { namespace, daemonSet, apiVersion, running, announced, details } = known;
  return {
    namespace,
    daemonSet,
    apiVersion,
    pod: pod?.metadata?.name ?? null,
    ...tell(facts),
    running: { ...running, ready: isReady(here) },
    target: {
      revision: announced.revision,
      images: details?.images ?? null,
      publishedAt: details?.publishedAt ?? null,
    },
    image: imageOf(facts),
    decision: decision ?? known.episode?.decision ?? null,
    deadline: deadline ? { at: toTimestamp(deadline.at), actsAt: toTimestamp(deadline.actsAt) } : null,
  };
};
