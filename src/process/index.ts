export { type BindAddress, formatAddress, parseBindAddress, sameAddress } from './address.ts';
export { type EndpointOptions, type MetricsPage, startEndpoints } from './endpoints.ts';
export { type LogOptions, list, nonEmpty, objectName, oneOf, resolveLog } from './flags.ts';
export { createHealth, type Health, type ReadinessCheck } from './health.ts';
export { createProcessLogger } from './host-logger.ts';
export { type Answer, ListenError, type Routes, type RunningServer, startHttpServer, text } from './http-server.ts';
export { type HostProcess, runUntilStopped } from './run-until-stopped.ts';
