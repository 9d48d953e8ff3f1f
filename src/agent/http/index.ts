export type { Connection } from './connections.ts';
export { type ApiOptions, createApi, type Handler } from './handler.ts';
export { defaultLimits, type Limits } from './limits.ts';
export { checkListen, type ListenOptions } from './listen.ts';
export { type AgentServer, type AgentServerOptions, type AuthOptions, createAgentServer } from './server.ts';
