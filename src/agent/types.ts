/**
 * The types that all parts of the agent share: updates of this node, the owner's decisions, and their outcome. The API
 * serves these shapes as they are (docs/reference/agent-api.md), so types follow from the schemas that it publishes.
 */

import type { Infer } from '../words/index.ts';
import {
  anyOf,
  arrayOf,
  constant,
  flag,
  integer,
  nullable,
  object,
  oneOf,
  ref,
  type SchemaOf,
  text,
  time,
} from './schema.ts';

export type { Timestamp } from './schema.ts';

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

const image = object({ container: text(), image: text() });
export type ContainerImage = Infer<typeof image>;

const revision = text('Label controller-revision-hash of the pods of this revision.');
const daemonSetRef = { namespace: text(), daemonSet: text() };

/**
 * The state of an update. `current`: the pod runs the target revision. `available`: waits for the owner's decision.
 * `postponed`: the owner is asked again later. `rejected`: the owner rejected this revision. `queued`: approved, and waits
 * for `reason`. `updating`: from the write until the new pod is ready. `failed`: the new pod does not work. `halted`: the
 * circuit breaker stopped this revision. `unknown`: the agent cannot compute the state, so it does nothing.
 */
export const updateStates = [
  'current',
  'available',
  'postponed',
  'rejected',
  'queued',
  'updating',
  'failed',
  'halted',
  'unknown',
] as const;
export type UpdateState = (typeof updateStates)[number];

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
const imageState = oneOf('unknown', 'pulling', 'ready', 'failed');
export type ImageState = Infer<typeof imageState>;

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

export const LOCAL_TIME = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;
const localTime: SchemaOf<string> = { type: 'string', pattern: LOCAL_TIME.source };

export const whenSchema = {
  description: 'When to carry out an approved update. The device must be connected and safe in any case.',
  ...anyOf(
    object({ type: constant('now') }),
    /** Between two local times of the device, `HH:MM`; past midnight if `to` is earlier than `from`. */
    object(
      { type: constant('window'), from: localTime, to: localTime, days: arrayOf(oneOf(...weekdays)) },
      { optional: ['days'] },
    ),
    /** As soon as the device's safety check passes; refused if none is configured. */
    object({ type: constant('safe') }),
  ),
};
/** When to carry out an approved update. In any case, the device must be connected and safe. */
export type When = Infer<typeof whenSchema>;

export const choiceSchema = anyOf(
  object({ choice: constant('approve'), when: ref<When>('When') }),
  /** The owner is asked again at `until`; the end of a postponement approves nothing. */
  object({ choice: constant('postpone'), until: time() }),
  object({ choice: constant('reject') }),
);
/** An owner's choice for one revision. */
export type Choice = Infer<typeof choiceSchema>;

/** What a decision request consists of: a choice, and the revision that it is for. */
export const decisionRequestSchema = anyOf(
  object(
    { revision, decision: constant('approve'), when: ref<When>('When') },
    { optional: ['when'], description: 'Without `when`: now.' },
  ),
  object({ revision, decision: constant('postpone'), until: time('The owner is asked again at this time.') }),
  object({ revision, decision: constant('reject') }),
);

const caller = object({
  identity: text('`uid:0`, `token:NAME`, `cert:COMMON-NAME`, or `agent` for a decision made by the deadline.'),
  via: oneOf('loopback', 'unix', 'token', 'certificate', 'agent'),
});
/** Who called, as verified by the agent. */
export type Caller = Infer<typeof caller>;

/**
 * The state of a decision. `open`: to be carried out, or in effect (postponed, rejected). `acting`: the write is about to be
 * sent, was sent, or has an unknown outcome. The others are final.
 */
export const decisionStates = ['open', 'acting', 'done', 'refused', 'superseded', 'replaced'] as const;
export type DecisionState = (typeof decisionStates)[number];

const act = object(
  {
    /** `delete`: deletes the pod. `approve`: sets the condition UpgradeApproved; the manager updates the pod. */
    kind: oneOf('delete', 'approve'),
    pod: text(),
    podUid: text(),
    /** If the pod has another one, the API server rejects the write. */
    podResourceVersion: text('The version of the pod that the write is bound to.'),
    fromRevision: text(),
    toRevision: text(),
    startedAt: time(),
  },
  { optional: ['podResourceVersion'] },
);
/** The write that updates the pod. */
export type DecisionAct = Infer<typeof act>;

export const decisionSchema = object(
  {
    /** Unique on this device; grows with each decision. */
    id: integer,
    ...daemonSetRef,
    revision,
    decision: ref<Choice>('Choice'),
    by: caller,
    at: time(),
    state: oneOf(...decisionStates),
    /** The write of a decision that is `acting` or was carried out. */
    act,
    /** Set for `done`, `refused`, `superseded` and `replaced`. */
    result: text('Human-readable reason for the state.'),
    settledAt: time(),
    /** From the YurtHub route without `queue`. */
    once: {
      ...constant(true),
      description: 'If it can not be carried out at once, it is not carried out later. Absent for any other decision.',
    },
  },
  { optional: ['act', 'result', 'settledAt', 'once'] },
);
/** A decision for one DaemonSet of this node and one target revision. */
export type Decision = Infer<typeof decisionSchema>;

export const updateSchema = object({
  ...daemonSetRef,
  apiVersion: text('Of the DaemonSet.'),
  /** Null while there is none. */
  pod: nullable(text('The pod on this node.')),
  state: oneOf(...updateStates),
  reason: text<UpdateReason>('CamelCase.'),
  /** The reason as an English sentence. */
  message: text('One sentence for the owner of the device.'),
  running: object({ revision, images: arrayOf(image), ready: flag }),
  target: object({
    /** Null until the manager has announced one. */
    revision: nullable(revision),
    /** Null while unknown, for example if the device has been offline since the announcement. */
    images: nullable(arrayOf(image)),
    publishedAt: nullable(time()),
    notes: nullable({
      ...text('What the administrator says about it. Plain text with line breaks.'),
      maxLength: 2_000,
    }),
  }),
  /** Null while an image isn't on the node, or not asked. */
  size: object(
    { running: nullable(integer), target: nullable(integer) },
    { description: 'Bytes of the images, as the container runtime reports them; null if unknown.' },
  ),
  image: object({ state: imageState, message: text() }),
  decision: nullable(ref<Decision>('Decision')),
  /** By the rule that accepts decisions. */
  choices: object(
    {
      approve: flag,
      postpone: flag,
      /** Not while the administrator's deadline requires this revision. */
      reject: flag,
      tonight: nullable(
        object(
          { from: localTime, to: localTime },
          {
            description: "The window of the coming night, in the device's time zone; null if the deadline comes first.",
          },
        ),
      ),
    },
    { description: 'What the owner can decide now: a decision that is false here is refused.' },
  ),
  /** The administrator's deadline for the decision. */
  deadline: nullable(
    object({
      at: time(),
      actsAt: time('When this device updates.'),
      first: {
        ...flag,
        description: 'The update is then installed before the decision would have any effect, or in spite of it.',
      },
    }),
  ),
});
export type Update = Infer<typeof updateSchema>;

export const historyEntrySchema = object(
  {
    at: time(),
    ...daemonSetRef,
    who: text(),
    what: text('CamelCase, such as Approved, Deleting, Updated.'),
    fromRevision: nullable(revision),
    toRevision: nullable(revision),
    result: text('One English sentence.'),
    /** What an owner chose; absent for other entries, and in those of earlier versions of the agent. */
    choice: ref<Choice>('Choice'),
    /** Of `Updated`; absent if unknown. */
    tookSeconds: { ...integer, description: 'From the delete until the new pod was ready.' },
    /** Of `Failed`: why the new pod does not work. */
    reason: oneOf(...failureReasons),
  },
  { optional: ['choice', 'tookSeconds', 'reason'] },
);
/** One entry of the device's history of decisions and updates. */
export type HistoryEntry = Infer<typeof historyEntrySchema>;

export const deviceSchema = object({
  node: text(),
  displayName: nullable({ ...text('What people call this device. Plain text in one line.'), maxLength: 64 }),
  administrator: nullable({
    ...text('How to reach the administrator: a phone number, an e-mail address, an https URL or any other plain text.'),
    maxLength: 128,
  }),
  now: time(),
  timeZone: text(),
  connected: flag,
  since: time('When `connected` last changed.'),
  /** The last contact with the API server; null for never. */
  lastContact: nullable(time()),
  /** Whether a safety check is configured, and its last answer. */
  safe: object({ configured: flag, safe: nullable(flag), message: text() }),
  /** Null without a problem. */
  disk: object(
    {
      /** Why the last change of a decision could not be saved. New decisions are refused meanwhile. */
      trouble: nullable(text('Why decisions cannot be saved now.')),
      damage: nullable(text('What was unreadable when the agent started: decisions may be missing.')),
    },
    { description: 'State of the storage for decisions. Human-readable, with the fix.' },
  ),
});
export type DeviceStatus = Infer<typeof deviceSchema>;

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
