export type { AuditRecord } from '../judge/audit/audit-record.ts';
export { checkUpdates, countWrites } from '../judge/audit/check-updates.ts';
export type {
  Agent,
  AgentOptions,
  Audit,
  Cluster,
  Manager,
  ManagerOptions,
  NodeBehaviour,
  NodeSpec,
  Pausable,
  Plugin,
  Ran,
} from './cluster.ts';
export { type Link, openLink } from './link.ts';
