export {
  type ApiServerOptions,
  type AuditEvent,
  createApiServer,
  createInProcessClient,
  createRequestHandler,
  descriptionTable,
  type HttpsServer,
  type HttpsServerOptions,
  type PlainRequest,
  type PlainResponse,
  startHttpsServer,
} from './apiserver/index.ts';
export {
  createEmbeddedCluster,
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  type EmbeddedNode,
} from './cluster.ts';
export type { Controls } from './controllers/index.ts';
export type { Behaviour, Delays } from './kubelet/index.ts';
export type { ApiServer, Change, StoredObject } from './types.ts';
