import type {
  Caller,
  Choice,
  DaemonSetRef,
  Decision,
  DecisionAct,
  HistoryEntry,
  WaitReason,
  WithheldReason,
} from '../types.ts';

/** A decision of the owner or the deadline: for the target `revision`, while `fromRevision` runs. */
export interface DecisionInput extends DaemonSetRef {
  revision: string;
  choice: Choice;
  by: Caller;
  fromRevision: string | null;
  /** See `Decision.once`. */
  once?: true;
  /** The store's `lastId` at the time of the request: newer decisions are not replaced. */
  asOf?: number;
}

/**
 * The decisions of this device. Each call resolves once its change is on disk. If it can't be saved, the call rejects with a
 * `StorageError` (such as `NoSpace`) and changes nothing.
 */
export interface DecisionStore {
  /**
   * Replaces the open decision for the same DaemonSet. If that is the same choice for the same revision, returns it. Throws
   * a `DecisionError`: `Acting` while another decision is being carried out, `Newer` because of `asOf`.
   */
  decide(input: DecisionInput): Promise<Decision>;
  /** The highest id so far; 0 before the first decision. */
  readonly lastId: number;
  /** The decision that is open or acting. */
  current(ref: DaemonSetRef): Decision | undefined;
  /** Decisions whose write was sent or about to be sent: after a restart, their outcome must be determined. */
  acting(): readonly Decision[];
  /** Await it before sending the write. Throws a `DecisionError` unless the decision is open and approves this revision. */
  begin(id: number, act: Omit<DecisionAct, 'startedAt'>): Promise<Decision>;
  /** Ends a decision that is open or acting; `what` and `result` go to the history. */
  settle(id: number, state: 'done' | 'refused' | 'superseded', what: string, result: string): Promise<Decision>;
  /** The write was certainly not carried out: the decision is open again. */
  reopen(id: number, result: string): Promise<Decision>;
  /** Adds a history entry without a decision. */
  note(entry: Omit<HistoryEntry, 'at'>): Promise<void>;
  /** The last 500 entries, newest first. */
  history(): readonly HistoryEntry[];
  /** What was unreadable on disk when the store was opened; human-readable. */
  readonly damage: string | undefined;
  /** Why the last change could not be saved; undefined if it was saved. */
  readonly trouble: string | undefined;
  /** Called after every change, and when `trouble` starts. Returns the function to unsubscribe. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

/** The input of `nextStep`. Times are epoch milliseconds. */
export interface StepFacts {
  now: number;
  /** IANA name or offset. */
  timeZone: string;
  connected: boolean;
  announced: { revision: string } & (
    | { need: 'yes' | 'no' | 'halted' }
    /** Not offered to this device for now: a decision for it waits. */
    | { need: 'withheld'; reason: WithheldReason }
  );
  /** Why the images block the update; human-readable. */
  imageBlocks: string | undefined;
  decision: Decision | undefined;
  deadline: Deadline | undefined;
  safeConfigured: boolean;
}

export interface Deadline {
  at: number;
  spreadMs: number;
  /** This device's position within the spread, in [0, 1): `deadlineShare`. */
  share: number;
}

/** What to do now. `wakeAt`: when time alone changes the step; absent if only an event can. */
export type Step = { wakeAt?: number } & (
  | { kind: 'none' }
  /** The owner has not decided, or the postponement has ended. */
  | { kind: 'ask' }
  /** `until`: when this reason ends by itself; undefined if unknown. */
  | { kind: 'wait'; reason: WaitReason; message: string; until: number | undefined }
  /** The decision is for another target, or nothing is left to update: settle it as superseded. */
  | { kind: 'supersede'; message: string }
  /** Carry it out, if the device's safety check passes. */
  | { kind: 'act'; why: 'owner' | 'deadline' }
);
