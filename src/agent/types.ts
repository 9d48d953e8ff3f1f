/**
 * The language that the agent's parts share: what waits on this node, what its owner decided, and what came of it. The
 * own API serves these shapes as they are (docs/reference/agent-api.md), so times are RFC 3339 in UTC.
 */

/** RFC 3339 in UTC, such as `2026-11-21T17:00:00Z`. */
export type Timestamp = string;

/** A DaemonSet of this node, of `apps` or `apps.kruise.io`. */
export interface DaemonSetRef {
  namespace: string;
  daemonSet: string;
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
 * Where an update stands. `current`: the pod runs the target revision. `available`: the owner is asked. `postponed`: the
 * owner is asked again later. `rejected`: the owner said no to this revision. `queued`: consented to, and waiting for
 * what `reason` names. `updating`: the act was sent, until the new pod is ready. `failed`: the new pod does not work.
 * `halted`: the fleet's breaker stopped this revision.
 */
export type UpdateState =
  | 'current'
  | 'available'
  | 'postponed'
  | 'rejected'
  | 'queued'
  | 'updating'
  | 'failed'
  | 'halted';

/**
 * Why the manager keeps a new revision from this device for a while. `Paused`: from all. `Partition`: its turn has not
 * come. `NodeSelector`: the update is for others. `NodeNotEligible`: the pod would not be made here again. `NotOffered`:
 * for a reason that this agent has no word for.
 */
export const withheldReasons = ['Paused', 'Partition', 'NodeSelector', 'NodeNotEligible', 'NotOffered'] as const;
export type WithheldReason = (typeof withheldReasons)[number];

/** What the node knows of the target's images: `unknown` when nobody asked for them ahead of time. */
export type ImageState = 'unknown' | 'pulling' | 'ready' | 'failed';

/** When an approved update may be carried out; always only once connected and once the device says it is safe. */
export type When =
  | { type: 'now' }
  /** Between two local times of the device's time zone, `HH:MM`; over midnight when `to` is earlier than `from`. */
  | { type: 'window'; from: string; to: string; days?: Weekday[] }
  /** As soon as the device's own check says it is safe; refused where no check is configured. */
  | { type: 'safe' };

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** What an owner can say of one revision. */
export type Choice =
  | { choice: 'approve'; when: When }
  /** The owner is asked again at `until`: its end is no consent. */
  | { choice: 'postpone'; until: Timestamp }
  | { choice: 'reject' };

/** Who called, as far as the agent made sure of it. */
export interface Caller {
  /** `uid:0`, `token:NAME`, `cert:COMMON-NAME`, or `agent` for what a deadline made due. */
  identity: string;
  via: 'loopback' | 'unix' | 'token' | 'certificate' | 'agent';
}

/**
 * What became of a decision. `open`: to be carried out, or holding (postponed, rejected). `acting`: the act is about to
 * be sent, was sent, or its outcome is not known yet. The others are final.
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
  /** Asked for at once, by the compatible route: what could not be done then is not done later. */
  once?: true;
  /** The act of a decision that is `acting` or was carried out. */
  act?: DecisionAct;
  /** Why it is in its state, for people; set for `done`, `refused`, `superseded` and `replaced`. */
  result?: string;
  settledAt?: Timestamp;
}

export interface DecisionAct {
  /** `delete`: the pod is deleted. `approve`: condition UpgradeApproved is set, the manager acts. */
  kind: 'delete' | 'approve';
  pod: string;
  podUid: string;
  /** The version of the pod that the act is bound to: a pod of another version cannot be met by it any more. */
  podResourceVersion?: string;
  fromRevision: string;
  toRevision: string;
  startedAt: Timestamp;
}

export interface Update extends DaemonSetRef {
  apiVersion: string;
  /** The pod here; null while there is none. */
  pod: string | null;
  state: UpdateState;
  /** CamelCase, never empty. */
  reason: string;
  /** One plain sentence for the device's owner. */
  message: string;
  running: { revision: string; images: ContainerImage[]; ready: boolean };
  target: {
    /** Null until the controller has announced one. */
    revision: string | null;
    /** Null while they are not known, as when the device was offline since the announcement. */
    images: ContainerImage[] | null;
    publishedAt: Timestamp | null;
  };
  image: { state: ImageState; message: string };
  decision: Decision | null;
  /** The administrator's end of postponement, and when this device acts on it. */
  deadline: { at: Timestamp; actsAt: Timestamp } | null;
}

/** One line of the device's own log of decisions and acts. */
export interface HistoryEntry extends DaemonSetRef {
  at: Timestamp;
  who: string;
  /** Such as `Approved`, `Postponed`, `Rejected`, `Deleting`, `Updated`, `Refused`, `Superseded`, `OutcomeUnknown`. */
  what: string;
  fromRevision: string | null;
  toRevision: string | null;
  /** One plain sentence. */
  result: string;
}

export interface DeviceStatus {
  node: string;
  now: Timestamp;
  timeZone: string;
  connected: boolean;
  /** Since when `connected` is what it is. */
  since: Timestamp;
  /** When the API server was heard of last; null for never. */
  lastContact: Timestamp | null;
  /** Whether a check of the device is configured, and what it said last. */
  safe: { configured: boolean; safe: boolean | null; message: string };
  /** How decisions are kept here. Sentences for people, which name the cure; null while there is nothing to say. */
  disk: {
    /** Why the last decision, or what became of one, could not be put on the disk. Decisions are refused for it. */
    trouble: string | null;
    /** What was unreadable on the disk when the agent started: decisions may be missing. */
    damage: string | null;
  };
}

/** An answer of the compatible routes: HTTP status and the text of the body. */
export interface TextResponse {
  status: 200 | 202 | 400 | 403 | 404 | 502 | 503 | 504 | 507;
  text: string;
}

/** What the HTTP server asks of the agent. Nothing here throws for a cause that a caller could mend: that is an answer. */
export interface AgentBackend {
  /** All pods of this node as they may be shown: without literal env values and managedFields. */
  pods(): { items: readonly object[]; resourceVersion: string; ageSeconds: number };
  /** `consent` is asked right before the act; an answer other than undefined refuses it. */
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
  /** Called after anything that the reads above show has changed. Returns how to end it. */
  onChange(listener: () => void): () => void;
}

/** Looks at the caller once more; the text says why it may not, undefined that it may. */
export type Reauthorize = () => Promise<string | undefined>;

export type DecideResult =
  /** 201 when there is nothing to carry out, 202 when it waits or is under way: durable in both cases. */
  | { kind: 'accepted'; status: 201 | 202; decision: Decision }
  /** `reason` is the rule that refused it, for programs. */
  | { kind: 'refused'; status: 403 | 404 | 409 | 422; reason: string; message: string };
