export { createHealth, type MetricsPage, startEndpoints } from './endpoints.ts';
export {
  type BindAddress,
  boolean,
  certificateFiles,
  createProcessLogger,
  formatAddress,
  hostHeader,
  type LogOptions,
  list,
  nonEmpty,
  number,
  objectName,
  oneOf,
  parseBindAddress,
  resolveLog,
} from './flags.ts';
export { ListenError, listenOn } from './http-server.ts';
export { createCounter, metricFamily, metricsPage } from './metrics.ts';
export { type ProgramHost, runUntilStopped } from './run-until-stopped.ts';
