import { type JournalError, saveFailureOf } from '../decisions/index.ts';
import type { TextResponse } from '../types.ts';

/** Why an update is not begun, in the order in which it is found out. */
export type RefusalCode =
  | 'Disconnected'
  | 'Unreadable'
  | 'Busy'
  | 'NotFound'
  | 'Deleting'
  | 'OtherNode'
  | 'NoUpdate'
  | 'ImageNotReady'
  | 'NoOwner'
  | 'OtherOwner'
  | 'NotOta'
  | 'Halted'
  | 'Superseded'
  | 'NotDue'
  | 'NotSafe'
  | 'NoConsent'
  | 'NotDurable'
  | 'Unsettled'
  | 'Refused';

/** Nothing was changed. `text` is what the compatible routes answer. */
export interface Refusal {
  code: RefusalCode;
  status: Exclude<TextResponse['status'], 200 | 202>;
  text: string;
}

export const refuse = (code: RefusalCode, status: Refusal['status'], text: string): Refusal => ({ code, status, text });

/** OpenYurt's own sentence, which scripts match. */
export const disconnected = (): Refusal =>
  refuse('Disconnected', 503, 'OTA upgrade is not allowed when node is disconnected to cloud');

/** Nothing is done without a decision on the disk. */
export const notDurable = (cause: JournalError): Refusal => {
  const { status, text } = saveFailureOf(cause);
  return refuse('NotDurable', status, text);
};
