export { machineryClient } from './client.ts';
export type { AuditedCall } from './http/audit.ts';
export { type ApiServer, type ApiServerOptions, startApiServer } from './http/server.ts';
export { createMachinery, type MachineryOptions } from './machinery.ts';
