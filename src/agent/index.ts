export { createAgent } from './agent.ts';
export type { AgentFlags } from './options.ts';
export { clientLimits, runAgentProcess } from './run.ts';
export { prepareDirectory } from './storage/index.ts';
