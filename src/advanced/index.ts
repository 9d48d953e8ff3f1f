export { type AdvancedDaemonSet, type AdvancedDaemonSetSpec, advancedDaemonSetApi } from './api.ts';
export { advancedDaemonSetCrd } from './crd.ts';
export { createAdvancedKind } from './serve/index.ts';
