export { type Agent, type AgentOptions, createAgent } from './agent.ts';
export { type ClockSkew, createClockSkew } from './decisions/index.ts';
export type { AgentFlags } from './options.ts';
export { type AgentHost, runAgentProcess } from './run.ts';
