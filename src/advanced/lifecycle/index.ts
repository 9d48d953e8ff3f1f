export {
  beforeDelete,
  cancelDelete,
  type DeleteStep,
  holdersOf,
  isPreparing,
  LIFECYCLE_STATE,
  LIFECYCLE_TIMESTAMP,
  type PreDeleteInput,
} from './pre-delete.ts';
