import type { Text } from '../text/index.ts';
import type { DeviceStatus, Update } from '../types.ts';

// The agent gives every reason as a code. What owners read comes from their language's texts, never from the agent's message.

/** What an approved update waits for. */
export type Wait = keyof Text['steps']['waits'];

/** Whatever else an owner can do nothing about: the agent tries again. */
const RETRIED = 'retry';

const WAITS: Readonly<Record<Update['reason'], Wait>> = {
  Disconnected: 'connection',
  OutsideWindow: 'window',
  NotSafe: 'safe',
  ImageNotReady: 'download',
  Paused: 'pause',
  Partition: 'turn',
  WaitingForManager: 'turn',
  NodeSelector: 'offer',
  NotOffered: 'offer',
  NotOta: 'offer',
  NoUpdate: 'offer',
  Superseded: 'offer',
  Halted: 'offer',
  NodeNotEligible: 'node',
  NoSafeCheck: 'decision',
  NoConsent: 'decision',
  NewRevision: 'decision',
  Postponed: 'decision',
  Rejected: 'decision',
  NotDue: 'start',
  Due: 'start',
  Acting: 'start',
  Busy: 'start',
  Unreadable: RETRIED,
  Unrestricted: RETRIED,
  NotFound: RETRIED,
  Deleting: RETRIED,
  OtherNode: RETRIED,
  NoOwner: RETRIED,
  OtherOwner: RETRIED,
  NotDurable: RETRIED,
  Unsettled: RETRIED,
  NotComputable: RETRIED,
  Refused: RETRIED,
  // Not of an update that waits.
  CrashLoop: 'start',
  ImageCannotBePulled: 'start',
  NotReadyInTime: 'start',
  NotReady: 'start',
  OutcomeUnknown: 'start',
  Preparing: 'start',
  Starting: 'start',
  Stopping: 'start',
  UpToDate: 'start',
  WaitingForPod: 'start',
};

const HELD: ReadonlySet<Wait> = new Set(['pause', 'turn', 'offer', 'node']);

const isInWindow = ({ decision }: Update): boolean => {
  const choice = decision?.decision;
  return choice?.choice === 'approve' && choice.when.type === 'window';
};

/** In the order in which they can block an update. */
export const waitOf = (update: Update, device: DeviceStatus): Wait => {
  if (!device.connected) return 'connection';
  const wait = WAITS[update.reason];
  if (HELD.has(wait)) return wait;
  if (update.image.state === 'pulling') return 'download';
  if (wait !== 'start') return wait;
  if (isInWindow(update)) return 'window';
  return device.safe.configured && device.safe.safe === false ? 'safe' : 'start';
};

/** What else to know about the current step; empty for most, because its label says it. */
export const noteOf = (update: Update, device: DeviceStatus, { steps, failures }: Text): string => {
  const { state, reason } = update;
  if (state === 'failed')
    return reason === 'CrashLoop' || reason === 'ImageCannotBePulled' || reason === 'NotReadyInTime'
      ? failures[reason]
      : '';
  if (reason === 'OutcomeUnknown') return steps.unsure;
  if (reason === 'Preparing') return steps.preparing;
  const wait = waitOf(update, device);
  if (state === 'queued' && wait === 'decision') return steps.decideAgain;
  if (wait === RETRIED) return steps.retried;
  return HELD.has(wait) ? steps.kept : '';
};

/** The text of a code, if the code is one of ours: histories may be older or newer than this page. */
export const textOf = <T extends object>(texts: T, code: string): T[keyof T] | undefined =>
  Object.hasOwn(texts, code) ? texts[code as keyof T] : undefined;
