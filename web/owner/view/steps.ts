import type { Text } from '../text/index.ts';
import type { DeviceStatus, Update } from '../types.ts';
import { noteOf, waitOf } from './reasons.ts';

export type StepState = 'done' | 'current' | 'ahead' | 'failed';

export interface Step {
  label: string;
  state: StepState;
  /** The text of the current step. */
  note: string;
}

/** How long the steps of a finished update stay visible. */
const LINGER_MS = 10 * 60_000;

type Position = 'waiting' | 'stopping' | 'starting' | 'running' | 'failed';

/** By the agent's reason. */
const POSITIONS: Readonly<Partial<Record<Update['reason'], Position>>> = {
  WaitingForManager: 'waiting',
  // Approved, but the manager has to wait.
  Paused: 'waiting',
  Partition: 'waiting',
  NodeSelector: 'waiting',
  NodeNotEligible: 'waiting',
  NotOffered: 'waiting',
  Preparing: 'stopping',
  OutcomeUnknown: 'stopping',
  Stopping: 'stopping',
  WaitingForPod: 'starting',
  Starting: 'starting',
};

/** The steps of an update from the decision to the running pod; undefined without an update in progress. */
const positionOf = (update: Update, sinceDoneMs: number): Position | undefined => {
  switch (update.state) {
    case 'queued':
      return 'waiting';
    case 'updating':
      return POSITIONS[update.reason] ?? (update.pod === null ? 'starting' : 'stopping');
    case 'failed':
      return 'failed';
    case 'current':
      return sinceDoneMs < LINGER_MS ? 'running' : undefined;
    case 'available':
    case 'postponed':
    case 'rejected':
    case 'halted':
    case 'unknown':
      return undefined;
  }
};

const ORDER = ['waiting', 'stopping', 'starting', 'running'] as const;

/** `sinceDoneMs`: time since the last update of this app finished. */
export const stepsOf = (update: Update, device: DeviceStatus, sinceDoneMs: number, text: Text): Step[] => {
  const position = positionOf(update, sinceDoneMs);
  if (position === undefined) return [];
  const at = position === 'failed' ? ORDER.indexOf('running') : ORDER.indexOf(position);
  const words = {
    waiting: [text.steps.waits[waitOf(update, device)], text.steps.waited],
    stopping: [text.steps.stopping, text.steps.stopped],
    starting: [text.steps.starting, text.steps.started],
    running: [text.steps.running, text.steps.running],
  } as const;
  const stateOf = (index: number): StepState => {
    if (index < at || position === 'running') return 'done';
    if (index > at) return 'ahead';
    return position === 'failed' ? 'failed' : 'current';
  };
  const steps = ORDER.map((name, index): Step => {
    const state = stateOf(index);
    const ahead = name === 'waiting' ? words.waiting[0] : words[name][0];
    return {
      label: state === 'failed' ? text.steps.broken : state === 'done' ? words[name][1] : ahead,
      state,
      note: state === 'current' || state === 'failed' ? noteOf(update, device, text) : '',
    };
  });
  const decided: Step = { label: text.steps.decided, state: 'done', note: '' };
  return update.decision === null && position !== 'running' ? steps : [decided, ...steps];
};
