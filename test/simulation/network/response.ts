import type { HttpResponse } from '../../../src/kube/testing/index.ts';
import type { RefusalStatus } from './call.ts';
import type { ServerTrouble } from './server-faults.ts';

const REASONS: Record<RefusalStatus | 401, readonly [string, string]> = {
  401: ['Unauthorized', 'Unauthorized'],
  409: ['Conflict', 'injected: the object has been modified'],
  410: ['Expired', 'injected: too old resource version'],
  422: ['Invalid', 'injected: denied by an admission plugin'],
  429: ['TooManyRequests', 'injected: later'],
  500: ['InternalError', 'injected: etcd'],
  503: ['ServiceUnavailable', 'injected'],
};

const statusOf = (code: number, reason: string, message: string): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code });

export const statusText = (code: keyof typeof REASONS): string => statusOf(code, ...REASONS[code]);

async function* bytesOf(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  await Promise.resolve();
  if (text !== '') yield Buffer.from(text);
}

/** A response as a connection delivers it. `date`: the server's time. */
export const responseOf = (
  status: number,
  body: string | AsyncGenerator<Uint8Array, void, undefined>,
  date: number,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', date: new Date(date).toUTCString(), ...headers },
  body: typeof body === 'string' ? bytesOf(body) : body,
  cancel: () => undefined,
});

export const troubled = (refusal: NonNullable<ServerTrouble['refusal']>, date: number): HttpResponse => {
  const { status, reason, message, retryAfterSeconds } = refusal;
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return responseOf(status, statusOf(status, reason, message), date, headers);
};

export const refusalOf = (status: RefusalStatus | 401, date: number): HttpResponse =>
  responseOf(status, statusText(status), date, status === 429 ? { 'retry-after': '1' } : {});
