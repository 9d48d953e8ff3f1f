/**
 * `Acting`: another decision of the DaemonSet is being carried out. `NotFound`: no decision with this id is open or acting.
 * `NotOpen`: it is not in the state that the call needs. `NotApproved`: it does not consent to this act.
 */
export type DecisionErrorCode = 'Acting' | 'NotFound' | 'NotOpen' | 'NotApproved';

/** A call that the state of the decisions does not allow; nothing was changed. */
export class DecisionError extends Error {
  readonly code: DecisionErrorCode;

  constructor(code: DecisionErrorCode, message: string) {
    super(message);
    this.name = 'DecisionError';
    this.code = code;
  }
}
