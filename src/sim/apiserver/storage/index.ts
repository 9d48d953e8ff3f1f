export { type ChangeType, type Commit, createStore, keyOf, type ObjectStore, type Snapshot } from './store.ts';
