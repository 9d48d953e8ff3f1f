/** What a server sends back. Without a body there is no content type either. */
export interface HttpResponse {
  status: number;
  contentType?: string;
  body?: string | Buffer;
  headers?: Readonly<Record<string, string>>;
  /** For metrics and the log: why the request was refused before it reached its route. */
  refusal?: string;
  /** Close the connection after this response. */
  close?: boolean;
}

/** Keeps other pages from embedding, sniffing or caching a response. No header here ever allows another origin. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(value),
  headers,
});

export const plain = ({ status, text }: { status: number; text: string }): HttpResponse => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: text,
});

/** `reason` of a Kubernetes Status by HTTP code. Kubernetes has no reason for 421 and 507; those two are our own. */
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
  /** CamelCase: the rule that refused the request. */
  cause?: string;
  headers?: Record<string, string>;
  retryAfterSeconds?: number;
  close?: boolean;
}

/** An error as a Kubernetes `Status` object. */
export const failure = (code: number, message: string, extra: StatusDetails = {}): HttpResponse => {
  const { cause, retryAfterSeconds, close = false } = extra;
  const reason = reasons[code] ?? 'Unknown';
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
