import { errnoOf } from '../errno.ts';

/**
 * `NoSpace`: the disk or quota is full. `ReadOnly`: the file system is. `Denied`: permissions. `Io`: the disk fails.
 * `Locked`: another process uses the directory. `Unsafe`: other users can write to it. `UnknownFormat`: written by a later
 * version. `TooLarge`: a record exceeds the size limit. `Closed`: after `close()`.
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

/** A record could not be made durable, or the journal could not be opened. No acknowledged record is lost. */
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
  ['EACCES', ['Denied', 'permission denied: make the user of this process the owner of the directory']],
  ['EEXIST', ['Denied', 'the path contains a file in place of a directory: remove it, or give another directory']],
  ['ENOTDIR', ['Denied', 'the path contains a file in place of a directory: remove it, or give another directory']],
  ['EPERM', ['Denied', 'not permitted: make the user of this process the owner of the directory']],
]);

/** Converts a file system error; `action` such as `cannot save to FILE`. */
export const asJournalError = (error: unknown, action: string): JournalError => {
  if (error instanceof JournalError) return error;
  const errno = errnoOf(error);
  const [code, cure] = byErrno.get(errno ?? '') ?? [
    'Io',
    `the disk failed (${errno ?? String(error)}): check the system log, and replace the disk`,
  ];
  return new JournalError(code, `${action}: ${cure}`, error);
};
