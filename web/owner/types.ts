// What the agent's own API sends, by its own words.

export type {
  Choice,
  Decision,
  DeviceStatus,
  HistoryEntry,
  Update,
  UpdateState,
  When,
} from '../../src/agent/types.ts';
