export type { Connection } from './connections.ts';
export { createApi, type Handler } from './handler.ts';
export { defaultLimits } from './limits.ts';
export { checkListen, type ListenOptions } from './listen.ts';
export { createAgentServer } from './server.ts';
