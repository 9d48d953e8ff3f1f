export type { AgentFlags } from './options.ts';
export { type AgentHost, runAgentProcess } from './run.ts';
