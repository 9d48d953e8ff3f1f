/**
 * The types that all parts of the agent share: updates of this node, the owner's decisions, and their outcome. The API
 * serves these shapes as they are (docs/reference/agent-api.md), so times are RFC 3339 in UTC.
 */

/** RFC 3339 in UTC, such as `2026-11-21T17:00:00Z`. */
export type Timestamp = string;

/** A DaemonSet of this node, of `apps` or `apps.kruise.io`. */
export interface DaemonSetRef {
  namespace: string;
  daemonSet: string;
}

/** The DaemonSet that a pod belongs to. */
export interface Owner extends DaemonSetRef {
  apiVersion: string;
  uid: string;
}

export interface PodRef {
  namespace: string;
  name: string;
}

export interface ContainerImage {
  container: string;
  image: string;
}

/**
 * The state of an update. `current`: the pod runs the target revision. `available`: waits for the owner's decision.
 * `postponed`: the owner is asked again later. `rejected`: the owner rejected this revision. `queued`: approved, and waits
 * for `reason`. `updating`: from the write until the new pod is ready. `failed`: the new pod does not work. `halted`: the
 * circuit breaker stopped this revision. `unknown`: the agent cannot compute the state, so it does nothing.
 */
export type UpdateState =
  | 'current'
  | 'available'
  | 'postponed'
  | 'rejected'
  | 'queued'
  | 'updating'
  | 'failed'
  | 'halted'
  | 'unknown';

/**
 * Why the manager does not offer a new revision to this device for now. `Paused`: the rollout is paused. `Partition`: the
 * partition excludes this node. `NodeSelector`: the update's node selector does. `NodeNotEligible`: the node could not run
 * the pod again. `NotOffered`: a reason that this version of the agent does not know.
 */
export const withheldReasons = ['Paused', 'Partition', 'NodeSelector', 'NodeNotEligible', 'NotOffered'] as const;
export type WithheldReason = (typeof withheldReasons)[number];

/** What an open decision waits for. */
export type WaitReason =
  | 'Acting'
  | 'Disconnected'
  | 'Halted'
  | 'ImageNotReady'
  | 'NoSafeCheck'
  | 'OutsideWindow'
  | 'Postponed'
  | 'Rejected'
  | WithheldReason;

/** Why an update is not started, in the order of the checks. */
export type RefusalCode =
  | 'Disconnected'
  | 'Unreadable'
  | 'Unrestricted'
  | 'Busy'
  | 'NotFound'
  | 'Deleting'
  | 'OtherNode'
  | 'NoUpdate'
  | 'ImageNotReady'
  | 'NoOwner'
  | 'OtherOwner'
  | 'NotOta'
  | 'Halted'
  | 'Superseded'
  | 'NotDue'
  | 'NotSafe'
  | 'NoConsent'
  | 'NotDurable'
  | 'Unsettled'
  | 'NotComputable'
  | 'Refused';

/** Why the new pod of an update fails. */
export const failureReasons = ['CrashLoop', 'ImageCannotBePulled', 'NotReadyInTime'] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Why an update has its state. The owner's page has a text for each, in each language. */
export type UpdateReason =
  | WaitReason
  | RefusalCode
  | FailureReason
  | 'Due'
  | 'NewRevision'
  | 'NotReady'
  | 'OutcomeUnknown'
  | 'Preparing'
  | 'Starting'
  | 'Stopping'
  | 'UpToDate'
  | 'WaitingForManager'
  | 'WaitingForPod';

/** State of the target's images on the node; `unknown` if no one requested them before the update. */
export type ImageState = 'unknown' | 'pulling' | 'ready' | 'failed';

/** When to carry out an approved update. In any case, the device must be connected and safe. */
export type When =
  | { type: 'now' }
  /** Between two local times of the device, `HH:MM`; past midnight if `to` is earlier than `from`. */
  | { type: 'window'; from: string; to: string; days?: Weekday[] }
  /** As soon as the device's safety check passes; refused if none is configured. */
  | { type: 'safe' };

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** An owner's choice for one revision. */
export type Choice =
  | { choice: 'approve'; when: When }
  /** The owner is asked again at `until`; the end of a postponement approves nothing. */
  | { choice: 'postpone'; until: Timestamp }
  | { choice: 'reject' };

/** Who called, as verified by the agent. */
export interface Caller {
  /** `uid:0`, `token:NAME`, `cert:COMMON-NAME`, or `agent` for a decision made by the deadline. */
  identity: string;
  via: 'loopback' | 'unix' | 'token' | 'certificate' | 'agent';
}

/**
 * The state of a decision. `open`: to be carried out, or in effect (postponed, rejected). `acting`: the write is about to be
 * sent, was sent, or has an unknown outcome. The others are final.
 */
export type DecisionState = 'open' | 'acting' | 'done' | 'refused' | 'superseded' | 'replaced';

/** A decision for one DaemonSet of this node and one target revision. */
export interface Decision extends DaemonSetRef {
  /** Unique on this device; grows with each decision. */
  id: number;
  /** Hash label of the revision that the decision is for. */
  revision: string;
  decision: Choice;
  by: Caller;
  at: Timestamp;
  state: DecisionState;
  /** From the YurtHub route without `queue`: if it can't be carried out at once, it isn't carried out later. */
  once?: true;
  /** The write of a decision that is `acting` or was carried out. */
  act?: DecisionAct;
  /** Human-readable reason for the state; set for `done`, `refused`, `superseded` and `replaced`. */
  result?: string;
  settledAt?: Timestamp;
}

/** The write that updates the pod. */
export interface DecisionAct {
  /** `delete`: deletes the pod. `approve`: sets the condition UpgradeApproved; the manager updates the pod. */
  kind: 'delete' | 'approve';
  pod: string;
  podUid: string;
  /** The resourceVersion that the write is bound to: if the pod has another one, the API server rejects the write. */
  podResourceVersion?: string;
  fromRevision: string;
  toRevision: string;
  startedAt: Timestamp;
}

export interface Update extends DaemonSetRef {
  apiVersion: string;
  /** The pod on this node; null while there is none. */
  pod: string | null;
  state: UpdateState;
  reason: UpdateReason;
  /** The reason as an English sentence. */
  message: string;
  running: { revision: string; images: ContainerImage[]; ready: boolean };
  target: {
    /** Null until the manager has announced one. */
    revision: string | null;
    /** Null while unknown, for example if the device has been offline since the announcement. */
    images: ContainerImage[] | null;
    publishedAt: Timestamp | null;
    /** What the administrator says about it, as plain text with line breaks, at most 2,000 characters; null for nothing. */
    notes: string | null;
  };
  image: { state: ImageState; message: string };
  /** Bytes of the containers' images, as the runtime reports them; null while an image isn't on the node, or not asked. */
  size: { running: number | null; target: number | null };
  decision: Decision | null;
  /** The administrator's deadline for the decision, and when this device updates because of it. */
  deadline: { at: Timestamp; actsAt: Timestamp } | null;
}

/** One entry of the device's history of decisions and updates. */
export interface HistoryEntry extends DaemonSetRef {
  at: Timestamp;
  who: string;
  /** Such as `Approved`, `Postponed`, `Rejected`, `Deleting`, `Updated`, `Refused`, `Superseded`, `OutcomeUnknown`. */
  what: string;
  fromRevision: string | null;
  toRevision: string | null;
  /** One English sentence. */
  result: string;
  /** What an owner chose; absent for other entries, and in those of earlier versions of the agent. */
  choice?: Choice;
  /** Of `Updated`: from the delete until the new pod was ready; absent if unknown. */
  tookSeconds?: number;
  /** Of `Failed`: why the new pod does not work. */
  reason?: FailureReason;
}

export interface DeviceStatus {
  node: string;
  now: Timestamp;
  timeZone: string;
  connected: boolean;
  /** When `connected` last changed. */
  since: Timestamp;
  /** The last contact with the API server; null for never. */
  lastContact: Timestamp | null;
  /** Whether a safety check is configured, and its last answer. */
  safe: { configured: boolean; safe: boolean | null; message: string };
  /** Problems with saving decisions: human-readable, with the fix; null without a problem. */
  disk: {
    /** Why the last change of a decision could not be saved. New decisions are refused meanwhile. */
    trouble: string | null;
    /** What was unreadable on disk when the agent started: decisions may be missing. */
    damage: string | null;
  };
}

/** A response of the YurtHub routes: HTTP status and the text of the body. */
export interface TextResponse {
  status: 200 | 202 | 400 | 403 | 404 | 502 | 503 | 504 | 507;
  text: string;
}

/** The agent, as the HTTP server uses it. Problems that a caller can fix are results, not exceptions. */
export interface AgentBackend {
  /** All pods of this node, sanitized: without literal env values and managedFields. */
  pods(): { items: readonly object[]; resourceVersion: string; ageSeconds: number };
  /** Calls `reauthorize` right before the write. */
  upgrade(pod: PodRef, caller: Caller, options: { queue: boolean; reauthorize: Reauthorize }): Promise<TextResponse>;
  imagePull(pod: PodRef, caller: Caller): Promise<TextResponse>;
  updates(): readonly Update[];
  decide(
    target: DaemonSetRef,
    revision: string,
    choice: Choice,
    caller: Caller,
    reauthorize: Reauthorize,
  ): Promise<DecideResult>;
  /** Newest first. */
  history(): readonly HistoryEntry[];
  device(): DeviceStatus;
  /** Called when any of the reads above would return something new. Returns the function to unsubscribe. */
  onChange(listener: () => void): () => void;
}

/** Checks again whether the caller is allowed. Resolves to the reason if it no longer is. */
export type Reauthorize = () => Promise<string | undefined>;

export type DecideResult =
  /** The decision is saved. 201: there is nothing to carry out; 202: it waits or is in progress. */
  | { kind: 'accepted'; status: 201 | 202; decision: Decision }
  /** `reason`: the rule that refused it, for programs. */
  | { kind: 'refused'; status: 403 | 404 | 409 | 422; reason: string; message: string };
