export { NotOptedInError, nativeKind, readRollout, restoreTemplate } from './native-kind.ts';
