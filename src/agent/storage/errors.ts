import { errnoOf } from '../errno.ts';

/**
 * `NoSpace`: the disk or quota is full. `ReadOnly`: the file system is. `Denied`: permissions. `Io`: the disk fails.
 * `Locked`: another process uses the directory. `Unsafe`: other users can write to it. `UnknownFormat`: written by a later
 * version. `Closed`: after `close()`.
 */
export type StorageErrorCode =
  | 'NoSpace'
  | 'ReadOnly'
  | 'Denied'
  | 'Io'
  | 'Locked'
  | 'Unsafe'
  | 'UnknownFormat'
  | 'Closed';

/** A state could not be saved, or not be opened. What was acknowledged is not lost. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StorageError';
    this.code = code;
  }
}

const byErrno: ReadonlyMap<string, readonly [StorageErrorCode, string]> = new Map([
  ['ENOSPC', ['NoSpace', 'the disk is full: free some space on it and try again']],
  ['EDQUOT', ['NoSpace', 'the disk quota is used up: free some space and try again']],
  ['EROFS', ['ReadOnly', 'the file system is read-only: mount it for writing and try again']],
  ['EACCES', ['Denied', 'permission denied: make the user of this process the owner of the directory']],
  ['EEXIST', ['Denied', 'the path contains a file in place of a directory: remove it, or give another directory']],
  ['ENOTDIR', ['Denied', 'the path contains a file in place of a directory: remove it, or give another directory']],
  ['EPERM', ['Denied', 'not permitted: make the user of this process the owner of the directory']],
]);

/** Converts a file system error; `action` such as `cannot save to FILE`. */
export const asStorageError = (error: unknown, action: string): StorageError => {
  if (error instanceof StorageError) return error;
  const errno = errnoOf(error);
  const [code, remedy] = byErrno.get(errno ?? '') ?? [
    'Io',
    `the disk failed (${errno ?? String(error)}): check the system log, and replace the disk`,
  ];
  return new StorageError(code, `${action}: ${remedy}`, error);
};
