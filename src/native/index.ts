export { nativeKind } from './native-kind.ts';
export { NotOptedInError, readRollout } from './read-rollout.ts';
