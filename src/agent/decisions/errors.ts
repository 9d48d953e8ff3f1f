import type { JournalError } from '../storage/index.ts';

/** How both APIs answer that a decision could not be put on the disk. The sentence ends with the cure. */
export const saveFailureOf = ({ code, message }: JournalError): { status: 503 | 507; text: string } => ({
  status: code === 'NoSpace' ? 507 : 503,
  text: `The decision could not be kept on this device, and nothing was sent: ${message}`,
});

/**
 * `Acting`: another decision of the DaemonSet is being carried out. `Newer`: one was made since this one was asked for. `NotFound`: no decision with this id is open or acting.
 * `NotOpen`: it is not in the state that the call needs. `NotApproved`: it does not consent to this act.
 */
export type DecisionErrorCode = 'Acting' | 'Newer' | 'NotFound' | 'NotOpen' | 'NotApproved';

/** A call that the state of the decisions does not allow; nothing was changed. */
export class DecisionError extends Error {
  readonly code: DecisionErrorCode;

  constructor(code: DecisionErrorCode, message: string) {
    super(message);
    this.name = 'DecisionError';
    this.code = code;
  }
}
