export type { ManagerFlags } from './options.ts';
export { type ManagerHost, runManagerProcess } from './run.ts';
