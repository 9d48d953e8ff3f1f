import type { TextResponse } from '../types.ts';

/** What is sent back. Without a body there is no content type either. */
export interface HttpResponse {
  status: number;
  contentType?: string;
  body?: string;
  headers?: Readonly<Record<string, string>>;
  /** Why, for metrics and the log, when the request was refused before it reached its route. */
  refusal?: string;
  /** The connection must not be used any more. */
  close?: boolean;
}

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(value),
  headers,
});

export const plain = ({ status, text }: TextResponse): HttpResponse => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: text,
});

/** `reason` of Kubernetes' Status by HTTP code; `MisdirectedRequest` and
 * `InsufficientStorage` are ours. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  421: 'MisdirectedRequest',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  507: 'InsufficientStorage',
};

export interface StatusDetails {
  /** Default: by the code. */
  reason?: string;
  /** CamelCase: which rule refused the request. */
  cause?: string;
  headers?: Record<string, string>;
  retryAfterSeconds?: number;
  close?: boolean;
}

/** A refusal as a Kubernetes `Status` object. */
export const failure = (code: number, message: string, extra: StatusDetails = {}): HttpResponse => {
  const { cause, retryAfterSeconds, reason = reasons[code] ?? 'Unknown', close = false } = extra;
  const details = {
    ...(cause === undefined ? {} : { causes: [{ reason: cause, message }] }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(Object.keys(details).length === 0 ? {} : { details }),
    code,
  };
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return { ...json(code, status, { ...extra.headers, ...retry }), refusal: cause ?? reason, close };
};
