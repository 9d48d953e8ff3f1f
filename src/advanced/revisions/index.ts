export { type DefaultedTemplate, defaultedTemplate } from './defaulted-template.ts';
export {
  CHANGE_CAUSE,
  HASH_LABEL,
  type HistoryInput,
  type HistoryOwner,
  type HistoryPlan,
  type HistoryWrite,
  onNameTaken,
  planHistory,
  revisionData,
} from './history.ts';
export { adoptRevision, createRevision, writeRevision } from './write.ts';
