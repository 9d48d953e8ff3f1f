/** What the records add up to. The journal alone calls it, in the order of the file. */
export interface JournalState {
  /** One record, from the disk or durable since now. False when it is none that this state knows. Must not throw. */
  apply(record: unknown): boolean;
  /** Records that make an empty state into this one: what a compaction keeps. */
  snapshot(): readonly unknown[];
}

export interface Journal {
  /** Resolves once the record (any JSON value) is on the disk and was applied; rejects with a `JournalError` otherwise. */
  append(record: unknown): Promise<void>;
  /** What was unreadable when the journal was opened, and where it is kept; for people. */
  readonly damage: string | undefined;
  /** Why the last write failed; undefined while there is no reason to doubt the next one. */
  readonly trouble: string | undefined;
  /** Waits for what was appended, then lets go of the directory. */
  close(): Promise<void>;
}
