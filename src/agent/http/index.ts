export { type ApiOptions, createApi } from './api.ts';
export type { Connection } from './connections.ts';
export type { Handler } from './handler.ts';
export { defaultLimits, type Limits } from './limits.ts';
export { type Site, tcpSite } from './origin.ts';
export {
  type AgentServer,
  type AgentServerOptions,
  type AuthOptions,
  checkListen,
  createAgentServer,
  type ListenOptions,
} from './server.ts';
