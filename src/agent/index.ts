export { type Agent, type AgentOptions, createAgent } from './agent.ts';
export type { AgentFlags } from './options.ts';
export { type AgentHost, clientLimits, runAgentProcess } from './run.ts';
export { prepareDirectory } from './storage/index.ts';
