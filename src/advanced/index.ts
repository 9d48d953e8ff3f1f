export type { AdvancedView } from './advanced-view.ts';
export { type AdvancedDaemonSet, type AdvancedDaemonSetSpec, advancedDaemonSetApi } from './api.ts';
export { advancedDaemonSetCrd } from './crd.ts';
export { parseAdvancedPolicy, rollingField } from './policy.ts';
export { createAdvancedKind, putTemplate, readObstacle } from './serve/index.ts';
