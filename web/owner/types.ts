// The types of the agent's API.

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
  Weekday,
  When,
} from '../../src/agent/types.ts';
export { compareImages, type ImageChange } from '../../src/view/image-name.ts';
