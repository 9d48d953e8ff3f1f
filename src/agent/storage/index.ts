export { type DurableStateOptions, openDurableState } from './durable-state.ts';
export { StorageError, type StorageErrorCode } from './errors.ts';
export type { DurableFile, DurableFiles } from './files.ts';
export { prepareDirectory } from './prepare-directory.ts';
export { createStateFile, type StateFiles } from './state-file.ts';
