/**
 * `NoSpace`: the disk or quota is full. `ReadOnly`: the file system is. `Denied`: permissions. `Io`: the disk fails.
 * `Locked`: another process uses the directory. `Unsafe`: others may write in it. `UnknownFormat`: written by a later
 * version. `TooLarge`: one record above the bound. `Closed`: after `close()`.
 */
export type JournalErrorCode =
  | 'NoSpace'
  | 'ReadOnly'
  | 'Denied'
  | 'Io'
  | 'Locked'
  | 'Unsafe'
  | 'UnknownFormat'
  | 'TooLarge'
  | 'Closed';

/** A record was not made durable, or the journal could not be opened. Nothing that was answered before is lost. */
export class JournalError extends Error {
  readonly code: JournalErrorCode;

  constructor(code: JournalErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JournalError';
    this.code = code;
  }
}

const byErrno: ReadonlyMap<string, readonly [JournalErrorCode, string]> = new Map([
  ['ENOSPC', ['NoSpace', 'the disk is full: free some space on it and try again']],
  ['EDQUOT', ['NoSpace', 'the disk quota is used up: free some space and try again']],
  ['EROFS', ['ReadOnly', 'the file system is read-only: mount it for writing and try again']],
  ['EACCES', ['Denied', 'permission denied: let the user of this process own the directory']],
  ['EEXIST', ['Denied', 'a file is where a directory should be: remove it, or name another directory']],
  ['ENOTDIR', ['Denied', 'a file is where a directory should be: remove it, or name another directory']],
  ['EPERM', ['Denied', 'not permitted: let the user of this process own the directory']],
]);

export const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A file system's error in the words of the journal; `doing` such as `cannot save to FILE`. */
export const asJournalError = (error: unknown, doing: string): JournalError => {
  if (error instanceof JournalError) return error;
  const errno = errnoOf(error);
  const [code, cure] = byErrno.get(errno) ?? [
    'Io',
    `the disk failed (${errno || String(error)}): see the log of the system, and replace it`,
  ];
  return new JournalError(code, `${doing}: ${cure}`, error);
};
