import type { Cause, Phase } from '../../words/index.ts';
import type { ImageFacts } from '../facts/image-ready.ts';
import { type ImageReport, noReports } from '../facts/image-reports.ts';
import type { Announcement } from '../facts/need-upgrade.ts';
import type { NodeFacts } from '../facts/node.ts';
import type { PodFacts } from '../facts/pod.ts';
import { noScopes, type Scopes } from '../plan/scopes.ts';
import type { Policy } from '../policy/policy.ts';
import type { NodeUpdate, PastUpdate } from './update.ts';

export interface ObservedPod {
  facts: PodFacts;
  /** Since when we know it to be ready, epoch ms; 0 when it is not. */
  readySince: number;
  /** Since when it exists, epoch ms: when the watch showed its creation, or its creationTimestamp. */
  existsSince: number;
  /** When this process first saw it, epoch ms. */
  firstSeenAt: number;
  /** It existed when we took over: only its own times tell whether another process's update created it. */
  inherited: boolean;
}

/** Everything kept for one node. Times are epoch ms, by our own clock where we saw the change happen. */
export interface NodeRecord {
  readonly name: string;
  node: NodeFacts | undefined;
  pods: ObservedPod[];
  /** Since when the node has been Ready, or not Ready. */
  since: number;
  /** When this process first saw the node. */
  firstSeenAt: number;
  /** Since when the node has no available pod; 0 while it has one. */
  downSince: number;
  update: NodeUpdate | undefined;
  /** Revision of the live pod that was last seen; undefined before the first. */
  lastRevision: string | undefined;
  /** The update that completed last; with the strategy ota, the owner's. */
  lastCompleted: Pick<PastUpdate, 'rollout' | 'at' | 'saidAt'> | undefined;
  /** The user resumed after this node failed: the failure does not count until the node has worked again. */
  forgiven: boolean;
  refused: { until: number; tries: number; message: string } | undefined;
  /** The pod that can't be updated in place in this rollout, since the API server refuses that. */
  notInPlace: { podUid: string; rollout: number } | undefined;
  /** The partition allows an update. */
  partitionAllows: boolean;
  /** Index of the plan's stage that the node is in; 0 without a plan. */
  stage: number;
  scopes: Scopes;
  /** The DaemonSet, by name, whose update comes first on this node; undefined: it need not wait. */
  waitsFor: string | undefined;
  /** We are requesting the images of this revision on the node's pod, or have done so while the cache is still stale. */
  imageRequest: { revision: string; at: number } | undefined;
  /** The node has listed the images of the target since they were pulled ahead. */
  imagesListed: boolean;
  status: NodeStatus;
}

/** What the ledger counts and indexes a record by. */
export interface NodeStatus {
  /** Undefined: the node is not eligible, or has no Node object. */
  phase: Phase | undefined;
  cause: Cause | undefined;
  online: boolean;
  settled: boolean;
  /** Online, settled, and without an available pod. */
  down: boolean;
  /** Online, with an update of ours that has not completed. */
  inFlight: boolean;
  /** In flight, and not with an old broken pod that waits for its repair. */
  active: boolean;
  /** At the target, or past the point of no return, like every node without a live pod: a partition counts it first. */
  committed: boolean;
  suspect: boolean;
  /** Nothing in the plan keeps an update from beginning here now. */
  allowedByPlan: boolean;
  /** A pod that is created here now is of this revision (hash) in place of the target, from which the node is kept. */
  heldRevision: string | undefined;
  /** Online, and permitted by everything that people set: one of those that a stage must cover. */
  inCoverage: boolean;
  stage: number;
  /** Has a pod of the target although its stage is closed. */
  exposed: boolean;
  scopes: Scopes;
  /** Counts towards the breaker as a failure of an online node, or of one that was lost. */
  failure: 'online' | 'lost' | undefined;
  /** Has an update of ours under way, or the target failed on it or may have: it counts towards the first wave. */
  onTrial: boolean;
  /** Its in-place update timed out, and the pod may be deleted instead. */
  overdue: boolean;
  /** Of an old and a new pod on the node, the one to delete now. */
  surgedOutPod: PodFacts | undefined;
  owner: OwnerStatus;
  images: ImageStatus;
  /** What a pod of the target runs here; shared between nodes that report the same. */
  imageReports: readonly ImageReport[];
  zone: string;
  /** When the status changes without any event; Infinity if never. */
  dueAt: number;
}

/** Where the node's owner stands with the strategy ota. */
export interface OwnerStatus {
  /** The owner is offered the target revision and has not approved it. */
  asked: boolean;
  /** The owner approved, and the manager replaces the pod. */
  approved: boolean;
  /** What to write to the live pod, `none` to remove the condition; undefined while it is up to date. */
  announcement: Announcement | 'none' | undefined;
}

/** How far the images of the target are on an online node with an outdated pod; `none`: nobody pulls them there. */
export type ImageState = 'none' | 'wanted' | ImageFacts['state'];

/** Order of requests: nodes that wait for their images, other nodes that may be updated, nodes that the partition keeps. */
export const requestPriorities = [0, 1, 2] as const;
export type RequestPriority = (typeof requestPriorities)[number];

/** How far the images of the target are on a node with an outdated pod. */
export interface ImageStatus {
  state: ImageState;
  /** The pod is not replaced before its images are present. */
  required: boolean;
  /** When to request them; undefined: not now. */
  requestPriority: RequestPriority | undefined;
  /** The pod requests images that are no longer wanted. */
  staleRequest: boolean;
  /** A pull pod may serve the request. */
  pullPodAllowed: boolean;
}

/** The settings that records go by. The others decide by sums over all records, by the facts of nodes, or are only displayed. */
export const recordSettings = [
  'strategy',
  'byApproval',
  'paused',
  'rolloutPlan',
  'plan',
  'recreate',
  'maxSurge',
  'minReadyMs',
  'settleMs',
  'progressDeadlineMs',
  'suspectWindowMs',
  'predownload',
  'predownloadParallelism',
  'predownloadTimeoutMs',
] as const satisfies readonly (keyof Policy)[];

/** What all records of one DaemonSet are assessed against. */
export interface Context {
  policy: Pick<Policy, (typeof recordSettings)[number]>;
  /** Hash label of the target revision; undefined until it is known. */
  targetHash: string | undefined;
  /** Hash label of the revision that was last complete, if that is another one. */
  heldRevision: string | undefined;
  rollout: number;
  /** When the present rollout began, epoch ms; undefined when the target is the first that we know. */
  startedAt: number | undefined;
  /** When this process first saw the target, by its own clock. */
  targetSeenAt: number;
  /** With the strategy ota: the breaker withholds the target from owners. */
  withheldFromOwners: boolean;
  /** Nodes and pods are still being listed: an absent one may yet appear. */
  initialSync: boolean;
  /** Images are pulled ahead even where only the manager's flag asks for it. */
  pullsByDefault: boolean;
  /** The rollout of the target is halted. */
  halted: boolean;
  /** The stage of this index is open. */
  isStageOpen: (stage: number) => boolean;
  /** A pod of the target exposes a node of the stage of this index. */
  exposes: (stage: number) => boolean;
  /** No window or freeze of the plan keeps updates from beginning on nodes of this time zone. */
  isCalendarOpen: (timeZone: string | undefined) => boolean;
}

export const noOwner: OwnerStatus = { asked: false, approved: false, announcement: undefined };

export const noImages: ImageStatus = {
  state: 'none',
  required: false,
  requestPriority: undefined,
  staleRequest: false,
  pullPodAllowed: false,
};

/** Of a node that the rollout has nothing to do with. */
export const notEligible: NodeStatus = {
  phase: undefined,
  cause: undefined,
  online: false,
  settled: false,
  down: false,
  inFlight: false,
  active: false,
  committed: false,
  allowedByPlan: false,
  heldRevision: undefined,
  inCoverage: false,
  stage: 0,
  exposed: false,
  scopes: noScopes,
  suspect: false,
  failure: undefined,
  onTrial: false,
  overdue: false,
  surgedOutPod: undefined,
  owner: noOwner,
  images: noImages,
  imageReports: noReports,
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
  notInPlace: undefined,
  partitionAllows: true,
  stage: 0,
  scopes: noScopes,
  waitsFor: undefined,
  imageRequest: undefined,
  imagesListed: false,
  status: notEligible,
});
