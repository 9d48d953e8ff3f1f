export { JournalError, type JournalErrorCode } from './errors.ts';
export { type JournalOptions, openJournal } from './journal.ts';
export type { Journal, JournalState } from './types.ts';
