export { nativeKind } from './native-kind.ts';
export { putTemplate } from './put-template.ts';
export { NotOptedInError, readRollout } from './read-rollout.ts';
