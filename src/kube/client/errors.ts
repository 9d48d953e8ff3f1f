/**
 * What went wrong with a call, as a closed set. The first group are the API server's own refusals (`Status.reason` or,
 * without one, the HTTP code); `Transport` means that no complete answer came.
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
  | 'Malformed';

/**
 * Whether a write can have happened: `no` (the server refused it, or it was never sent) or `unknown` (the answer was
 * lost, timed out, was cut short, or the server failed with a 5xx after it may have written).
 */
export type Happened = 'no' | 'unknown';

/** What the server said a refusal is about. */
export interface RefusalDetails {
  /** Absent when it refused the request without reading the object, as for want of rights. */
  readonly name?: string;
  readonly causes?: readonly { readonly message: string; readonly field?: string; readonly reason?: string }[];
}

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly happened: Happened;
  /** From the Retry-After header or `details.retryAfterSeconds`. */
  readonly retryAfterSeconds: number | undefined;
  /** Of refusals. */
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

/** What a read of one object answers; undefined where there is none. Every other failure is one. */
export const ifFound = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
};
