// What the agent's own API sends, by its own words.

export type {
  AgentBackend,
  Choice,
  DecideResult,
  Decision,
  DeviceStatus,
  HistoryEntry,
  PodRef,
  TextResponse,
  Update,
  UpdateState,
  When,
} from '../../src/agent/types.ts';
