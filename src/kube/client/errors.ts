/**
 * Why a call failed. The codes up to `Unknown` are refusals by the API server (`Status.reason` or, without one, the HTTP
 * status); `Transport` means that no complete response arrived, and `TooLarge` that it was not read to its end.
 */
export type KubeErrorCode =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'TooManyRequests'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'InternalError'
  | 'Unknown'
  | 'Transport'
  | 'Timeout'
  | 'TooLarge'
  | 'Malformed';

/**
 * Whether a write may have taken effect: `no` (the server refused it, or it was never sent) or `unknown` (the response
 * was lost, truncated or too late, or the server failed with a 5xx after it may have written).
 */
export type Happened = 'no' | 'unknown';

/** `Status.details` of a refusal. */
export interface RefusalDetails {
  /** Absent when the server refused the request before it read the object, as when it is forbidden. */
  readonly name?: string;
  readonly causes?: readonly { readonly message: string; readonly field?: string; readonly reason?: string }[];
}

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly happened: Happened;
  /** From the Retry-After header or `details.retryAfterSeconds`. */
  readonly retryAfterSeconds: number | undefined;
  /** Only of refusals. */
  readonly details: RefusalDetails | undefined;

  constructor(
    code: KubeErrorCode,
    message: string,
    extra: {
      status?: number;
      happened?: Happened;
      retryAfterSeconds?: number | undefined;
      details?: RefusalDetails | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = 'KubeError';
    this.code = code;
    this.status = extra.status ?? 0;
    this.happened = extra.happened ?? 'no';
    this.retryAfterSeconds = extra.retryAfterSeconds;
    this.details = extra.details;
  }
}

export const isKubeError = (error: unknown, ...codes: KubeErrorCode[]): error is KubeError =>
  error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));

/**
 * Whether an admission policy refused the write. A refusal by RBAC has no cause, and those of a schema, or of a namespace
 * that is being deleted, have a reason.
 */
export const isRefusedByPolicy = ({ code, details }: KubeError): boolean =>
  (code === 'Forbidden' || code === 'Invalid') && (details?.causes?.some(({ reason }) => !reason) ?? false);

/** What the server says, without the request, which the client puts before it for the log. */
export const serverText = (message: string): string => message.replace(/^[A-Z]+ \/\S*: /, '');

/** Resolves like a read of one object, but with undefined when the object does not exist. */
export const ifFound = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
};
