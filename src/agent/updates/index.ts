export {
  type Announced,
  announcedOf,
  daemonSetOf,
  imageBlockOf,
  imagesOf,
  isAdvanced,
  isOffered,
  isTerminating,
  type Owner,
  revisionOf,
} from './announced.ts';
export { type Episode, type Known, refKey, type Terms } from './known.ts';
export { createKnownUpdates, type Here, type KnownUpdates } from './known-updates.ts';
export { daemonSetsAt, termsOf } from './terms-watch.ts';
