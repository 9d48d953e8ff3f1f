import { walkthrough } from './walkthrough.ts';

/** Every rule of the specification of native DaemonSets in automatic mode. */
export const nativeRules = [...walkthrough];
