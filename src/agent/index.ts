export { type Agent, type AgentOptions, createAgent } from './agent.ts';
export type { AgentFlags } from './options.ts';
export { type AgentHost, runAgentProcess } from './run.ts';
export { createServerTime, type ServerTime } from './server-time.ts';
