export { JournalError, type JournalErrorCode } from './errors.ts';
export type { JournalFile, JournalFiles } from './files.ts';
export { type Journal, type JournalOptions, type JournalState, openJournal } from './journal.ts';
export { prepareDirectory } from './prepare-directory.ts';
export { createStateFile, type StateFile, type StateFiles } from './state-file.ts';
