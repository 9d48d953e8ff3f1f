export { createHealth, type MetricsPage, startEndpoints } from './endpoints.ts';
export {
  type BindAddress,
  createProcessLogger,
  formatAddress,
  type LogOptions,
  list,
  nonEmpty,
  objectName,
  oneOf,
  parseBindAddress,
  resolveLog,
} from './flags.ts';
export { ListenError } from './http-server.ts';
export { type ProgramHost, runUntilStopped } from './run-until-stopped.ts';
