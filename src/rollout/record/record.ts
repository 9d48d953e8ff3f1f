import type { Announcement } from '../facts/need-upgrade.ts';
import type { NodeFacts, PodFacts } from '../facts/types.ts';
import { isOlderVersion } from '../facts/versions.ts';
import { type Policy, surges } from '../policy/policy.ts';
import type { ImageState, RequestPriority } from './images.ts';
import type { Cause, Phase } from './phase.ts';

/**
 * How far an act of ours has got. `reserved`: its slot is reserved and nothing was sent. `inherited`: reserved by
 * another process, which may have sent it, or may yet. `sending`: on its way. `unsure`: the answer was lost.
 * `done`: the API server confirmed it, or the pod was seen to go.
 */
export type UpdateStage = 'reserved' | 'inherited' | 'sending' | 'unsure' | 'done';

/** How an act brings a node to the target other than by deleting its pod. */
export type UpdateKind =
  /** The pod itself is changed, and stays what it is. */
  | 'in-place'
  /** A new pod is created beside it; it goes once that one is available. */
  | 'surge';

/** An act on a node that has not healed: it holds one slot of the budget while the node is online. */
export interface NodeUpdate {
  /** Absent: the pod is deleted, and made anew by the controller of the pods. */
  kind?: UpdateKind;
  /** The pod that is acted on; empty in a past act. */
  podUid: string;
  podName: string;
  /** The version that was decided on; once it was changed in place, the first that is known to say so. */
  podResourceVersion: string;
  /** The revision that the pod was of, where it is changed in place. */
  podRevision?: string;
  /** Number of the rollout that it belongs to. */
  rollout: number;
  /** When its slot was reserved, epoch ms. */
  at: number;
  stage: UpdateStage;
  /** The older act, not healed, that this one is to repair: it comes back should this one be released. */
  repairs?: PastUpdate;
}

export interface PastUpdate {
  kind?: UpdateKind;
  /** With a kind: the pod that was acted on, which is still the node's. */
  podUid?: string;
  rollout: number;
  at: number;
}

/** What is remembered of an act that another one repairs. */
export const toPastUpdate = ({ kind, podUid = '', rollout, at }: PastUpdate): PastUpdate => ({
  ...(kind && { kind, podUid }),
  rollout,
  at,
});

/** An act that was carried out and whose pod is no longer known. */
export const pastUpdate = (act: PastUpdate): NodeUpdate => ({
  podUid: '',
  ...toPastUpdate(act),
  podName: '',
  podResourceVersion: '',
  stage: 'done',
});

/** The act that a slot is reserved for. */
export const newUpdate = (
  { pod, kind }: { pod: PodFacts; kind?: UpdateKind },
  rollout: number,
  at: number,
): NodeUpdate => ({
  ...(kind && { kind }),
  podUid: pod.uid,
  podName: pod.name,
  podResourceVersion: pod.resourceVersion,
  ...(kind === 'in-place' && { podRevision: pod.revision }),
  rollout,
  at,
  stage: 'reserved',
});

/**
 * May the act, or one that was reserved for the same before, have been carried out, or yet be? Then its slot is given back
 * by a fence only. A creation shows nothing on the old pod, so of a surge nobody can be sure before having looked.
 */
export const mayHaveStarted = ({ kind, stage }: NodeUpdate): boolean => stage !== 'reserved' || kind === 'surge';

export interface ObservedPod {
  facts: PodFacts;
  /** Since when we know it to be ready, epoch ms; 0 when it is not. */
  readySince: number;
  /** Since when it is there, epoch ms: as we saw it come, or as it says itself. */
  existsSince: number;
  /** When this process met it, epoch ms. */
  firstSeenAt: number;
  /** It was there when we took over: whether an act of another process made it is told by its own times only. */
  inherited: boolean;
}

/** Everything kept for one node. Times are epoch ms by our own clock where we saw the change happen. */
export interface NodeRecord {
  readonly name: string;
  node: NodeFacts | undefined;
  pods: ObservedPod[];
  /** Since when the node is in its present readiness. */
  since: number;
  /** When this process met the node, epoch ms. */
  firstSeenAt: number;
  /** Since when the node has no available pod; 0 while it has one. */
  downSince: number;
  update: NodeUpdate | undefined;
  /** Revision of the live pod that was seen last; undefined before the first. */
  lastRevision: string | undefined;
  /** The act that healed last; with the strategy ota, the owner's act. */
  lastCompleted: { rollout: number; at: number } | undefined;
  /** The user resumed after this node's failure: it does not count until the node has worked again. */
  forgiven: boolean;
  refused: { until: number; tries: number; message: string } | undefined;
  /** May be updated under the partition. */
  partitionAllows: boolean;
  /** We are about to ask for the images of this revision on its pod, or have, with the watch still behind. */
  imageRequest: { revision: string; at: number } | undefined;
  status: NodeStatus;
}

/** What the ledger counts and files a record by. Undefined phase: the node is not eligible, or has no Node object. */
export interface NodeStatus {
  phase: Phase | undefined;
  cause: Cause | undefined;
  online: boolean;
  settled: boolean;
  /** Online, settled, and without an available pod. */
  down: boolean;
  /** Online with an act of ours that has not healed. */
  inFlight: boolean;
  /** In flight, and not with an old broken pod that nobody tends yet. */
  trying: boolean;
  /** At the target, or on its way there without return, as is any node without a live pod: counts first under a partition. */
  committed: boolean;
  suspect: boolean;
  /** Counts towards the breaker as a failure of a node that is online or that was lost. */
  failure: 'online' | 'lost' | undefined;
  /** Its pod was changed in place, did not become available in time, and may be deleted to be made anew. */
  overdue: boolean;
  /** Of an old and a new pod at once the one that may go now. */
  surgedOutPod: PodFacts | undefined;
  /** The node's owner is offered the target revision, and has not agreed to it. */
  asked: boolean;
  /** The owner has agreed, and the target is brought here from our side. */
  approved: boolean;
  /** What has to be written to the live pod, `none` for taking it away; undefined while it says what it should. */
  announcement: Announcement | 'none' | undefined;
  /** How far the images of the target are on a node that has an old pod. */
  images: ImageState;
  /** They are waited for: nothing is done to the pod before they are there. */
  waitsForImages: boolean;
  /** They are to be asked for, in this turn. */
  imageRequestPriority: RequestPriority | undefined;
  /** What its pod asks for is wanted no more. */
  imageRequestStale: boolean;
  /** A pull pod may be run for the images that its pod asks for. */
  pullPodAllowed: boolean;
  zone: string;
  /** When the view changes without any event; Infinity when it does not. */
  dueAt: number;
}

/** What all records of one DaemonSet are assessed against. */
export interface Context {
  policy: Policy;
  /** Hash label of the target revision; undefined until it is known. */
  targetHash: string | undefined;
  rollout: number;
  /** When the present rollout began, epoch ms; undefined when the target is the first that we know. */
  startedAt: number | undefined;
  /** When this process heard of the target, by its own clock. */
  targetSeenAt: number;
  /** With the strategy ota: the breaker keeps owners from updating. */
  withheldFromOwners: boolean;
  /** Nodes and pods are still being listed: one that is absent may yet come. */
  initialSync: boolean;
  /** Images are pulled ahead also where nothing but the manager's flag asks for it. */
  pullsByDefault: boolean;
  /** The target is rolled out no further. */
  halted: boolean;
}

/** Of a node that the rollout has nothing to do with. */
export const notEligible: NodeStatus = {
  phase: undefined,
  cause: undefined,
  online: false,
  settled: false,
  down: false,
  inFlight: false,
  trying: false,
  committed: false,
  suspect: false,
  failure: undefined,
  overdue: false,
  surgedOutPod: undefined,
  asked: false,
  approved: false,
  announcement: undefined,
  images: 'none',
  waitsForImages: false,
  imageRequestPriority: undefined,
  imageRequestStale: false,
  pullPodAllowed: false,
  zone: '',
  dueAt: Number.POSITIVE_INFINITY,
};

export const newRecord = (name: string): NodeRecord => ({
  name,
  node: undefined,
  pods: [],
  since: 0,
  firstSeenAt: 0,
  downSince: 0,
  update: undefined,
  lastRevision: undefined,
  lastCompleted: undefined,
  forgiven: false,
  refused: undefined,
  partitionAllows: true,
  imageRequest: undefined,
  status: notEligible,
});

/** Terminating, or deleted by us with the watch still behind. */
export const isBeingDeleted = ({ update }: NodeRecord, { facts }: ObservedPod): boolean =>
  facts.terminating || (update?.stage === 'done' && update.kind === undefined && update.podUid === facts.uid);

/** Changed in place, says whoever did it, with the watch still behind: what it shows of the pod is of before. */
export const isStale = ({ update }: Pick<NodeRecord, 'update'>, { facts }: Pick<ObservedPod, 'facts'>): boolean =>
  update?.kind === 'in-place' &&
  update.stage === 'done' &&
  update.podUid === facts.uid &&
  isOlderVersion(facts.resourceVersion, update.podResourceVersion);

/** Ready as far as we know, and not taken out of service to be deleted. */
const isServing = (record: NodeRecord, pod: ObservedPod): boolean =>
  pod.facts.ready && !pod.facts.preparingDelete && !isStale(record, pod);

/** The node's one live pod, also while a terminating one is beside it. */
export const livePod = (record: NodeRecord): ObservedPod | undefined => {
  let found: ObservedPod | undefined;
  for (const pod of record.pods) {
    if (isBeingDeleted(record, pod)) continue;
    if (found) return undefined;
    found = pod;
  }
  return found;
};

export const isCurrent = (pod: ObservedPod | undefined, context: Context): boolean =>
  pod !== undefined && context.targetHash !== undefined && pod.facts.revision === context.targetHash;

/** New pods may come beside old ones on this node. */
export const maySurge = ({ update }: NodeRecord, { policy }: Pick<Context, 'policy'>): boolean =>
  surges(policy) || update?.kind === 'surge';

/** The same of one pod, whatever is beside it. */
export const podAvailableAt = (record: NodeRecord, pod: ObservedPod, context: Context): number =>
  isBeingDeleted(record, pod) || !isServing(record, pod)
    ? Number.POSITIVE_INFINITY
    : pod.readySince + context.policy.minReadyMs;

/** From when on the node's pod is available, if nothing happens; Infinity when it will not be so by itself. */
export const availableAt = (record: NodeRecord, context: Context): number => {
  if (maySurge(record, context))
    return record.pods.reduce(
      (least, pod) => Math.min(least, podAvailableAt(record, pod, context)),
      Number.POSITIVE_INFINITY,
    );
  // Old and new at once is a node that is not available: the native controller is still at work there.
  const [only, ...others] = record.pods;
  return !only || others.length > 0 ? Number.POSITIVE_INFINITY : podAvailableAt(record, only, context);
};

/** The node's pod was changed in place in this rollout, and has not been available since; an act on it may be reserved. */
export const isUpdatedInPlace = (record: NodeRecord, { rollout }: Pick<Context, 'rollout'>): boolean => {
  const { update } = record;
  const last = update?.stage === 'done' ? update : update?.repairs;
  return last?.kind === 'in-place' && last.rollout === rollout && last.podUid === livePod(record)?.facts.uid;
};

/** Its one live pod is out of service for a change in place. */
export const isOutOfService = (record: NodeRecord): boolean => livePod(record)?.facts.updatingInPlace === true;
