import type { Phase } from '../../words/index.ts';
import type { ImageFacts } from '../facts/image-ready.ts';
import { scaledValue } from '../policy/int-or-percent.ts';
import { managerReplacesPods, type Policy } from '../policy/policy.ts';
import type { Predownload } from '../policy/values.ts';
import { skewTolerantStart } from './observe.ts';
import { isCurrent, livePod } from './pods.ts';
import type { Context, ImageState, ImageStatus, NodeRecord, ObservedPod, RequestPriority } from './record.ts';

export interface ImageAssessment extends Omit<ImageStatus, 'requestPriority'> {
  /** When this changes without any event; Infinity if never. */
  dueAt: number;
}

/** A request that the pod does not show within this time is repeated. */
const REQUEST_VISIBLE_TIMEOUT_MS = 30_000;
/** How many nodes pull at once unless the user says otherwise. */
const DEFAULT_PARALLELISM = 10;

const nothing: ImageAssessment = {
  state: 'none',
  required: false,
  staleRequest: false,
  pullPodAllowed: false,
  dueAt: Number.POSITIVE_INFINITY,
};

/** What the update does while images are missing. */
const modeOf = ({ predownload }: Pick<Policy, 'predownload'>): Predownload => predownload ?? 'off';

type PullPolicy = Pick<Policy, 'strategy' | 'predownload' | 'predownloadParallelism'>;

/** Whether the DaemonSet itself asks for images to be pulled ahead. */
export const asksForPulls = ({ strategy, predownload, predownloadParallelism }: PullPolicy): boolean =>
  strategy !== 'ota' && predownload !== 'off' && (predownload !== undefined || predownloadParallelism !== undefined);

/** Whether images are pulled ahead: if the user or the manager's flag says so. */
const pullsAhead = ({ policy, pullsByDefault }: Context): boolean =>
  asksForPulls(policy) || (pullsByDefault && policy.strategy !== 'ota' && policy.predownload !== 'off');

export const imageParallelism = (
  { predownload, predownloadParallelism }: Policy,
  { eligible }: { eligible: number },
  pullsByDefault: boolean,
): number => {
  if (predownloadParallelism) return Math.max(1, scaledValue(predownloadParallelism, eligible, 'up'));
  return pullsByDefault && predownload === undefined ? 1 : DEFAULT_PARALLELISM;
};

/** The images of the target that were pulled ahead, as the pod's condition says. */
const arePresent = (images: ImageFacts | undefined, { targetHash }: Pick<Context, 'targetHash'>): boolean =>
  images?.revision === targetHash && images?.state === 'present';

/** A kubelet lists images up to a minute after they came: only those that it has listed can be found to be deleted. */
export const noteListedImages = (record: NodeRecord, context: Context): void => {
  if (!arePresent(livePod(record)?.facts.images, context)) record.imagesListed = false;
  else if (record.node?.images === 'all') record.imagesListed = true;
};

/** The kubelet has deleted images that were pulled ahead. */
const areDeleted = ({ imagesListed, node }: NodeRecord): boolean => imagesListed && node?.images === 'not-all';

/** How far the images of the target are, and until when to wait for the pod to show a request. */
const progressOf = (
  record: NodeRecord,
  images: ImageFacts | undefined,
  { targetHash }: Context,
  now: number,
): { state: ImageState; until: number } => {
  const { imageRequest } = record;
  const report = images?.revision === targetHash ? images : undefined;
  if (imageRequest !== undefined && imageRequest.revision === targetHash) {
    const until = imageRequest.at + REQUEST_VISIBLE_TIMEOUT_MS;
    // The times of conditions are whole seconds.
    const visible = (report?.at ?? 0) >= Math.floor(imageRequest.at / 1_000) * 1_000;
    if (!visible && now < until) return { state: 'requested', until };
  }
  const state = report === undefined || areDeleted(record) ? 'wanted' : report.state;
  return { state, until: Number.POSITIVE_INFINITY };
};

/** Until when the mode `preferred` waits for missing images. */
const patienceOf = (record: NodeRecord, pod: ObservedPod, context: Context): number => {
  const { policy, startedAt, targetSeenAt, targetHash } = context;
  const images = pod.facts.images?.revision === targetHash ? pod.facts.images : undefined;
  // A target that already existed when we started has no known start time.
  const begunAt = startedAt ?? images?.at;
  if (begunAt === undefined) return Number.POSITIVE_INFINITY;
  const countsFrom = skewTolerantStart(
    Math.max(begunAt, record.since, pod.existsSince),
    Math.max(pod.firstSeenAt, targetSeenAt),
  );
  return countsFrom + policy.predownloadTimeoutMs;
};

/** With the strategy ota, owners request images themselves; the manager waits for them before it acts on an approval. */
const assessOwnersRequest = ({ facts: { images } }: ObservedPod, { policy, targetHash }: Context): ImageAssessment => {
  const ofTarget = images?.revision === targetHash;
  const missing = ofTarget && images !== undefined && images.state !== 'present';
  const required = managerReplacesPods(policy) && (missing || (policy.predownload === 'required' && !ofTarget));
  return required ? { ...nothing, required } : nothing;
};

/** What to do about the images of the target on one node, at `now`. */
export const assessImages = (record: NodeRecord, context: Context, now: number): ImageAssessment => {
  const { node } = record;
  const { policy, targetHash } = context;
  const pod = livePod(record);
  if (!pod || pod.facts.terminating || targetHash === undefined) return nothing;
  const outdated = !isCurrent(pod, context);
  if (policy.strategy === 'ota') return outdated ? assessOwnersRequest(pod, context) : nothing;

  const { images } = pod.facts;
  const ofTarget = images?.revision === targetHash;
  const mayPull = outdated && node?.eligible === true && node.selected && !context.halted;
  const pullPodAllowed = mayPull && pullsAhead(context);
  const staleRequest = images !== undefined && images.state !== 'present' && !(pullPodAllowed && ofTarget);
  if (!outdated || !node?.eligible) return staleRequest ? { ...nothing, staleRequest } : nothing;

  const progress = pullPodAllowed ? progressOf(record, images, context, now) : undefined;
  const mode = modeOf(policy);
  const patience = mode === 'preferred' ? patienceOf(record, pod, context) : Number.POSITIVE_INFINITY;
  const isPresent = arePresent(images, context) && !areDeleted(record);
  const required = policy.strategy === 'auto' && mode !== 'off' && !isPresent && now < patience;
  if (!node.ready) return { ...nothing, required, staleRequest, pullPodAllowed };
  return {
    state: progress?.state ?? 'none',
    required,
    staleRequest,
    pullPodAllowed,
    dueAt: Math.min(progress?.until ?? Number.POSITIVE_INFINITY, required ? patience : Number.POSITIVE_INFINITY),
  };
};

/** Phases in which the update may still replace the pod, and in which nothing else is happening to it. */
const mayRequest: Readonly<Record<Phase, boolean>> = {
  updated: false,
  updating: false,
  outdated: true,
  broken: true,
  offline: false,
  settling: false,
  held: true,
  failed: false,
  missing: false,
};

/** When to request the images; undefined: not now. */
export const requestPriorityOf = (
  record: NodeRecord,
  { state }: ImageAssessment,
  phase: Phase,
  { policy }: Context,
): RequestPriority | undefined => {
  const { node } = record;
  if (state !== 'wanted' || !node || !mayRequest[phase] || record.pods.length !== 1) return undefined;
  if (!record.partitionAllows) return 2;
  return modeOf(policy) === 'off' ? 1 : 0;
};
