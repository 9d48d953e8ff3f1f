export { isPreparing, LIFECYCLE_STATE } from '../../rollout/index.ts';
export {
  beforeDelete,
  cancelDelete,
  type DeleteStep,
  holdersOf,
  LIFECYCLE_TIMESTAMP,
  type PreDeleteInput,
} from './pre-delete.ts';
