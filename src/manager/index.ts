export { OptionError } from './option-error.ts';
export type { ManagerFlags } from './options.ts';
export { type ManagerHost, runManagerProcess } from './run.ts';
