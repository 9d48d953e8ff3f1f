import { errnoOf } from '../../errno.ts';

/** Names of the gRPC status codes, by number. */
const grpcCodes = [
  'OK',
  'Cancelled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

/** The runtime's error, or why its socket can't be used. */
export type CriErrorCode =
  | Exclude<(typeof grpcCodes)[number], 'OK'>
  | 'SocketMissing'
  | 'SocketForbidden'
  | 'SocketUnserved';

/** A failed call to the container runtime. */
export class CriError extends Error {
  readonly code: CriErrorCode;

  constructor(code: CriErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CriError';
    this.code = code;
  }
}

/** Undefined for status 0, success. */
export const grpcCode = (status: string): Exclude<CriErrorCode, `Socket${string}`> | undefined => {
  const code = grpcCodes[/^\d+$/.test(status) ? Number(status) : 2] ?? 'Unknown';
  return code === 'OK' ? undefined : code;
};

/** The error for a failed connection, with what the device's administrator can do. */
export const connectError = (socketPath: string, error: unknown): CriError => {
  const flag = `--cri-socket ${socketPath}`;
  switch (errnoOf(error) ?? '') {
    case 'ENOENT':
    case 'ENOTDIR':
      return new CriError(
        'SocketMissing',
        `${flag}: no such socket; give the container runtime's socket, such as /run/containerd/containerd.sock or ` +
          `/var/run/crio/crio.sock, and mount it when the agent runs as a pod`,
        error,
      );
    case 'EACCES':
    case 'EPERM':
      return new CriError(
        'SocketForbidden',
        `${flag}: permission denied; run the agent as the socket's owner (root) or leave the flag out`,
        error,
      );
    case 'ECONNREFUSED':
    case 'ENOTSOCK':
    case 'EPROTOTYPE':
      return new CriError(
        'SocketUnserved',
        `${flag}: nothing listens there; check that the container runtime is running and that this is its CRI socket`,
        error,
      );
    default:
      return new CriError('Unavailable', `${flag}: the connection to the container runtime was lost`, error);
  }
};
