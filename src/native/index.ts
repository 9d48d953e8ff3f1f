export { nativeKind } from './native-kind.ts';
export { NotOptedInError, readRollout } from './read-rollout.ts';
export { restoreTemplate } from './restore-template.ts';
