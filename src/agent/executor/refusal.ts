import { type StorageError, saveFailureOf } from '../decisions/index.ts';
import type { RefusalCode, TextResponse } from '../types.ts';

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

export const notComputableText = (problem: string): string =>
  `The agent can not compute the state of this update, so nothing is done: ${problem}`;

/** What cannot be computed is not acted on; nothing was sent. It may succeed the next time. */
export const notComputable = (problem: string): Refusal => refuse('NotComputable', 503, notComputableText(problem));

/** Without a decision on disk, nothing is done. */
export const notDurable = (cause: StorageError): Refusal => {
  const { status, text } = saveFailureOf(cause);
  return refuse('NotDurable', status, text);
};

export const responseTo = ({ status, text }: Refusal): TextResponse => ({ status, text });
