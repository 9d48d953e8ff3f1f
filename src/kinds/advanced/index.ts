export { createAdvancedKind } from './advanced-kind.ts';
export type { AdvancedView } from './advanced-view.ts';
export { advancedDaemonSetCrd } from './api/crd.ts';
export { parseAdvancedPolicy, rollingField } from './api/policy.ts';
export { type AdvancedDaemonSet, type AdvancedDaemonSetSpec, advancedDaemonSetApi } from './api/types.ts';
export { readConflict } from './conflicting-controllers.ts';
export { restoreTemplate } from './revisions/restore-template.ts';
