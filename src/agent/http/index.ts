export {
  type AgentServer,
  type AgentServerOptions,
  type AuthOptions,
  checkListen,
  createAgentServer,
  type ListenOptions,
} from './server.ts';
