export type { AuditRecord } from './audit-record.ts';
export type {
  Agent,
  AgentOptions,
  Audit,
  Behaviour,
  Cluster,
  Manager,
  ManagerOptions,
  NodeBehaviour,
  NodeSpec,
  Pausable,
} from './cluster.ts';
export { countWrites, type JudgeOptions, judge } from './judge.ts';
export { type Link, openLink } from './link.ts';
