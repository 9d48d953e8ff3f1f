export {
  createHealth,
  type EndpointOptions,
  type Health,
  type MetricsPage,
  type ReadinessCheck,
  startEndpoints,
} from './endpoints.ts';
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
export { type Answer, ListenError, type Routes, type RunningServer } from './http-server.ts';
export { type HostProcess, type ProgramHost, runUntilStopped } from './run-until-stopped.ts';
