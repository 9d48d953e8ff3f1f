import type { Caller, Choice, DaemonSetRef, Decision, DecisionAct, HistoryEntry, WithheldReason } from '../types.ts';

/** What an owner (or a deadline) decides. `revision` is the target that it is for, `fromRevision` what runs now. */
export interface DecisionInput extends DaemonSetRef {
  revision: string;
  choice: Choice;
  by: Caller;
  fromRevision: string | null;
  /** Kept in the decision: see `Decision.once`. */
  once?: true;
  /** The book's `lastId` when this was asked for: what was decided since is not replaced. */
  asOf?: number;
}

/**
 * The decisions of this device. Each call resolves once its change is on the disk, and rejects with a `JournalError`
 * (such as `NoSpace`) without any change when it could not be put there.
 */
export interface DecisionStore {
  /**
   * Replaces the open decision of the same DaemonSet. The same choice for the same revision answers the decision that
   * there is. Throws a `DecisionError` `Acting` while another one is acting, and `Newer` by `asOf`.
   */
  decide(input: DecisionInput): Promise<Decision>;
  /** The highest id that was given; 0 before the first decision. */
  readonly lastId: number;
  /** The decision that is open or acting. */
  current(ref: DaemonSetRef): Decision | undefined;
  /** Decisions whose act was sent or was about to be: after a restart, what must be settled. */
  acting(): readonly Decision[];
  /** To be awaited before the act is sent. Throws a `DecisionError` unless the decision is open and approves this revision. */
  begin(id: number, act: Omit<DecisionAct, 'startedAt'>): Promise<Decision>;
  /** The end of a decision that is open or acting; `what` and `result` go to the history. */
  settle(id: number, state: 'done' | 'refused' | 'superseded', what: string, result: string): Promise<Decision>;
  /** The act was certainly not carried out: the decision waits again. */
  reopen(id: number, result: string): Promise<Decision>;
  /** A line of the history that is no decision. */
  note(entry: Omit<HistoryEntry, 'at'>): Promise<void>;
  /** Newest first; the last 500 lines. */
  history(): readonly HistoryEntry[];
  /** What was unreadable on the disk when the book was opened, for people. */
  readonly damage: string | undefined;
  /** Why the last change could not be put on the disk; undefined while there is no reason to doubt the next one. */
  readonly trouble: string | undefined;
  /** Called after every change, and when `trouble` begins. Returns how to end it. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

/** All that `nextStep` looks at. Times are epoch milliseconds. */
export interface StepFacts {
  now: number;
  /** IANA name or offset, as `parseTimeZone` gives it. */
  timeZone: string;
  connected: boolean;
  announced: { revision: string } & (
    | { need: 'yes' | 'no' | 'halted' }
    /** Not offered to this device for a while: what was decided on it waits. */
    | { need: 'withheld'; reason: WithheldReason }
  );
  /** Why the images keep the update back, for people. */
  imageBlocks: string | undefined;
  decision: Decision | undefined;
  deadline: Deadline | undefined;
  safeConfigured: boolean;
}

export interface Deadline {
  at: number;
  spreadMs: number;
  /** This device's place within the spread, in [0, 1): `deadlineShare`. */
  share: number;
}

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

/** What is to be done now. `wakeAt`: when to ask again though nothing happened; absent when only an event can change it. */
export type Step = { wakeAt?: number } & (
  | { kind: 'none' }
  /** The owner has not decided, or the postponement is over. */
  | { kind: 'ask' }
  /** `until`: when this reason ends by itself; undefined when that is not known. */
  | { kind: 'wait'; reason: WaitReason; message: string; until: number | undefined }
  /** The decision is for what is no longer the target, or needs nothing any more: settle it as superseded. */
  | { kind: 'supersede'; message: string }
  /** Carry it out, after the device said that it is safe. */
  | { kind: 'act'; why: 'owner' | 'deadline' }
);
