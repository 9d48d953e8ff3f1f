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
  sameAddress,
} from './flags.ts';
export { type Answer, ListenError, type Routes, type RunningServer, startHttpServer, text } from './http-server.ts';
export { type HostProcess, runUntilStopped } from './run-until-stopped.ts';
