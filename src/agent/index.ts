export { type Agent, type AgentOptions, createAgent } from './agent.ts';
export { type ClockSkew, createClockSkew } from './clock-skew.ts';
export type { AgentFlags } from './options.ts';
export { type AgentHost, runAgentProcess } from './run.ts';
