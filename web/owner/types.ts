// What the agent's own API sends, by its own words.

export type {
  AgentBackend,
  Choice,
  DecideAnswer,
  Decision,
  DeviceStatus,
  HistoryEntry,
  PodRef,
  TextAnswer,
  Update,
  UpdateState,
  When,
} from '../../src/agent/types.ts';
