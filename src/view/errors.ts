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

/** The message of the innermost cause, such as `connect ECONNREFUSED`. */
const reasonOf = (error: Error): string => {
  let { message } = error;
  for (let at: unknown = error.cause; at instanceof Error; at = at.cause) if (at.message !== '') message = at.message;
  return message;
};

export const serverMessage = (error: unknown): string => serverText(errorText(error));

type Wording = (error: KubeError, config: Pick<ClusterConfig, 'server' | 'context'>) => CommandError;

const RIGHT_CLUSTER = 'that --kubeconfig and --context name the right cluster';

const wordings: Partial<Record<KubeErrorCode, Wording>> = {
  Transport: (error, { server }) =>
    new CommandError(
      'Unreachable',
      `cannot reach the API server ${server} (${reasonOf(error)}): check that it is running, and ${RIGHT_CLUSTER}`,
      error,
    ),
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
