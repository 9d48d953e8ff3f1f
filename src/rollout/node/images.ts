import type { Phase } from '../../words/index.ts';
import type { ImageFacts } from '../facts/image-ready.ts';
import type { NodeFacts } from '../facts/node.ts';
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

/** An agent that does not start pulling within this time is considered absent. */
export const AGENT_ACK_TIMEOUT_MS = 30_000;
/** A request that the pod does not show within this time is repeated. */
const REQUEST_VISIBLE_TIMEOUT_MS = 30_000;
/** When to repeat a request that the agent failed to serve. */
const RETRY_AFTER_MS = 300_000;
/** How many nodes pull at once unless the user says otherwise. */
const DEFAULT_PARALLELISM = 10;

const nothing: ImageAssessment = {
  state: 'none',
  required: false,
  staleRequest: false,
  pullPodAllowed: false,
  dueAt: Number.POSITIVE_INFINITY,
};

/** What the update does while images are missing: as the user says, or by whether the node has an agent that pulls. */
const modeOf = ({ predownload }: Pick<Policy, 'predownload'>, { hasImageAgent }: NodeFacts): Predownload =>
  predownload ?? (hasImageAgent ? 'preferred' : 'off');

/** Who pulls on this node: anyone if the user or the manager's flag says so, otherwise only its agent, if it has one. */
const pullerOf = ({ policy, pullsByDefault }: Context, node: NodeFacts): 'anyone' | 'agent' | undefined => {
  if (policy.strategy === 'ota' || policy.predownload === 'off') return undefined;
  const userWantsPulls = policy.predownload !== undefined || policy.predownloadParallelism !== undefined;
  if (userWantsPulls || pullsByDefault) return 'anyone';
  return node.hasImageAgent ? 'agent' : undefined;
};

export const imageParallelism = (
  { predownload, predownloadParallelism }: Policy,
  { eligible }: { eligible: number },
  pullsByDefault: boolean,
): number => {
  if (predownloadParallelism) return Math.max(1, scaledValue(predownloadParallelism, eligible, 'up'));
  return pullsByDefault && predownload === undefined ? 1 : DEFAULT_PARALLELISM;
};

/** How far the agent, or anyone else, has got with the images of the target, and until when to wait for the next report. */
const progressOf = (
  { imageRequest }: NodeRecord,
  images: ImageFacts | undefined,
  { policy, targetHash }: Context,
  now: number,
): { state: ImageState; until: number } => {
  const report = images?.revision === targetHash ? images : undefined;
  if (imageRequest !== undefined && imageRequest.revision === targetHash) {
    const until = imageRequest.at + REQUEST_VISIBLE_TIMEOUT_MS;
    // The times of conditions are whole seconds.
    const visible = (report?.at ?? 0) >= Math.floor(imageRequest.at / 1_000) * 1_000;
    if (!visible && now < until) return { state: 'requested', until };
  }
  if (!report) return { state: 'wanted', until: Number.POSITIVE_INFINITY };
  const { state, at, byAgent } = report;
  if (state !== 'pulling' && !(state === 'failed' && byAgent)) return { state, until: Number.POSITIVE_INFINITY };
  // The agent has forgotten the request, or blocks others with a slow pull: request again, someone else may serve it.
  const until = at + (state === 'pulling' ? policy.predownloadTimeoutMs : RETRY_AFTER_MS);
  return now < until ? { state, until } : { state: 'wanted', until: Number.POSITIVE_INFINITY };
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
  const patience = countsFrom + policy.predownloadTimeoutMs;
  const unanswered = record.node?.hasImageAgent === true && images?.state === 'requested';
  return unanswered ? Math.min(patience, images.at + AGENT_ACK_TIMEOUT_MS) : patience;
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
  const puller = mayPull ? pullerOf(context, node) : undefined;
  const staleRequest = images !== undefined && images.state !== 'present' && !(puller !== undefined && ofTarget);
  if (!outdated || !node?.eligible) return staleRequest ? { ...nothing, staleRequest } : nothing;
  // The agent serves other namespaces, or does not exist: it may still start, but is not asked again.
  const isAsked = puller === 'agent' && ofTarget && images?.state === 'requested';
  const unansweredAt = isAsked ? images.at + AGENT_ACK_TIMEOUT_MS : Number.POSITIVE_INFINITY;
  if (now >= unansweredAt) return nothing;

  const progress = puller && progressOf(record, images, context, now);
  const mode = modeOf(policy, node);
  const patience = mode === 'preferred' ? patienceOf(record, pod, context) : Number.POSITIVE_INFINITY;
  const isPresent = ofTarget && images?.state === 'present';
  const required = policy.strategy === 'auto' && mode !== 'off' && !isPresent && now < patience;
  if (!node.ready) return { ...nothing, required, staleRequest, pullPodAllowed: puller === 'anyone' };
  return {
    state: progress?.state ?? 'none',
    required,
    staleRequest,
    pullPodAllowed: puller === 'anyone',
    dueAt: Math.min(
      progress?.until ?? Number.POSITIVE_INFINITY,
      required ? patience : Number.POSITIVE_INFINITY,
      unansweredAt,
    ),
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
  return modeOf(policy, node) === 'off' ? 1 : 0;
};
