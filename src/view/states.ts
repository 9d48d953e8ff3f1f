/** What a state asks of the reader: `bad` is stopped by an error, `wait` needs a person, `go` runs, `idle` waits by itself. */
export type Tone = 'bad' | 'wait' | 'go' | 'ok' | 'idle';

interface StateStyle {
  tone: Tone;
  /** As a badge says it. */
  word: string;
  /** A cell of text, for lists and titles. */
  glyph: string;
}

const styled = (tone: Tone, word: string, glyph: string): StateStyle => ({ tone, word, glyph });

/** Where a rollout stands, for people: what needs them most comes first. */
export const rolloutStates = {
  halted: styled('bad', 'Halted', '×'),
  error: styled('bad', 'Internal error', '!'),
  refused: styled('bad', 'Pods are refused', '×'),
  invalid: styled('wait', 'Invalid policy', '!'),
  frozen: styled('wait', 'Budget is zero', '!'),
  approval: styled('wait', 'Waits for approval', '?'),
  timedOut: styled('wait', 'Stage timed out', '!'),
  owners: styled('wait', 'Waits for owners', '?'),
  manual: styled('wait', 'On delete', '?'),
  unserved: styled('wait', 'Waits for the manager', '?'),
  suspects: styled('wait', 'Waits for suspects', '…'),
  running: styled('go', 'Rolling out', '↑'),
  clock: styled('idle', 'Waits', '◷'),
  paused: styled('idle', 'Paused', '‖'),
  deleted: styled('idle', 'Being deleted', '–'),
  kept: styled('idle', 'Left on old revision', '‖'),
  complete: styled('ok', 'Complete', '✓'),
} as const satisfies Record<string, StateStyle>;

export type RolloutState = keyof typeof rolloutStates;

/** Most urgent first. */
export const byUrgency = Object.keys(rolloutStates) as readonly RolloutState[];

/** What the overview counts; each counts the rollouts in these states. */
export const stateGroups = {
  stopped: ['halted', 'error', 'refused'],
  person: ['invalid', 'frozen', 'approval', 'timedOut', 'owners', 'manual', 'unserved'],
  running: ['running', 'suspects'],
  waiting: ['clock', 'paused', 'deleted', 'kept'],
  complete: ['complete'],
} as const satisfies Record<string, readonly RolloutState[]>;

export type StateGroup = keyof typeof stateGroups;
