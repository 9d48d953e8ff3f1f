import type { ImageFacts } from '../facts/image-facts.ts';
import type { NodeFacts } from '../facts/types.ts';
import { scaledValue } from '../policy/int-or-percent.ts';
import { managerReplacesPods, type Policy } from '../policy/policy.ts';
import type { Predownload } from '../policy/values.ts';
import { skewTolerantStart } from './clock-skew.ts';
import type { Phase } from './phase.ts';
import { type Context, isCurrent, livePod, type NodeRecord, type ObservedPod } from './record.ts';

/** How far the images of the target are on an online node with an old pod; `none`: nobody asks for them there. */
export type ImageState = 'none' | 'wanted' | 'asked' | 'pulling' | 'present' | 'failed';

/** Who is asked first: nodes that wait for images, others that may be updated, those that the partition leaves. */
export const requestPriorities = [0, 1, 2] as const;
export type RequestPriority = (typeof requestPriorities)[number];

export interface ImageAssessment {
  images: ImageState;
  /** Nothing is done to the pod before they are there. */
  waitsForImages: boolean;
  /** The pod asks for what is not wanted any more. */
  requestStale: boolean;
  /** A pull pod may be run for what it asks for. */
  pullPodAllowed: boolean;
  /** When this changes without any event; undefined when it does not. */
  dueAt: number | undefined;
}

/** An agent that is said to be there and has not begun within this time is none. */
export const AGENT_ACK_TIMEOUT_MS = 30_000;
/** What was asked for is seen on the pod within this time, or asked for again. */
const REQUEST_VISIBLE_TIMEOUT_MS = 30_000;
/** An agent that has given up is asked again after this. */
const RETRY_AFTER_MS = 300_000;
/** Nodes that pull at once where the user says nothing of it. */
const DEFAULT_PARALLELISM = 10;

const nothing: ImageAssessment = {
  images: 'none',
  waitsForImages: false,
  requestStale: false,
  pullPodAllowed: false,
  dueAt: undefined,
};

/** What becomes of the node's pod while images are missing: by the user's word, else by whether an agent pulls there. */
const modeOf = ({ predownload }: Policy, { hasImageAgent }: NodeFacts): Predownload =>
  predownload ?? (hasImageAgent ? 'preferred' : 'off');

/** Who pulls on this node: anybody, says the user or the manager's flag; else the agent, if there is one, and nobody else. */
const pullerOf = ({ policy, pullsByDefault }: Context, node: NodeFacts): 'anybody' | 'agent' | undefined => {
  if (policy.strategy === 'ota' || policy.predownload === 'off') return undefined;
  const said = policy.predownload !== undefined || policy.predownloadParallelism !== undefined;
  if (said || pullsByDefault) return 'anybody';
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

/** Where an agent, or anybody else, has got with the images of the target; undefined before anybody was asked. */
const standOf = (
  record: NodeRecord,
  images: ImageFacts | undefined,
  { policy, targetHash }: Context,
  now: number,
): { stand: ImageState; until: number | undefined } => {
  const asking = record.imageRequest?.revision === targetHash ? record.imageRequest : undefined;
  const of = images?.revision === targetHash ? images : undefined;
  // The times of conditions are whole seconds.
  const unseen = asking !== undefined && (of?.at ?? 0) < Math.floor(asking.at / 1_000) * 1_000;
  if (unseen && now < asking.at + REQUEST_VISIBLE_TIMEOUT_MS)
    return { stand: 'asked', until: asking.at + REQUEST_VISIBLE_TIMEOUT_MS };
  if (!of) return { stand: 'wanted', until: undefined };
  // The agent has lost it, or keeps others waiting with what takes too long: asked once more, somebody else may.
  const lost = of.state === 'pulling' ? of.at + policy.predownloadTimeoutMs : of.at + RETRY_AFTER_MS;
  const ends = of.state === 'pulling' || (of.state === 'failed' && of.byAgent);
  if (ends && now >= lost) return { stand: 'wanted', until: undefined };
  return { stand: of.state, until: ends ? lost : undefined };
};

/** Until when `preferred` waits for images that are not there. */
const patienceOf = (record: NodeRecord, pod: ObservedPod, context: Context): number => {
  const { policy, startedAt, targetSeenAt, targetHash } = context;
  const images = pod.facts.images?.revision === targetHash ? pod.facts.images : undefined;
  // Of a target that was found, and not seen to be set, nobody knows since when it is one.
  const begunAt = startedAt ?? images?.at;
  if (begunAt === undefined) return Number.POSITIVE_INFINITY;
  const countsFrom = skewTolerantStart(
    Math.max(begunAt, record.since, pod.existsSince),
    Math.max(pod.firstSeenAt, targetSeenAt),
  );
  const patience = countsFrom + policy.predownloadTimeoutMs;
  const unheard = record.node?.hasImageAgent === true && images?.state === 'asked';
  return unheard ? Math.min(patience, images.at + AGENT_ACK_TIMEOUT_MS) : patience;
};

/** What there is to say of the images of the target on one node, at `now`. */
export const assessImages = (record: NodeRecord, context: Context, now: number): ImageAssessment => {
  const { node } = record;
  const { policy, targetHash } = context;
  const pod = livePod(record);
  if (!pod || pod.facts.terminating || targetHash === undefined) return nothing;
  const { images } = pod.facts;
  const isOpen = images !== undefined && images.state !== 'present';
  const old = !isCurrent(pod, context);
  // Owners ask for themselves. What they asked for is waited for where we act on their word.
  if (policy.strategy === 'ota') {
    const missing = isOpen && images.revision === targetHash;
    const asked = missing || (policy.predownload === 'required' && images?.revision !== targetHash);
    return { ...nothing, waitsForImages: old && managerReplacesPods(policy) && asked };
  }
  const mayPull = old && node?.eligible === true && node.selected && !context.halted;
  const puller = mayPull ? pullerOf(context, node) : undefined;
  const pulled = puller !== undefined;
  const requestStale = isOpen && !(pulled && images.revision === targetHash);
  if (!old || !node?.eligible) return { ...nothing, requestStale };
  // The agent serves other namespaces, or is none: it may begin yet, and is not asked again.
  const unheard = puller === 'agent' && images?.revision === targetHash && images.state === 'asked';
  if (unheard && now >= images.at + AGENT_ACK_TIMEOUT_MS) return nothing;
  const { stand, until } = pulled
    ? standOf(record, images, context, now)
    : { stand: 'none' as const, until: undefined };
  const isPresent = images?.state === 'present' && images.revision === targetHash;
  const mode = modeOf(policy, node);
  const patience = mode === 'preferred' ? patienceOf(record, pod, context) : Number.POSITIVE_INFINITY;
  const waitsForImages = policy.strategy === 'auto' && mode !== 'off' && !isPresent && now < patience;
  const times = [until, waitsForImages && patience < Number.POSITIVE_INFINITY ? patience : undefined];
  const dueAt = times.reduce<number>((least, time) => Math.min(least, time ?? least), Number.POSITIVE_INFINITY);
  return {
    images: node.ready ? stand : 'none',
    waitsForImages,
    requestStale,
    pullPodAllowed: puller === 'anybody',
    dueAt: node.ready && dueAt < Number.POSITIVE_INFINITY ? dueAt : undefined,
  };
};

/** Nodes whose pod may still be taken away by the update, and that are quiet enough to be asked. */
const quiet: ReadonlySet<Phase> = new Set<Phase>(['outdated', 'held', 'broken']);

/** In which turn the images are to be asked for; undefined: not at all, or not now. */
export const requestPriorityOf = (
  record: NodeRecord,
  { images }: ImageAssessment,
  phase: Phase,
  { policy }: Context,
): RequestPriority | undefined => {
  const { node } = record;
  if (images !== 'wanted' || !node || !quiet.has(phase) || record.pods.length !== 1) return undefined;
  if (!record.partitionAllows) return 2;
  return modeOf(policy, node) === 'off' ? 1 : 0;
};
