import { type ClusterConfig, isKubeError, type KubeError, type KubeErrorCode, serverText } from '../kube/index.ts';
import { errorText } from '../runtime/index.ts';

/** Why a command failed. */
export type CommandErrorCode =
  | 'Unreachable'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'NotInstalled'
  | 'BeingDeleted'
  | 'TimedOut'
  | 'Refused'
  | 'NoSuchRevision'
  | 'NothingToUndo'
  | 'NoSuchStage'
  | 'NothingToApprove'
  | 'ChoiceNeeded'
  | 'Changed'
  | 'ContextsFailed';

/** A failed command. The message is one sentence that says what failed and what to do about it. */
export class CommandError extends Error {
  readonly code: CommandErrorCode;

  constructor(code: CommandErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CommandError';
    this.code = code;
  }
}

/** The innermost cause that says something, such as `connect ECONNREFUSED`. */
const innermost = (error: Error): Error => {
  let found = error;
  for (let at: unknown = error.cause; at instanceof Error; at = at.cause) if (at.message !== '') found = at;
  return found;
};

/** What Node calls a certificate of the server that it does not accept. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export const serverMessage = (error: unknown): string => serverText(errorText(error));

type Wording = (error: KubeError, config: Pick<ClusterConfig, 'server' | 'context'>) => CommandError;

const RIGHT_CLUSTER = 'that --kubeconfig and --context name the right cluster';

const wordings: Partial<Record<KubeErrorCode, Wording>> = {
  Transport: (error, { server }) => {
    const cause = innermost(error);
    const isUntrusted = 'code' in cause && UNTRUSTED.has(cause.code);
    // After it, Node names a flag of its own.
    const [reason] = cause.message.split('; ', 1);
    return new CommandError(
      'Unreachable',
      isUntrusted
        ? `the certificate of the API server ${server} is not trusted (${reason}): check its certificate-authority, and ${RIGHT_CLUSTER}`
        : `cannot reach the API server ${server} (${reason}): check that it is running, and ${RIGHT_CLUSTER}`,
      error,
    );
  },
  Timeout: (error, { server }) =>
    new CommandError(
      'Unreachable',
      `the API server ${server} is not responding: check that it is not overloaded, and ${RIGHT_CLUSTER}`,
      error,
    ),
  Unauthorized: (error, { context }) => {
    const of = context === undefined ? '' : ` of context ${context}`;
    const reason = error.cause instanceof Error ? error.cause.message : serverMessage(error);
    return new CommandError(
      'Unauthorized',
      `the API server rejected the credentials${of} (${reason}): log in again, or use another --context`,
      error,
    );
  },
  Forbidden: (error) =>
    new CommandError(
      'Forbidden',
      `${serverMessage(error)}: ask your cluster administrator for this permission, or use another --context`,
      error,
    ),
};

/** Translates errors of the client for the user. Other errors are returned unchanged. */
export const toCommandError = (error: unknown, config: Pick<ClusterConfig, 'server' | 'context'>): unknown => {
  if (!isKubeError(error)) return error;
  const wording = wordings[error.code];
  return wording
    ? wording(error, config)
    : new CommandError('Refused', `the API server rejected the request: ${serverMessage(error)}`, error);
};
