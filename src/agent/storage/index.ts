export { JournalError, type JournalErrorCode } from './errors.ts';
export type { JournalFile, JournalFiles } from './files.ts';
export { type JournalOptions, openJournal } from './journal.ts';
export type { Journal, JournalState } from './types.ts';
