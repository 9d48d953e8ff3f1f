export { createInProcessClient } from './client.ts';
export type { AuditEvent } from './http/audit.ts';
export { type HttpsServer, type HttpsServerOptions, startHttpsServer } from './http/https-server.ts';
export { createRequestHandler, type PlainRequest, type PlainResponse } from './http/in-process.ts';
export { descriptionTable } from './schema/descriptions.ts';
export { type ApiServerOptions, createApiServer } from './server.ts';
