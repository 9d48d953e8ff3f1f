export {
  type ApiServer,
  type ApiServerOptions,
  type AuditedCall,
  createMachinery,
  type MachineryOptions,
  machineryClient,
  startApiServer,
} from './apiserver/index.ts';
export {
  createEmbeddedCluster,
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  type EmbeddedNode,
} from './cluster.ts';
export type { Controls } from './controllers/index.ts';
export type { Behaviour, Delays } from './kubelet/index.ts';
export type { Change, Machinery, StoredObject } from './types.ts';
