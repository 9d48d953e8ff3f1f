export { createInProcessClient } from './client.ts';
export type { AuditEvent } from './http/audit.ts';
export { type HttpsServer, type HttpsServerOptions, startHttpsServer } from './http/https-server.ts';
export { type ApiServerOptions, createApiServer } from './server.ts';
