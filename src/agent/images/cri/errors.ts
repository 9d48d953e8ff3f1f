/** Names of gRPC's status codes, by their number. */
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

/** What the runtime answered, or that nobody answers at its socket. */
export type CriErrorCode =
  | Exclude<(typeof grpcCodes)[number], 'OK'>
  | 'SocketMissing'
  | 'SocketForbidden'
  | 'SocketUnserved';

/** A call to the container runtime that failed. */
export class CriError extends Error {
  readonly code: CriErrorCode;

  constructor(code: CriErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CriError';
    this.code = code;
  }
}

/** Undefined for status 0, which is success. */
export const grpcCode = (status: string): Exclude<CriErrorCode, `Socket${string}`> | undefined => {
  const code = grpcCodes[/^\d+$/.test(status) ? Number(status) : 2] ?? 'Unknown';
  return code === 'OK' ? undefined : code;
};

/** Errors of a connection that could not be made, with what the device's administrator can do. */
export const connectError = (socketPath: string, error: unknown): CriError => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const flag = `--cri-socket ${socketPath}`;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new CriError(
        'SocketMissing',
        `${flag}: there is no such socket; name the container runtime's own, such as /run/containerd/containerd.sock or ` +
          `/var/run/crio/crio.sock, and mount it when the agent runs as a pod`,
        error,
      );
    case 'EACCES':
    case 'EPERM':
      return new CriError(
        'SocketForbidden',
        `${flag}: the agent may not open it; run the agent as the socket's owner (root) or leave the flag away`,
        error,
      );
    case 'ECONNREFUSED':
    case 'ENOTSOCK':
    case 'EPROTOTYPE':
      return new CriError(
        'SocketUnserved',
        `${flag}: nobody answers there; is the container runtime running, and is this its CRI socket?`,
        error,
      );
    default:
      return new CriError('Unavailable', `${flag}: the connection to the container runtime was lost`, error);
  }
};
