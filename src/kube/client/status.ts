import { type Happened, KubeError, type KubeErrorCode, type RefusalDetails } from './errors.ts';

const codeOfReason: Partial<Record<string, KubeErrorCode>> = {
  BadRequest: 'BadRequest',
  MethodNotAllowed: 'BadRequest',
  NotAcceptable: 'BadRequest',
  UnsupportedMediaType: 'BadRequest',
  RequestEntityTooLarge: 'BadRequest',
  Unauthorized: 'Unauthorized',
  Forbidden: 'Forbidden',
  NotFound: 'NotFound',
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Gone: 'Gone',
  Expired: 'Gone',
  Invalid: 'Invalid',
  TooManyRequests: 'TooManyRequests',
  ServerTimeout: 'ServerTimeout',
  Timeout: 'ServerTimeout',
  ServiceUnavailable: 'ServiceUnavailable',
  InternalError: 'InternalError',
};

const codeOfStatus: Partial<Record<number, KubeErrorCode>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'BadRequest',
  406: 'BadRequest',
  408: 'ServerTimeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'BadRequest',
  415: 'BadRequest',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  502: 'ServiceUnavailable',
  503: 'ServiceUnavailable',
  504: 'ServerTimeout',
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Seconds from a Retry-After header, which is a number of seconds or an HTTP date. */
export const parseRetryAfter = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000);
};

const isText = (value: unknown): value is string => typeof value === 'string';

const readDetails = ({ name, causes }: Record<string, unknown>): RefusalDetails => ({
  ...(isText(name) && name !== '' && { name }),
  causes: (Array.isArray(causes) ? (causes as unknown[]) : []).filter(isRecord).map(({ message, field, reason }) => ({
    message: isText(message) ? message : '',
    ...(isText(field) && { field }),
    ...(isText(reason) && { reason }),
  })),
});

/** The error of a `Status` object, or of the HTTP status alone when the body is not a `Status`. */
export const errorFromStatus = (
  body: unknown,
  answer: { status: number; write: boolean; retryAfterSeconds?: number | undefined; context: string },
): KubeError => {
  const status = isRecord(body) ? body : {};
  const details = isRecord(status.details) ? status.details : {};
  const httpStatus = typeof status.code === 'number' && status.code > 0 ? status.code : answer.status;
  const reason = typeof status.reason === 'string' ? status.reason : '';
  const code = codeOfReason[reason] ?? codeOfStatus[httpStatus] ?? 'Unknown';
  const message = typeof status.message === 'string' && status.message ? status.message : `HTTP ${httpStatus}`;
  // A 4xx is a refusal. After a 5xx or a 408 the server may have written before it failed.
  const refused = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408;
  const happened: Happened = answer.write && !refused ? 'unknown' : 'no';
  const retryAfterSeconds =
    answer.retryAfterSeconds ??
    (typeof details.retryAfterSeconds === 'number' && details.retryAfterSeconds > 0
      ? details.retryAfterSeconds
      : undefined);
  return new KubeError(code, `${answer.context}: ${message}`, {
    status: httpStatus,
    happened,
    retryAfterSeconds,
    ...(isRecord(status.details) && { details: readDetails(status.details) }),
  });
};
