export { isPreparing, LIFECYCLE_STATE } from '../../rollout/index.ts';
export {
  beforeDelete,
  cancelDelete,
  type DeleteStep,
  HOOK_FINALIZER,
  hasHandlers,
  holdersOf,
  LIFECYCLE_TIMESTAMP,
  type PreDeleteInput,
} from './pre-delete.ts';
