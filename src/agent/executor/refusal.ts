import { type JournalError, saveFailureOf } from '../decisions/index.ts';
import type { TextResponse } from '../types.ts';

/** Why an update is not started, in the order of the checks. */
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

/** Nothing was changed. `text` is the response body of the YurtHub routes. */
export interface Refusal {
  code: RefusalCode;
  status: Exclude<TextResponse['status'], 200 | 202>;
  text: string;
}

export const refuse = (code: RefusalCode, status: Refusal['status'], text: string): Refusal => ({ code, status, text });

export const isRefusal = (value: object): value is Refusal => 'status' in value && 'text' in value;

/** OpenYurt's own sentence, which scripts match. */
export const disconnected = (): Refusal =>
  refuse('Disconnected', 503, 'OTA upgrade is not allowed when node is disconnected to cloud');

/** Without a decision on disk, nothing is done. */
export const notDurable = (cause: JournalError): Refusal => {
  const { status, text } = saveFailureOf(cause);
  return refuse('NotDurable', status, text);
};

export const responseTo = ({ status, text }: Refusal): TextResponse => ({ status, text });
