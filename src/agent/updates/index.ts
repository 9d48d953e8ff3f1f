export {
  type Announcement,
  announcementOf,
  daemonSetOf,
  imageBlockOf,
  isAdvanced,
  isOffered,
  isTerminating,
  revisionOf,
} from './announcement.ts';
export { refKey, type Terms } from './record.ts';
export { daemonSetsAt, termsOf } from './terms-watch.ts';
export { createUpdateTracker, type TrackedUpdate, type UpdateTracker } from './tracker.ts';
