export { NotOptedInError, nativeKind, restoreTemplate } from './native-kind.ts';
